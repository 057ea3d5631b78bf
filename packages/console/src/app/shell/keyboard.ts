/** Keys: single ones while no field has focus, and combinations everywhere. */
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { readSetting, writeSetting } from '../parts/format.ts'

export interface KeyBinding {
  /** As in `KeyboardEvent.key`, with modifiers: `j`, `Shift+J`, `Mod+s`, `Alt+[`, `g e`. */
  keys: string
  /** For the list of keys: "Replay". */
  label: string
  run: (event: KeyboardEvent) => void
}

/** People may switch single keys off, because some voice and screen reader software types them. */
export const areSingleKeysOn = signal(readSetting('single-keys') !== '0')

export function setSingleKeys(on: boolean): void {
  areSingleKeysOn.value = on
  writeSetting('single-keys', on ? undefined : '0')
}

/** The newest bindings come first and win. */
export const bindings = signal<readonly KeyBinding[]>([])

/**
 * Binds keys while the component is mounted. `dependencies` are those of an effect; a key always runs what
 * the last render bound to it. Keys are bound before the page is painted, so that early keystrokes are not lost.
 */
export function useKeys(list: readonly KeyBinding[], dependencies: readonly unknown[] = []): void {
  const latest = useRef(list)
  latest.current = list
  useLayoutEffect(() => {
    const bound = list.map((binding) => ({
      ...binding,
      run: (event: KeyboardEvent) =>
        (latest.current.find(({ keys }) => keys === binding.keys) ?? binding).run(event),
    }))
    bindings.value = [...bound, ...bindings.peek()]
    return () => {
      bindings.value = bindings.peek().filter((binding) => !bound.includes(binding))
    }
  }, dependencies)
}

/** `⌘` on a Mac, `Ctrl` elsewhere. */
export const MOD_LABEL = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'

const SEQUENCE_MS = 1_000
let prefix: { key: string; at: number } | undefined

export function startKeyboard(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return
    const pressed = nameOf(event)
    const isCombination = event.metaKey || event.ctrlKey || event.altKey
    const inDialog = document.querySelector('dialog[open]') !== null
    if (!isCombination) {
      if (pressed === 'Escape' ? inDialog : !areSingleKeysOn.value || inDialog) return
      if (isTyping(event.target) && pressed !== 'Escape') return
    }
    const sequence =
      prefix && event.timeStamp - prefix.at < SEQUENCE_MS ? `${prefix.key} ${pressed}` : undefined
    prefix = undefined
    const found = find(sequence) ?? find(pressed)
    if (found) {
      event.preventDefault()
      found.run(event)
    } else if (bindings.value.some(({ keys }) => keys.startsWith(`${pressed} `))) {
      prefix = { key: pressed, at: event.timeStamp }
    }
  })
}

function find(keys: string | undefined): KeyBinding | undefined {
  return keys === undefined ? undefined : bindings.value.find((binding) => binding.keys === keys)
}

function nameOf(event: KeyboardEvent): string {
  const modifiers = [
    (event.metaKey || event.ctrlKey) && 'Mod',
    event.altKey && 'Alt',
    event.shiftKey && event.key.length === 1 && /[A-Z]/.test(event.key) && 'Shift',
  ]
  // With Alt, some layouts produce another character.
  const key =
    event.altKey && event.code.startsWith('Bracket')
      ? ({ BracketLeft: '[', BracketRight: ']' }[event.code] ?? event.key)
      : event.key
  return [...modifiers.filter(Boolean), key].join('+')
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.matches('input:not([type=checkbox], [type=radio]), textarea, select') ||
    target.isContentEditable
  )
}

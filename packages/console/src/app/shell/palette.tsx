/** The palette: pages, commands for what is open, and any pasted id. */
import { signal, useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon, type IconName } from '../parts/icon.tsx'
import { pageOfId, reachablePages } from '../pages.ts'
import { navigate } from '../router.ts'
import { bindings, useKeys } from './keyboard.ts'

export const isPaletteOpen = signal(false)

interface Item {
  label: string
  hint: string
  icon: IconName
  run: () => void
}

function itemsFor(typed: string): Item[] {
  const byId = pageOfId(typed.trim())
  const commands = bindings.value
    .filter(({ keys }) => !keys.startsWith('g ') && !HIDDEN.has(keys))
    .map(({ label, keys, run }) => ({
      label,
      hint: keys,
      icon: 'right' as const,
      run: () => run(new KeyboardEvent('keydown')),
    }))
  const pages = reachablePages().map(({ title, path, icon = 'audit', group }) => ({
    label: title,
    hint: group,
    icon,
    run: () => navigate(path),
  }))
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = [...pages, ...commands].filter(({ label, hint }) =>
    words.every((word) => `${label} ${hint}`.toLowerCase().includes(word)),
  )
  return byId === undefined
    ? matching
    : [
        { label: `Open ${typed.trim()}`, hint: '', icon: 'arrow-right', run: () => navigate(byId) },
        ...matching,
      ]
}

/** Keys that move through a list are no commands. */
const HIDDEN = new Set(['j', 'k', 'ArrowDown', 'ArrowUp', 'Enter', 'Escape', 'Mod+k', '/', '?'])

export function Palette() {
  useKeys([{ keys: 'Mod+k', label: 'Search or go to', run: () => (isPaletteOpen.value = true) }])
  return isPaletteOpen.value ? <OpenPalette /> : null
}

function OpenPalette() {
  const ref = useRef<HTMLDialogElement>(null)
  const typed = useSignal('')
  const chosen = useSignal(0)
  const items = itemsFor(typed.value)
  const index = Math.min(chosen.value, items.length - 1)
  const close = () => (isPaletteOpen.value = false)
  // Opened before the next keystroke can arrive, so that fast typing is not lost.
  useLayoutEffect(() => {
    const opener = document.activeElement
    ref.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  const run = (item: Item | undefined) => {
    if (!item) return
    close()
    item.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      chosen.value = (index + step + items.length) % Math.max(1, items.length)
      document.getElementById(`palette-${chosen.value}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(items[index])
    }
  }
  return (
    <dialog
      class="dialog palette"
      ref={ref}
      aria-label="Search or go to"
      onClose={close}
      onKeyDown={onKeyDown}
      onClick={(event) => event.target === ref.current && close()}
    >
      <div class="palette-field">
        <Icon name="search" />
        <input
          aria-label="Search or go to"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={items.length > 0 ? `palette-${index}` : undefined}
          placeholder="A page, a command, or an id"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
            chosen.value = 0
          }}
        />
      </div>
      <ul class="palette-list" id="palette-list" role="listbox" aria-label="Results">
        {items.map((item, at) => (
          <li
            class="palette-item"
            id={`palette-${at}`}
            role="option"
            aria-selected={at === index}
            key={`${item.hint} ${item.label}`}
            onClick={() => run(item)}
          >
            <Icon name={item.icon} />
            <span>{item.label}</span>
            <span class="push faint small">{item.hint}</span>
          </li>
        ))}
      </ul>
      {items.length === 0 && <p class="palette-foot">Nothing found</p>}
    </dialog>
  )
}

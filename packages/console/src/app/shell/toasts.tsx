/** Short messages that disappear by themselves; with "Undo" where an action can be taken back. */
import { signal } from '@preact/signals'
import { Icon } from '../parts/icon.tsx'
import { type Tone, ToneIcon } from '../parts/status.tsx'

export interface Toast {
  text: string
  tone?: Extract<Tone, 'ok' | 'warn' | 'bad'>
  /** Such as "Undo". */
  action?: { label: string; run: () => void }
}

const SHOWN_MS = 8_000
const MAX_TOASTS = 3

const toasts = signal<readonly (Toast & { id: number })[]>([])
let nextId = 1

export function showToast(toast: Toast): void {
  const id = nextId++
  toasts.value = [...toasts.value, { ...toast, id }].slice(-MAX_TOASTS)
  setTimeout(() => dismiss(id), SHOWN_MS)
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

const SHAPES = { ok: 'check', warn: 'triangle', bad: 'cross' } as const

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone = 'ok', action }) => (
        <div class="toast" key={id}>
          <ToneIcon shape={SHAPES[tone]} tone={tone} />
          <span class="toast-text">{text}</span>
          {action && (
            <button
              class="button button-small"
              type="button"
              onClick={() => {
                dismiss(id)
                action.run()
              }}
            >
              {action.label}
            </button>
          )}
          <button
            class="button button-icon button-quiet button-small"
            type="button"
            aria-label="Dismiss"
            onClick={() => dismiss(id)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}

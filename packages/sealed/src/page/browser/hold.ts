/**
 * Press and hold, the gesture that opens a secret. Link scanners follow links and may click buttons,
 * but do not hold them.
 */

export const HOLD_MS = 800

export interface HoldEvents {
  /** Returns whether the hold may start. */
  onStart(): boolean
  /** Released too early. */
  onStop(): void
  onDone(): void
}

/** Holding works with a pointer, Enter and Space; in the fields with Enter. */
export function makeHoldButton(
  button: HTMLButtonElement,
  fields: readonly HTMLElement[],
  events: HoldEvents,
) {
  let held: { by: HTMLElement; timer: ReturnType<typeof setTimeout> } | undefined

  function start(by: HTMLElement) {
    if (held || !events.onStart()) return
    const timer = setTimeout(() => {
      held = undefined
      events.onDone()
    }, HOLD_MS)
    held = { by, timer }
  }

  /** Ignores events of other elements: pressing the button takes the focus from a field. */
  function stop({ currentTarget }: Event) {
    if (held?.by !== currentTarget) return
    clearTimeout(held?.timer)
    held = undefined
    events.onStop()
  }

  button.addEventListener('pointerdown', (event) => {
    if (!event.isPrimary || event.button !== 0) return
    start(button)
    if (held) ignoreClickOfRelease()
  })
  // The field that shows an error keeps the focus.
  button.addEventListener('mousedown', (event) => {
    if (!held) event.preventDefault()
  })
  for (const ending of ['pointerup', 'pointerleave', 'pointercancel', 'blur'] as const) {
    button.addEventListener(ending, stop)
  }
  // A long press on a phone would open the context menu.
  button.addEventListener('contextmenu', (event) => event.preventDefault())
  // A click without a press comes from assistive technology, which hears about the alternative.
  button.addEventListener('click', (event) => {
    event.preventDefault()
    if (event.detail === 0) events.onStop()
  })
  holdKeys(button, ['Enter', ' '])
  for (const field of fields) holdKeys(field, ['Enter'])

  function holdKeys(target: HTMLElement, keys: readonly string[]) {
    target.addEventListener('keydown', (event) => {
      if (!keys.includes(event.key) || event.isComposing) return
      event.preventDefault()
      if (!event.repeat) start(target)
    })
    target.addEventListener('keyup', (event) => {
      if (!keys.includes(event.key)) return
      event.preventDefault()
      stop(event)
    })
    target.addEventListener('blur', stop)
  }
}

/**
 * The view may have changed under the finger during the hold, so the click of its release is ignored.
 * Clicks of assistive technology come without a press and are not ignored.
 */
function ignoreClickOfRelease() {
  const ignored = new AbortController()
  const options = { capture: true, signal: ignored.signal }
  const ignore = (event: MouseEvent) => {
    if (event.detail === 0) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  addEventListener('click', ignore, options)
  addEventListener('pointerdown', () => ignored.abort(), options)
}

/**
 * Press and hold: the gesture that opens a secret. Programs that follow links also press buttons;
 * none of them holds one down.
 */

export const HOLD_MS = 800

export interface HoldEvents {
  /** Whether it may begin. */
  onStart(): boolean
  /** Let go too early. */
  onStop(): void
  onDone(): void
}

/** Makes the button one to hold, by pointer, Enter and Space; in the fields Enter does the same. */
export function holdable(
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

  /** Only what is held can be let go: a press on the button takes the focus from a field. */
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
  // What says that something is missing has the focus, and keeps it.
  button.addEventListener('mousedown', (event) => {
    if (!held) event.preventDefault()
  })
  for (const ending of ['pointerup', 'pointerleave', 'pointercancel', 'blur'] as const) {
    button.addEventListener(ending, stop)
  }
  // A long press on a phone would open a menu.
  button.addEventListener('contextmenu', (event) => event.preventDefault())
  // A click without a press comes from assistive technology: it hears how else to open.
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
 * What stands under the finger when it is lifted may have come after it was put down: until it is put
 * down again there is no click. Those of assistive technology come without a finger, and count.
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

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
  let timer: ReturnType<typeof setTimeout> | undefined

  function start() {
    if (timer !== undefined || !events.onStart()) return
    timer = setTimeout(() => {
      timer = undefined
      events.onDone()
    }, HOLD_MS)
  }

  function stop() {
    if (timer === undefined) return
    clearTimeout(timer)
    timer = undefined
    events.onStop()
  }

  button.addEventListener('pointerdown', (event) => {
    if (event.isPrimary && event.button === 0) start()
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
      if (!event.repeat) start()
    })
    target.addEventListener('keyup', (event) => {
      if (!keys.includes(event.key)) return
      event.preventDefault()
      stop()
    })
    target.addEventListener('blur', stop)
  }
}

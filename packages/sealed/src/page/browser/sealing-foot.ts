/** The foot of the form: the button that seals, and while it does, how far it is. */
import { type NewLinks, type NewSecret, sealSecret } from '../../client/seal-secret.ts'
import { button, problemOf } from './controls.ts'
import { element } from './dom.ts'
import { failureText } from './failure.ts'
import { bind, say, text } from './language.ts'
import { showSealed } from './sealed-view.ts'
import { api, patienceWith } from './server.ts'
import { announce } from './stage.ts'
import { solveBeside } from './work.ts'

export function sealingFoot(options: {
  form: HTMLFormElement
  /** What to seal; undefined if the form is not complete. */
  order: () => Required<NewSecret> | undefined
  onBusy: (isBusy: boolean) => void
}): HTMLElement {
  const submit = say(
    element('button', { type: 'submit', class: 'button button-primary button-large' }),
    'create.submit',
  )
  const problem = problemOf(submit)
  const idle = element('div', { class: 'foot' }, problem.element, submit)

  const bar = bind(element('progress', { class: 'work', max: '1', value: '0' }), (progress) =>
    progress.setAttribute('aria-label', text('sealing.working')),
  )
  const state = element('p', { class: 'work-state' })
  const cancel = button('sealing.cancel', () => {
    stop?.abort()
    turn(false)
    announce(text('sealing.cancelled'))
  })
  const busy = element(
    'div',
    { class: 'foot foot-busy', hidden: true },
    element(
      'div',
      { class: 'work-words' },
      state,
      say(element('p', { class: 'hint' }), 'sealing.why'),
    ),
    cancel,
    bar,
  )
  let stop: AbortController | undefined

  function turn(isBusy: boolean) {
    options.onBusy(isBusy)
    idle.hidden = isBusy
    busy.hidden = !isBusy
    ;(isBusy ? cancel : submit).focus({ preventScroll: true })
  }

  async function run(order: Required<NewSecret>, signal: AbortSignal) {
    problem.clear()
    bar.removeAttribute('value')
    say(state, 'sealing.encrypting')
    turn(true)
    try {
      const made = await sealSecret(api, order, {
        signal,
        patience: patienceWith((what) => say(state, what)),
        solve: solveBeside(({ tries, expected }) => {
          say(state, 'sealing.working')
          // Luck decides how long it takes: the bar slows down, and never stands still.
          bar.value = 1 - Math.exp((-1.5 * tries) / expected)
        }),
      })
      if (signal.aborted) return unmake(made)
      showSealed({ ...made, maxViews: order.maxViews, receipt: order.receipt })
    } catch (error) {
      if (signal.aborted) return
      problem.set(failureText(error))
      turn(false)
    }
  }

  options.form.addEventListener('submit', (event) => {
    event.preventDefault()
    const order = busy.hidden ? options.order() : undefined
    if (!order) return
    stop = new AbortController()
    void run(order, stop.signal)
  })

  return element('div', { class: 'create-foot' }, idle, busy)
}

/** Cancelled while it was on its way to the server. Whoever has no link cannot open it anyway. */
function unmake({ management: { id, burnToken } }: NewLinks) {
  api.burn(id, burnToken).catch(() => {})
}

/** The submit button of a form, and the progress while its secret is sealed. */
import type { RetryOptions } from '../../../client/retry.ts'
import type { Solve } from '../../../client/solve-in-time.ts'
import { failureText, retryWithStatus } from '../api.ts'
import { button, fieldError } from '../controls.ts'
import { element } from '../dom.ts'
import { onLanguageChange, setText, text, type TextKey } from '../language.ts'
import { announce } from '../layout.ts'
import { solveInWorker } from '../solve-in-worker.ts'

/** How the client works on behalf of the form. */
export interface SubmitWork {
  signal: AbortSignal
  retry: RetryOptions
  solve: Solve
  /** Tells that it may be stored from now on, also if it is cancelled. */
  onSend: () => void
}

export function submitBar<T>(options: {
  form: HTMLFormElement
  label: TextKey
  /** Undefined if the form is not complete. */
  values: () => T | undefined
  onBusy: (isBusy: boolean) => void
  /** Shows the next view. What it throws is shown here. */
  onSubmit: (values: T, work: SubmitWork) => Promise<void>
}): HTMLElement {
  const submit = setText(
    element('button', { type: 'submit', class: 'button button-primary button-large' }),
    options.label,
  )
  const problem = fieldError(submit)
  const idle = element('div', { class: 'foot' }, problem.element, submit)

  const bar = onLanguageChange(
    element('progress', { class: 'work', max: '1', value: '0' }),
    (progress) => progress.setAttribute('aria-label', text('sealing.working')),
  )
  const state = element('p', { class: 'work-state' })
  const cancel = button('sealing.cancel', () => {
    controller?.abort()
    setBusy(false)
    if (isSent) problem.set('sealing.cancelledLate')
    else announce(text('sealing.cancelled'))
  })
  const busy = element(
    'div',
    { class: 'foot foot-busy', hidden: true },
    element(
      'div',
      { class: 'work-words' },
      state,
      setText(element('p', { class: 'hint' }), 'sealing.why'),
    ),
    cancel,
    bar,
  )
  let controller: AbortController | undefined
  let isSent = false

  function setBusy(isBusy: boolean) {
    options.onBusy(isBusy)
    idle.hidden = isBusy
    busy.hidden = !isBusy
    ;(isBusy ? cancel : submit).focus({ preventScroll: true })
  }

  async function run(values: T, signal: AbortSignal) {
    problem.clear()
    isSent = false
    bar.removeAttribute('value')
    setText(state, 'sealing.encrypting')
    setBusy(true)
    try {
      await options.onSubmit(values, {
        signal,
        onSend: () => {
          isSent = true
        },
        retry: retryWithStatus((status) => setText(state, status)),
        solve: solveInWorker(({ tries, expected }) => {
          setText(state, 'sealing.working')
          // The duration is random, so the bar slows down but never stops.
          bar.value = 1 - Math.exp((-1.5 * tries) / expected)
        }),
      })
    } catch (error) {
      if (signal.aborted) return
      problem.set(failureText(error))
      setBusy(false)
    }
  }

  options.form.addEventListener('submit', (event) => {
    event.preventDefault()
    const values = busy.hidden ? options.values() : undefined
    if (!values) return
    controller = new AbortController()
    void run(values, controller.signal)
  })

  return element('div', { class: 'create-foot' }, idle, busy)
}

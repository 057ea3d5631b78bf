/** The submit button of the form, and the progress while the secret is sealed. */
import { type NewLinks, type NewSecret, sealSecret } from '../../../client/seal-secret.ts'
import { api, failureText, retryWithStatus } from '../api.ts'
import { button, fieldError } from '../controls.ts'
import { element } from '../dom.ts'
import { discardDraft } from '../draft.ts'
import { onLanguageChange, setText, text } from '../language.ts'
import { announce } from '../layout.ts'
import { solveInWorker } from '../solve-in-worker.ts'
import { showResult } from '../views/result.ts'

export function submitBar(options: {
  form: HTMLFormElement
  /** Undefined if the form is not complete. */
  values: () => Required<NewSecret> | undefined
  onBusy: (isBusy: boolean) => void
}): HTMLElement {
  const submit = setText(
    element('button', { type: 'submit', class: 'button button-primary button-large' }),
    'create.submit',
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
    announce(text('sealing.cancelled'))
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

  function setBusy(isBusy: boolean) {
    options.onBusy(isBusy)
    idle.hidden = isBusy
    busy.hidden = !isBusy
    ;(isBusy ? cancel : submit).focus({ preventScroll: true })
  }

  async function run(values: Required<NewSecret>, signal: AbortSignal) {
    problem.clear()
    bar.removeAttribute('value')
    setText(state, 'sealing.encrypting')
    setBusy(true)
    try {
      const created = await sealSecret(api, values, {
        signal,
        retry: retryWithStatus((status) => setText(state, status)),
        solve: solveInWorker(({ tries, expected }) => {
          setText(state, 'sealing.working')
          // The duration is random, so the bar slows down but never stops.
          bar.value = 1 - Math.exp((-1.5 * tries) / expected)
        }),
      })
      if (signal.aborted) return burnUnused(created)
      discardDraft()
      showResult({ ...created, maxViews: values.maxViews, receipt: values.receipt })
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

/** It was cancelled during the request. Without its link nobody can open it anyway. */
function burnUnused({ management: { id, burnToken } }: NewLinks) {
  api.burn(id, burnToken).catch(() => {})
}

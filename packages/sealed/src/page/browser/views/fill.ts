/** Puts a secret into somebody's request. */
import {
  type FillContent,
  type FilledRequest,
  fillRequest,
  type SealedFill,
  sealFill,
} from '../../../client/fill-request.ts'
import { formatLink, formatTarget, type RequestTarget } from '../../../crypto/link.ts'
import { readRequestToken } from '../../../crypto/request-token.ts'
import { MAX_REQUEST_SECONDS, TOKEN_SECONDS } from '../../../limits.ts'
import { api, base } from '../api.ts'
import { button, toggle } from '../controls.ts'
import { copyField } from '../copy.ts'
import { element } from '../dom.ts'
import { draftNotice } from '../draft.ts'
import { seal } from '../drawings.ts'
import { burnButton } from '../fields/burn.ts'
import { expiryField } from '../fields/expiry.ts'
import { secretContentField } from '../fields/secret-content.ts'
import { submitBar } from '../fields/submit-bar.ts'
import { fingerprintField } from '../fingerprint.ts'
import { showFinished } from '../finished.ts'
import { formatTime, UNITS } from '../format.ts'
import { text } from '../language.ts'
import { showScreen } from '../layout.ts'
import { startOver, warnBeforeUnload } from '../navigation.ts'
import { requestsFrom, secretOptions } from '../options.ts'
import { clearLink, clearLinkOf } from '../stored-link.ts'
import { showMessage } from './message.ts'

const maxSeconds = secretOptions.maxTtlSeconds
/** What the server chooses too. */
const USUAL_SECONDS = Math.min(MAX_REQUEST_SECONDS, maxSeconds)

/** The form that was shown last, and its link. */
let lastForm: { element: HTMLElement; target: string } | undefined

/** Sends nothing until the button is pressed. */
export function showFill(request: RequestTarget) {
  const target = formatTarget(request)
  // The same link again must not empty the form.
  if (lastForm?.element.isConnected && lastForm.target === target) return
  const { expiresAt = 0, needsWork = true } = readRequestToken(request.token) ?? {}
  const secondsLeft = expiresAt - Date.now() / 1000
  if (secondsLeft <= 0) {
    clearLink()
    return showMessage({ title: 'fill.expiredTitle', text: 'fill.expired' })
  }
  // Without an API token a request needs work.
  if (requestsFrom === 'off' || (requestsFrom === 'api-token' && needsWork)) {
    clearLink()
    return showMessage({ title: 'unavailable.title', text: 'fill.off' })
  }
  const secret = secretContentField({ acceptsFiles: request.fragment.acceptsFiles })
  const expiry = expiryField(expiryRange(secondsLeft))
  const receipt = toggle({ label: 'create.receipt', hint: 'create.receiptHint' })
  const fields = element(
    'div',
    { class: 'create-fields' },
    secret.element,
    element(
      'div',
      { class: 'options' },
      expiry.element,
      receipt.element,
      element('div', {}, fingerprintField(request)),
    ),
  )
  const form = element('form', { class: 'create', novalidate: true, autocomplete: 'off' }, fields)
  const sealValues = sealOnce()
  lastForm = { element: form, target }
  form.append(
    submitBar({
      form,
      label: 'fill.submit',
      onBusy: (isBusy) => fields.toggleAttribute('inert', isBusy),
      values() {
        const content = secret.value()
        const ttlSeconds = content === undefined ? undefined : expiry.seconds()
        if (content === undefined || ttlSeconds === undefined) return undefined
        // The server knows better if the operator has lowered the maximum since the request was made.
        const chosen = ttlSeconds === USUAL_SECONDS ? {} : { ttlSeconds }
        return { request, content, ...chosen, receipt: receipt.isOn() }
      },
      // Shown also after a late cancellation: the request is used.
      async onSubmit(values, work) {
        const filled = await fillRequest(api, await sealValues(values), work)
        clearLinkOf(target)
        showFinished({
          title: 'filled.title',
          label: 'sealed.manage',
          show: () => showFilled(filled, values.receipt),
        })
      },
    }),
  )
  secret.input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  warnBeforeUnload(() => !secret.isEmpty())
  showScreen({
    name: 'create',
    title: 'fill.title',
    intro: 'fill.lede',
    content: form,
    ...draftNotice(),
  })
}

/**
 * Seals the same values only once: after a lost response, sending them again must not look like
 * somebody else's submission.
 */
function sealOnce() {
  let last: { values: FillContent; sealed: SealedFill } | undefined
  return async (values: FillContent): Promise<SealedFill> => {
    const isSame =
      last?.values.content === values.content &&
      last.values.ttlSeconds === values.ttlSeconds &&
      last.values.receipt === values.receipt
    if (last && isSame) return last.sealed
    const sealed = await sealFill(values)
    last = { values, sealed }
    return sealed
  }
}

/** The secret has to live a little longer than the request. */
function expiryRange(secondsLeft: number) {
  const minSeconds = secondsLeft + TOKEN_SECONDS
  const hoursLeft = Math.ceil(minSeconds / UNITS.hour) * UNITS.hour
  // No request lives longer, so this is enough even if the clock of this device is wrong.
  return {
    minSeconds: Math.min(hoursLeft, USUAL_SECONDS),
    chosenSeconds: USUAL_SECONDS,
    maxSeconds,
  }
}

function showFilled({ management, expiresAt }: FilledRequest, hasReceipt: boolean) {
  warnBeforeUnload(() => false)
  const content = element(
    'div',
    { class: 'sealed' },
    element(
      'div',
      { class: 'sealed-main' },
      copyField({
        label: 'sealed.manage',
        hint: hasReceipt ? 'sealed.manageReceiptHint' : 'sealed.manageHint',
        value: formatLink(base, management),
      }),
    ),
    element(
      'div',
      { class: 'foot foot-apart' },
      button('hidden.own', startOver),
      burnButton(management),
    ),
  )
  const until = new Date(expiresAt * 1000)
  showScreen({
    name: 'sealed',
    title: 'filled.title',
    intro: () => text('filled.lede', { time: formatTime(until) }),
    content,
    icon: seal(),
  })
}

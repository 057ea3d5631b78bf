/** Asks somebody else for a secret: the form, and its two links. */
import { createRequest, type NewRequest } from '../../../client/create-request.ts'
import { formatLink } from '../../../crypto/link.ts'
import { MAX_REQUEST_SECONDS, MIN_REQUEST_SECONDS } from '../../../limits.ts'
import { api, base } from '../api.ts'
import { button, radioGroup } from '../controls.ts'
import { copyField } from '../copy.ts'
import { element } from '../dom.ts'
import { qrCode, seal } from '../drawings.ts'
import { submitBar } from '../fields/submit-bar.ts'
import { fingerprintField } from '../fingerprint.ts'
import { showFinished } from '../finished.ts'
import { formatDuration, formatTime, UNITS } from '../format.ts'
import { setText, text } from '../language.ts'
import { showScreen } from '../layout.ts'
import { startOver, warnBeforeUnload } from '../navigation.ts'
import { secretOptions } from '../options.ts'
import { disclosure, shareButton } from './result.ts'

/** The operator's maximum expiry is that of a request too. */
const MAX_SECONDS = Math.min(MAX_REQUEST_SECONDS, secretOptions.maxTtlSeconds)
const LIFETIMES = [
  ...[UNITS.day, 3 * UNITS.day].filter((seconds) => seconds < MAX_SECONDS),
  MAX_SECONDS,
]

export function showRequest() {
  const lifetime = radioGroup({
    label: 'request.lifetime',
    values: LIFETIMES.map((seconds) => ({
      value: String(seconds),
      label: () => formatDuration(seconds),
    })),
    chosen: String(MAX_SECONDS),
  })
  const fields = element('div', { class: 'create-fields' }, lifetime.element)
  fields.classList.add('options')
  const form = element('form', { class: 'create', novalidate: true, autocomplete: 'off' }, fields)
  form.append(
    submitBar({
      form,
      label: 'request.submit',
      // The server shortens it to its maximum.
      values: () => ({ seconds: Math.max(Number(lifetime.value()), MIN_REQUEST_SECONDS) }),
      onBusy: (isBusy) => fields.toggleAttribute('inert', isBusy),
      async onSubmit(values, { signal, retry }) {
        const created = await createRequest(api, values, retry)
        // Nothing was stored, so there is nothing to undo.
        if (signal.aborted) return
        showFinished({
          title: 'requested.title',
          label: 'sealed.link',
          show: () => showRequested(created),
        })
      },
    }),
  )
  warnBeforeUnload(() => false)
  showScreen({
    name: 'request',
    title: 'request.title',
    intro: 'request.lede',
    content: form,
    aside: element('div', { class: 'aside' }, button('request.back', startOver)),
  })
}

function showRequested({ request, own, expiresAt }: NewRequest) {
  const link = formatLink(base, request)
  // Without the own link nobody can open what is put in.
  let isSaved = false
  warnBeforeUnload(() => !isSaved)
  const content = element(
    'div',
    { class: 'sealed' },
    element(
      'div',
      { class: 'sealed-main' },
      copyField({
        label: 'sealed.link',
        value: link,
        copy: { label: 'sealed.copy', class: 'button-primary' },
      }),
      ...shareButton(link, () => {}),
    ),
    element(
      'div',
      { class: 'sealed-main sealed-own' },
      copyField({
        label: 'requested.own',
        hint: 'requested.ownHint',
        value: formatLink(base, own),
        copy: { label: 'requested.ownCopy' },
        onCopied() {
          isSaved = true
        },
      }),
    ),
    element('div', { class: 'sealed-main sealed-own' }, fingerprintField(request)),
    disclosure('sealed.qr', () => [qrCode(link)]),
    element(
      'div',
      { class: 'foot foot-apart' },
      setText(element('p', { class: 'hint rest' }), 'requested.withdraw'),
      button('request.back', startOver),
    ),
  )
  const until = new Date(expiresAt * 1000)
  showScreen({
    name: 'sealed',
    title: 'requested.title',
    intro: () => text('requested.lede', { time: formatTime(until) }),
    content,
    icon: seal(),
  })
}

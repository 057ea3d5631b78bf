/** The form that creates a secret. */
import { type NewLinks, sealSecret } from '../../../client/seal-secret.ts'
import { api } from '../api.ts'
import { button, radioGroup, toggle } from '../controls.ts'
import { element } from '../dom.ts'
import { currentDraft, discardDraft, setDraft } from '../draft.ts'
import { glyph } from '../drawings.ts'
import { expiryField } from '../fields/expiry.ts'
import { passphraseField } from '../fields/passphrase.ts'
import { secretContentField } from '../fields/secret-content.ts'
import { submitBar } from '../fields/submit-bar.ts'
import { showFinished } from '../finished.ts'
import { setText, type TextKey } from '../language.ts'
import { showScreen } from '../layout.ts'
import { warnBeforeUnload } from '../navigation.ts'
import { requestsFrom, secretOptions } from '../options.ts'
import { showRequest } from './request.ts'
import { showResult } from './result.ts'

/** With the text or file that is not sealed yet, if there is one. */
export function showCreate() {
  const content = currentDraft() ?? createForm()
  warnBeforeUnload(() => false)
  showScreen({
    name: 'create',
    title: 'create.title',
    intro: 'create.lede',
    content,
    aside: element('div', { class: 'aside' }, promises(), ...requestOffer()),
  })
}

function createForm(): HTMLElement {
  const { defaultViews, maxViews } = secretOptions
  const secret = secretContentField({ acceptsFiles: true })
  const expiry = expiryField()
  const views = radioGroup({
    label: 'create.views',
    values: Array.from({ length: maxViews }, (_, at) => String(at + 1)).map((value) => ({
      value,
      label: () => value,
    })),
    chosen: String(defaultViews),
  })
  views.element.classList.add('choice-line')
  views.element.hidden = maxViews === 1
  const passphrase = passphraseField()
  const receipt = toggle({ label: 'create.receipt', hint: 'create.receiptHint' })
  const fields = element(
    'div',
    { class: 'create-fields' },
    secret.element,
    element(
      'div',
      { class: 'options' },
      expiry.element,
      views.element,
      element('div', { class: 'toggles' }, passphrase.toggle, receipt.element, passphrase.panel),
    ),
  )
  const form = element('form', { class: 'create', novalidate: true, autocomplete: 'off' }, fields)
  const foot = submitBar({
    form,
    label: 'create.submit',
    async onSubmit(values, work) {
      const created = await sealSecret(api, values, work)
      if (work.signal.aborted) return burnUnused(created)
      discardDraft()
      const result = { ...created, maxViews: values.maxViews, receipt: values.receipt }
      showFinished({
        title: 'sealed.title',
        label: 'sealed.link',
        show: () => showResult(result),
      })
    },
    // The text stays visible while it is sealed, but cannot be changed.
    onBusy: (isBusy) => fields.toggleAttribute('inert', isBusy),
    values() {
      const content = secret.value()
      const ttlSeconds = content === undefined ? undefined : expiry.seconds()
      const chosenPassphrase = ttlSeconds === undefined ? null : passphrase.value()
      if (content === undefined || ttlSeconds === undefined || chosenPassphrase === null)
        return undefined
      return {
        content,
        passphrase: chosenPassphrase,
        ttlSeconds,
        maxViews: Number(views.value()),
        receipt: receipt.isOn(),
      }
    },
  })
  form.append(foot)
  secret.input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  setDraft({ element: form, isEmpty: secret.isEmpty })
  return form
}

/** It was cancelled during the request. Without its link nobody can open it anyway. */
function burnUnused({ management: { id, burnToken } }: NewLinks) {
  api.burn(id, burnToken).catch(() => {})
}

/** Where the server lets everyone make requests. */
function requestOffer(): HTMLElement[] {
  return requestsFrom === 'anyone' ? [button('request.offer', showRequest)] : []
}

function promises(): HTMLElement {
  const item = (icon: Parameters<typeof glyph>[0], key: TextKey) =>
    element('li', {}, glyph(icon), setText(element('p'), key))
  return element(
    'ul',
    { class: 'promises' },
    item('key', 'create.promiseBlind'),
    item('envelope', 'create.promiseOnce'),
    item('flame', 'create.promiseGone'),
  )
}

/** The form that creates a secret. */
import { radioGroup, toggle } from '../controls.ts'
import { element } from '../dom.ts'
import { currentDraft, setDraft } from '../draft.ts'
import { glyph } from '../drawings.ts'
import { expiryField } from '../fields/expiry.ts'
import { passphraseField } from '../fields/passphrase.ts'
import { secretTextField } from '../fields/secret-text.ts'
import { submitBar } from '../fields/submit-bar.ts'
import { setText, type TextKey } from '../language.ts'
import { showScreen } from '../layout.ts'
import { warnBeforeUnload } from '../navigation.ts'
import { secretOptions } from '../options.ts'

/** With the text that is not sealed yet, if there is one. */
export function showCreate() {
  const content = currentDraft() ?? createForm()
  warnBeforeUnload(() => false)
  showScreen({
    name: 'create',
    title: 'create.title',
    intro: 'create.lede',
    content,
    aside: promises(),
  })
}

function createForm(): HTMLElement {
  const { defaultViews, maxViews } = secretOptions
  const secret = secretTextField()
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
    // The text stays visible while it is sealed, but cannot be changed.
    onBusy: (isBusy) => fields.toggleAttribute('inert', isBusy),
    values() {
      const text = secret.value()
      const ttlSeconds = text === undefined ? undefined : expiry.seconds()
      const chosenPassphrase = ttlSeconds === undefined ? null : passphrase.value()
      if (text === undefined || ttlSeconds === undefined || chosenPassphrase === null)
        return undefined
      return {
        text,
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
  setDraft({ element: form, isEmpty: () => secret.input.value === '' })
  return form
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

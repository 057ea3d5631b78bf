/** Where a secret is made. */
import { choice, toggle } from './controls.ts'
import { element } from './dom.ts'
import { sign } from './drawings.ts'
import { expiryChoice } from './expiry-choice.ts'
import { say, type TextKey } from './language.ts'
import { warnWhile } from './leaving.ts'
import { passphraseChoice } from './passphrase-choice.ts'
import { secretField } from './secret-field.ts'
import { sealingFoot } from './sealing-foot.ts'
import { show } from './stage.ts'

const MOST_VIEWS = 5

export function showCreate() {
  const secret = secretField()
  const expiry = expiryChoice()
  const views = choice({
    label: 'create.views',
    values: Array.from({ length: MOST_VIEWS }, (_, at) => String(at + 1)).map((value) => ({
      value,
      label: () => value,
    })),
    chosen: '1',
  })
  views.element.classList.add('choice-line')
  const passphrase = passphraseChoice()
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
  const foot = sealingFoot({
    form,
    // What is being sealed stays in sight and cannot be changed.
    onBusy: (isBusy) => fields.toggleAttribute('inert', isBusy),
    order() {
      const text = secret.value()
      const ttlSeconds = text === undefined ? undefined : expiry.seconds()
      const phrase = ttlSeconds === undefined ? null : passphrase.value()
      if (text === undefined || ttlSeconds === undefined || phrase === null) return undefined
      const maxViews = Number(views.value())
      return { text, passphrase: phrase, ttlSeconds, maxViews, receipt: receipt.isOn() }
    },
  })
  form.append(foot)
  secret.input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  warnWhile(() => secret.input.value !== '')
  show({
    name: 'create',
    title: 'create.title',
    lede: 'create.lede',
    plate: form,
    aside: promises(),
  })
}

function promises(): HTMLElement {
  const item = (what: Parameters<typeof sign>[0], words: TextKey) =>
    element('li', {}, sign(what), say(element('p'), words))
  return element(
    'ul',
    { class: 'promises' },
    item('key', 'create.promiseBlind'),
    item('envelope', 'create.promiseOnce'),
    item('flame', 'create.promiseGone'),
  )
}

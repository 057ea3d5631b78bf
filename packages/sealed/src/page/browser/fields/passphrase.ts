/** An optional passphrase. It is shown as it is typed, like the secret itself. */
import { randomBytes } from '../../../crypto/bytes.ts'
import { button, fieldError, toggle } from '../controls.ts'
import { element, newId } from '../dom.ts'
import { setText, text, type TextKey } from '../language.ts'

/** Without characters that look alike; 32 characters give five bits each. */
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789'
const MIN_RECOMMENDED_CHARS = 10

export interface PassphraseField {
  toggle: HTMLElement
  /** Shown while the toggle is on. */
  panel: HTMLElement
  /** Undefined if it is off; null if it is invalid, then the field shows why and has the focus. */
  value: () => string | undefined | null
}

export function passphraseField(): PassphraseField {
  const id = newId()
  const input = element('input', {
    id,
    class: 'input code',
    type: 'text',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    'aria-describedby': `${id}h`,
  })
  const problem = fieldError(input)
  const hint = setText(element('p', { class: 'hint', id: `${id}h` }), hintText)
  const suggest = button('create.suggest', () => {
    input.value = randomPassphrase()
    onInput()
    input.focus()
  })
  const panel = element(
    'div',
    { class: 'field', hidden: true },
    setText(element('label', { for: id, class: 'unseen' }), 'create.passphrase'),
    element('div', { class: 'with-button' }, input, suggest),
    problem.element,
    hint,
  )
  const enable = toggle({
    label: 'create.passphrase',
    hint: 'create.passphraseHint',
    onChange(isOn) {
      panel.hidden = !isOn
      problem.clear()
      if (isOn) input.focus()
    },
  })
  input.addEventListener('input', onInput)

  function onInput() {
    problem.clear()
    hint.textContent = hintText()
  }

  function hintText() {
    const isShort = input.value !== '' && input.value.length < MIN_RECOMMENDED_CHARS
    return text(isShort ? 'create.passphraseShort' : 'create.passphraseApart')
  }

  return {
    toggle: enable.element,
    panel,
    value() {
      if (!enable.isOn()) return undefined
      const errorText = passphraseError(input.value, 'create.passphraseEmpty')
      if (errorText === undefined) return input.value
      problem.set(errorText)
      input.focus()
      return null
    },
  }
}

/** Undefined for a valid passphrase. */
export function passphraseError(typed: string, emptyText: TextKey): TextKey | undefined {
  if (typed === '') return emptyText
  // UTF-8 cannot encode a lone surrogate.
  return /\p{Surrogate}/u.test(typed) ? 'create.malformed' : undefined
}

/** Four groups of four characters: 80 bits, easy to read aloud. */
function randomPassphrase(): string {
  const characters = Array.from(randomBytes(16), (byte) => CHARACTERS[byte % 32])
  return [0, 4, 8, 12].map((at) => characters.slice(at, at + 4).join('')).join('-')
}

/** A passphrase, if one is wanted. It is shown as it is typed: the secret itself is too. */
import { randomBytes } from '../../crypto/bytes.ts'
import { button, problemOf, toggle } from './controls.ts'
import { element, newId } from './dom.ts'
import { say, text } from './language.ts'
import { passphraseProblem } from './passphrase-problem.ts'

/** What is easily taken for something else is left out; 32 characters are five bits each. */
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789'
const SHORT = 10

export interface PassphraseChoice {
  toggle: HTMLElement
  /** What to type, while it is on. */
  panel: HTMLElement
  /** Undefined without one; null if it is missing, then it says so and has the focus. */
  value: () => string | undefined | null
}

export function passphraseChoice(): PassphraseChoice {
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
  const problem = problemOf(input)
  const hint = say(element('p', { class: 'hint', id: `${id}h` }), adviceFor)
  const suggest = button('create.suggest', () => {
    input.value = suggestion()
    changed()
    input.focus()
  })
  const panel = element(
    'div',
    { class: 'field', hidden: true },
    say(element('label', { for: id, class: 'unseen' }), 'create.passphrase'),
    element('div', { class: 'with-button' }, input, suggest),
    problem.element,
    hint,
  )
  const isWanted = toggle({
    label: 'create.passphrase',
    hint: 'create.passphraseHint',
    onChange(isOn) {
      panel.hidden = !isOn
      problem.clear()
      if (isOn) input.focus()
    },
  })
  input.addEventListener('input', changed)

  function changed() {
    problem.clear()
    hint.textContent = adviceFor()
  }

  function adviceFor() {
    const isShort = input.value !== '' && input.value.length < SHORT
    return text(isShort ? 'create.passphraseShort' : 'create.passphraseApart')
  }

  return {
    toggle: isWanted.element,
    panel,
    value() {
      if (!isWanted.isOn()) return undefined
      const why = passphraseProblem(input.value, 'create.passphraseEmpty')
      if (why === undefined) return input.value
      problem.set(why)
      input.focus()
      return null
    },
  }
}

/** Four groups of four: 80 bits, easy to read out. */
function suggestion(): string {
  const characters = Array.from(randomBytes(16), (byte) => CHARACTERS[byte % 32])
  return [0, 4, 8, 12].map((at) => characters.slice(at, at + 4).join('')).join('-')
}

/** The text to be sealed, and how much of the room it takes. */
import { SealedError } from '../../crypto/errors.ts'
import { MAX_TEXT_BYTES } from '../../crypto/padding.ts'
import { textBytes } from '../../crypto/seal.ts'
import { problemOf } from './controls.ts'
import { element, newId } from './dom.ts'
import { number } from './format.ts'
import { bind, say, text, type TextKey } from './language.ts'

const PROBLEMS: Partial<Record<string, TextKey>> = {
  text_empty: 'create.empty',
  text_malformed: 'create.malformed',
}

export interface SecretField {
  element: HTMLElement
  input: HTMLTextAreaElement
  /** Undefined if it cannot be sealed; then it says why, and has the focus. */
  value: () => string | undefined
}

export function secretField(): SecretField {
  const id = newId()
  const input = element('textarea', {
    id,
    class: 'secret-input',
    rows: '6',
    dir: 'auto',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    'aria-describedby': `${id}c`,
  })
  bind(input, () => {
    input.placeholder = text('create.placeholder')
  })
  const problem = problemOf(input)
  const counter = say(element('p', { class: 'counter', id: `${id}c` }), howMuch)
  input.addEventListener('input', () => {
    problem.clear()
    counter.textContent = howMuch()
    counter.classList.toggle('is-over', size() > MAX_TEXT_BYTES)
  })

  function size() {
    return new TextEncoder().encode(input.value).length
  }

  function howMuch() {
    const over = size() - MAX_TEXT_BYTES
    if (over > 0) return text('create.tooLong', { over: number(over) })
    return text('create.used', { used: number(size()), limit: number(MAX_TEXT_BYTES) })
  }

  return {
    element: element(
      'div',
      { class: 'secret-field' },
      say(element('label', { for: id }), 'create.secret'),
      input,
      element('div', { class: 'secret-foot' }, problem.element, counter),
    ),
    input,
    value() {
      try {
        textBytes(input.value)
        return input.value
      } catch (error) {
        if (!(error instanceof SealedError)) throw error
        // Of a text that is too long the counter speaks.
        const known = PROBLEMS[error.code]
        if (known) problem.set(known)
        input.focus()
        return undefined
      }
    },
  }
}

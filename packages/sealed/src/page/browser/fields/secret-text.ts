/** The text to seal, with a counter of its bytes. */
import { contentBytes } from '../../../crypto/content.ts'
import { SealedError } from '../../../crypto/errors.ts'
import { MAX_CONTENT_BYTES } from '../../../crypto/padding.ts'
import { fieldError } from '../controls.ts'
import { element, newId } from '../dom.ts'
import { formatNumber } from '../format.ts'
import { onLanguageChange, plural, setText, text, type TextKey } from '../language.ts'

const ERROR_TEXTS: Partial<Record<string, TextKey>> = {
  text_empty: 'create.empty',
  text_malformed: 'create.malformed',
}

export interface SecretTextField {
  element: HTMLElement
  input: HTMLTextAreaElement
  /** Undefined if it cannot be sealed; then the field shows why and has the focus. */
  value: () => string | undefined
}

export function secretTextField(): SecretTextField {
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
  onLanguageChange(input, () => {
    input.placeholder = text('create.placeholder')
  })
  const problem = fieldError(input)
  const counter = setText(element('p', { class: 'counter', id: `${id}c` }), counterText)
  input.addEventListener('input', () => {
    problem.clear()
    counter.textContent = counterText()
    counter.classList.toggle('is-over', byteLength() > MAX_CONTENT_BYTES)
  })

  function byteLength() {
    return new TextEncoder().encode(input.value).length
  }

  function counterText() {
    const over = byteLength() - MAX_CONTENT_BYTES
    if (over > 0) return plural('create.tooLong', over, { over: formatNumber(over) })
    return text('create.used', {
      used: formatNumber(byteLength()),
      limit: formatNumber(MAX_CONTENT_BYTES),
    })
  }

  return {
    element: element(
      'div',
      { class: 'secret-field' },
      setText(element('label', { for: id }), 'create.secret'),
      input,
      element('div', { class: 'secret-foot' }, problem.element, counter),
    ),
    input,
    value() {
      try {
        contentBytes(input.value)
        return input.value
      } catch (error) {
        if (!(error instanceof SealedError)) throw error
        // The counter already says that a text is too long.
        const errorText = ERROR_TEXTS[error.code]
        if (errorText) problem.set(errorText)
        input.focus()
        return undefined
      }
    },
  }
}

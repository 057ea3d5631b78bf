/** A field for a key or a passphrase that the reader received separately. */
import { button, fieldError } from '../controls.ts'
import { element, newId } from '../dom.ts'
import { setText, type TextKey } from '../language.ts'

export interface SecretInput {
  element: HTMLElement
  input: HTMLInputElement
  /** Also moves the focus to the field. */
  showError: (errorText: TextKey | (() => string)) => void
}

export function secretInput(options: {
  label: TextKey
  hint: TextKey
  /** Hidden while typing, with a button to show it. */
  isConcealed?: boolean
}): SecretInput {
  const id = newId()
  const input = element('input', {
    id,
    class: 'input code',
    type: options.isConcealed ? 'password' : 'text',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    'aria-describedby': `${id}h`,
  })
  const problem = fieldError(input)
  input.addEventListener('input', problem.clear)
  return {
    element: element(
      'div',
      { class: 'field' },
      setText(element('label', { for: id }), options.label),
      setText(element('p', { class: 'hint', id: `${id}h` }), options.hint),
      element(
        'div',
        { class: 'with-button' },
        input,
        ...(options.isConcealed ? [showButton(input)] : []),
      ),
      problem.element,
    ),
    input,
    showError(errorText) {
      problem.set(errorText)
      input.focus()
    },
  }
}

function showButton(input: HTMLInputElement): HTMLButtonElement {
  const show = button('open.show', () => {
    input.type = input.type === 'password' ? 'text' : 'password'
    show.setAttribute('aria-pressed', String(input.type === 'text'))
    input.focus()
  })
  show.setAttribute('aria-pressed', 'false')
  return show
}

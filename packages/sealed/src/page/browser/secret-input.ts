/** A field for what a reader was told separately: a key or a passphrase. */
import { button, problemOf } from './controls.ts'
import { element, newId } from './dom.ts'
import { say, type TextKey } from './language.ts'

export interface SecretInput {
  element: HTMLElement
  input: HTMLInputElement
  /** Says what is wrong, and has the focus. */
  refuse: (why: TextKey | (() => string)) => void
  accept: () => void
}

export function secretInput(options: {
  label: TextKey
  hint: TextKey
  /** Whether it is not shown while it is typed, unless wanted. */
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
  const problem = problemOf(input)
  input.addEventListener('input', problem.clear)
  return {
    element: element(
      'div',
      { class: 'field' },
      say(element('label', { for: id }), options.label),
      say(element('p', { class: 'hint', id: `${id}h` }), options.hint),
      element(
        'div',
        { class: 'with-button' },
        input,
        ...(options.isConcealed ? [showButton(input)] : []),
      ),
      problem.element,
    ),
    input,
    refuse(why) {
      problem.set(why)
      input.focus()
    },
    accept: problem.clear,
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

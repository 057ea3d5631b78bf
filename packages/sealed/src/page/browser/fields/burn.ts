/** Destroys a secret after a confirmation. */
import type { LinkTarget } from '../../../crypto/link.ts'
import { api, failureText } from '../api.ts'
import { button, fieldError } from '../controls.ts'
import { element } from '../dom.ts'
import { setText } from '../language.ts'
import { clearLink } from '../stored-link.ts'
import { showMessage } from '../views/message.ts'

export function burnButton(target: LinkTarget & { kind: 'management' }): HTMLElement {
  const start = button(
    'burn.start',
    () => showConfirmation(true),
    'button button-quiet button-danger',
  )
  const confirm = button('burn.confirm', () => void run(), 'button button-destroy')
  const cancel = button('burn.keep', () => showConfirmation(false))
  const problem = fieldError(confirm)
  const question = element(
    'div',
    { class: 'question', hidden: true, role: 'group' },
    setText(element('p'), 'burn.sure'),
    problem.element,
    element('div', { class: 'buttons' }, confirm, cancel),
  )

  function showConfirmation(isShown: boolean) {
    question.hidden = !isShown
    start.hidden = isShown
    // The safe button gets the focus, so that pressing Enter twice destroys nothing.
    ;(isShown ? cancel : start).focus()
  }

  async function run() {
    confirm.disabled = true
    try {
      await api.burn(target.id, target.burnToken)
    } catch (error) {
      problem.set(failureText(error))
      confirm.disabled = false
      confirm.focus()
      return
    }
    clearLink()
    showMessage({ title: 'burn.title', text: 'burn.text' })
  }

  return element('div', { class: 'burn' }, start, question)
}

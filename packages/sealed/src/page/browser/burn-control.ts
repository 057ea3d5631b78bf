/** Destroys a secret, after asking once. */
import type { LinkTarget } from '../../crypto/link.ts'
import { button, problemOf } from './controls.ts'
import { element } from './dom.ts'
import { failureText } from './failure.ts'
import { forget } from './kept.ts'
import { say } from './language.ts'
import { showMessage } from './message-view.ts'
import { api } from './server.ts'

export function burnControl(target: LinkTarget & { kind: 'management' }): HTMLElement {
  const start = button('burn.start', () => ask(true), 'button button-quiet button-danger')
  const confirm = button('burn.confirm', () => void run(), 'button button-destroy')
  const keepIt = button('burn.keep', () => ask(false))
  const problem = problemOf(confirm)
  const question = element(
    'div',
    { class: 'question', hidden: true, role: 'group' },
    say(element('p'), 'burn.sure'),
    problem.element,
    element('div', { class: 'buttons' }, confirm, keepIt),
  )

  function ask(isAsked: boolean) {
    question.hidden = !isAsked
    start.hidden = isAsked
    // Not the button that destroys: whoever presses Enter twice should lose nothing.
    ;(isAsked ? keepIt : start).focus()
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
    forget()
    showMessage({ title: 'burn.title', text: 'burn.text' })
  }

  return element('div', { class: 'burn' }, start, question)
}

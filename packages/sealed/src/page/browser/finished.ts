/** What is finished while a secret or new links are shown in the same tab must not replace them. */
import { button } from './controls.ts'
import { element } from './dom.ts'
import { setText, text, type TextKey } from './language.ts'
import { addNotice, announce, isFinalScreen, removeNotice } from './layout.ts'

let waiting = 0

/** Shows the view, or offers it below the present one. */
export function showFinished(finished: { title: TextKey; label: TextKey; show: () => void }) {
  const { title, label, show } = finished
  if (!isFinalScreen()) return show()
  const open = button(label, () => {
    waiting--
    removeNotice(notice)
    show()
  })
  const notice = element('div', { class: 'draft' }, setText(element('p'), title), open)
  waiting++
  addNotice(notice)
  announce(text(title))
}

addEventListener('beforeunload', (event) => {
  if (waiting > 0) event.preventDefault()
})

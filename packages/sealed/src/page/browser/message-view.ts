/** A view that only says something. */
import { button } from './controls.ts'
import { element } from './dom.ts'
import { seal } from './drawings.ts'
import type { TextKey } from './language.ts'
import { warnWhile } from './leaving.ts'
import { show } from './stage.ts'
import { startOver } from './start-over.ts'

export function showMessage(message: {
  title: TextKey
  text: TextKey
  /** Whether something of one's own can be sealed from here. */
  canSeal?: boolean
}) {
  const { canSeal = true } = message
  warnWhile(() => false)
  const plate = element('div', { class: 'message' }, seal())
  if (canSeal) plate.append(button('hidden.own', startOver))
  show({ name: 'message', title: message.title, lede: message.text, plate })
}

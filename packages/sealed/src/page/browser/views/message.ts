/** A view with only a message. */
import { button } from '../controls.ts'
import { element } from '../dom.ts'
import { seal } from '../drawings.ts'
import type { TextKey } from '../language.ts'
import { showScreen } from '../layout.ts'
import { startOver, warnBeforeUnload } from '../navigation.ts'

export function showMessage(message: {
  title: TextKey
  text: TextKey
  /** Whether to offer to seal another secret. */
  canSeal?: boolean
}) {
  const { canSeal = true } = message
  warnBeforeUnload(() => false)
  const content = element('div', { class: 'message' }, seal())
  if (canSeal) content.append(button('hidden.own', startOver))
  showScreen({ name: 'message', title: message.title, intro: message.text, content })
}

/** For a secret that was shown in this tab and cannot be shown again. */
export function showHidden() {
  showMessage({ title: 'hidden.title', text: 'hidden.text' })
}

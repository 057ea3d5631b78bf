/** A view with only a message. */
import { parseTarget } from '../../../crypto/link.ts'
import { base } from '../api.ts'
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
  action?: { label: TextKey; onClick: () => void }
}) {
  const { canSeal = true, action } = message
  warnBeforeUnload(() => false)
  const content = element('div', { class: 'message' }, seal())
  if (action) content.append(button(action.label, action.onClick, 'button button-primary'))
  if (canSeal) content.append(button('hidden.own', startOver))
  showScreen({ name: 'message', title: message.title, intro: message.text, content })
}

/** For a secret that was shown in this tab and cannot be shown again. */
export function showHidden() {
  showMessage({ title: 'hidden.title', text: 'hidden.text' })
}

/**
 * For a link whose `#` was escaped. The server has received its key, and opening the secret makes that
 * key worthless. The page is loaded anew, because Sealed may have an origin of its own.
 */
export function showEscaped(target: string) {
  if (target === '') return showMessage({ title: 'damaged.title', text: 'damaged.text' })
  const onClick = () => location.replace(`${base}#${target}`)
  const action = { label: 'escaped.continue', onClick } as const
  showMessage({ title: 'escaped.title', text: escapedText(target), action })
}

/** An own link opens also what is put in later, and a request link opens nothing. */
function escapedText(target: string): TextKey {
  const { kind } = parseTarget(target)
  if (kind === 'own') return 'escaped.own'
  return kind === 'request' ? 'escaped.request' : 'escaped.text'
}

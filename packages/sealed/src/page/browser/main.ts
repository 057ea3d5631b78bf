/** Shows the view for the link that led here, or for the link stored in this tab. */
import { SealedError } from '../../crypto/errors.ts'
import { parseTarget } from '../../crypto/link.ts'
import { requireElement } from './dom.ts'
import { hasHiddenDraft } from './draft.ts'
import { showLanguageMenu, type TextKey } from './language.ts'
import { isCurrentScreen, isFinalScreen } from './layout.ts'
import { setStartScreen, startOver } from './navigation.ts'
import {
  clearLink,
  storeArrivingLink,
  storedLink,
  takeEscapedLink,
  takeFromAddress,
} from './stored-link.ts'
import { showCreate } from './views/create.ts'
import { showFill } from './views/fill.ts'
import { showManage } from './views/manage.ts'
import { showEscaped, showHidden, showMessage } from './views/message.ts'
import { showOpen } from './views/open.ts'

function start() {
  if (!isSecureContext) {
    return showMessage({ title: 'insecure.title', text: 'insecure.text', canSeal: false })
  }
  const escaped = takeEscapedLink()
  if (escaped !== undefined) return showEscaped(escaped)
  storeArrivingLink(takeFromAddress())
  const link = storedLink()
  if (!link) return showCreate()
  if (link.kind === 'hidden') return showHidden()
  try {
    const target = parseTarget(link.target)
    if (target.kind === 'management') return showManage(target)
    if (target.kind === 'request') return showFill(target)
    if (link.kind === 'open') return showOpen(target, link)
  } catch (error) {
    if (!(error instanceof SealedError)) throw error
    clearLink()
    const text: TextKey = error.code === 'link_version' ? 'damaged.newer' : 'damaged.text'
    showMessage({ title: 'damaged.title', text })
  }
}

setStartScreen(showCreate)
// Leads to the form instead of the stored link.
requireElement('home').addEventListener('click', (event) => {
  // The browser leaves the page, and warns of the draft before that.
  if (hasHiddenDraft() && isFinalScreen()) return
  clearLink()
  if (!hasHiddenDraft()) return
  // Loading the page would lose it.
  event.preventDefault()
  showCreate()
})
showLanguageMenu()
start()
// Another link was opened in this tab.
addEventListener('hashchange', start)
// Back from a link to a draft, unless that would lose the secret or the new links that are shown.
addEventListener('popstate', () => {
  if (location.hash === '' && hasHiddenDraft() && !isFinalScreen()) startOver()
})
// The back/forward cache restores a page with what it showed then: only the form may stay.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && !isCurrentScreen('create')) location.reload()
})

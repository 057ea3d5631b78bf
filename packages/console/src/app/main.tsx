/** Starts the console: finds out who is signed in, then shows the page of the address. */
import { render } from 'preact'
// oxlint-disable-next-line import/no-unassigned-import -- part of the bundle
import '../styles/main.css'
import { loadOperatorSession } from './api/operator-session.ts'
import { followSignOut } from './api/sign-out.ts'
import { renewUserToken } from './api/user-session.ts'
import { App } from './app.tsx'
import { startRouter } from './router.ts'
import { startKeyboard } from './shell/keyboard.ts'
import { applyTheme } from './shell/theme.ts'

applyTheme()
startRouter()
startKeyboard()
followSignOut()
// Browsers keep no session elsewhere, and the sign-in page says so.
if (isSecureContext) await Promise.all([loadOperatorSession(), renewUserToken(undefined)])
const root = document.createElement('div')
root.className = 'root'
document.body.replaceChildren(root)
render(<App />, root)

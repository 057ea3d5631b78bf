/** The pages that a person sees at the end of an installation. They contain nothing from the request. */
import { hashSource, pagePolicy } from '@strongroom/kit/http/content-security-policy'
import { html, raw } from 'hono/html'
import type { InstallationFailure, InstallationOutcome } from './service.ts'

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; box-sizing: border-box; background: Canvas; color: CanvasText; }
main { max-width: 32rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 0.75rem; }
p { margin: 0 0 0.75rem; }
a { color: LinkText; }
`

export const INSTALLATION_PAGE_POLICY = pagePolicy({ styles: [hashSource(STYLE)] })

/** Outside of the template, whose white space the formatter changes: the policy has the hash of these bytes. */
const STYLE_ELEMENT = raw(`<style>${STYLE}</style>`)

type Html = ReturnType<typeof html>

interface Text {
  status: 200 | 400 | 403 | 404 | 429 | 502 | 503
  title: string
  text: string
  /** Whether starting again may help. */
  canRetry: boolean
}

const FAILURES: Readonly<Record<InstallationFailure | 'too_many_requests', Text>> = {
  not_available: {
    status: 404,
    title: 'This app cannot be installed here',
    text: 'There is no such app, or its operator has not set up installation.',
    canRetry: false,
  },
  invalid_state: {
    status: 400,
    title: 'The installation was not started in this browser',
    text: 'It was started elsewhere, more than ten minutes ago, or is finished already. Nothing was installed.',
    canRetry: true,
  },
  cancelled: {
    status: 200,
    title: 'The installation was cancelled',
    text: 'Nothing was installed.',
    canRetry: true,
  },
  invalid_code: {
    status: 400,
    title: 'Slack did not accept the installation',
    text: 'Its code has expired or was used already. Nothing was installed.',
    canRetry: true,
  },
  not_distributed: {
    status: 403,
    title: 'This app can be installed only in its own workspace',
    text: 'Its developer has not enabled distribution to other workspaces at Slack.',
    canRetry: false,
  },
  misconfigured: {
    status: 502,
    title: 'The app is not set up correctly',
    text: 'Slack rejects its client id, client secret or redirect URL. Ask the person who manages the app.',
    canRetry: false,
  },
  foreign_app: {
    status: 502,
    title: 'The app is not set up correctly',
    text: 'Slack installed another app than this one: its client id belongs to another app. Ask the person who manages the app, and remove the other app at Slack.',
    canRetry: false,
  },
  no_bot_token: {
    status: 502,
    title: 'Slack returned no bot token',
    text: 'The app needs a bot user and bot scopes. Ask the person who manages the app.',
    canRetry: false,
  },
  expiring_token: {
    status: 502,
    title: 'Tokens that expire are not supported',
    text: 'Token rotation is on for this app at Slack. The app needs to be created without it. Ask the person who manages the app.',
    canRetry: false,
  },
  token_rejected: {
    status: 502,
    title: 'Slack did not confirm the installation',
    text: 'The new token does not belong to this workspace or does not work. Nothing was stored.',
    canRetry: true,
  },
  slack_unavailable: {
    status: 503,
    title: 'Slack cannot be reached',
    text: 'Nothing was stored.',
    canRetry: true,
  },
  too_many_requests: {
    status: 429,
    title: 'Too many installations were started from your network',
    text: 'Wait a minute.',
    canRetry: true,
  },
}

export interface Page {
  status: Text['status']
  body: Html
}

export function failurePage(reason: keyof typeof FAILURES, installUrl: string): Page {
  const { status, title, text, canRetry } = FAILURES[reason]
  const retry = canRetry ? html`<p><a href="${installUrl}">Start again</a></p>` : ''
  return {
    status,
    body: render(
      title,
      html`<p>${text}</p>
        ${retry}`,
    ),
  }
}

export function installedPage(outcome: Extract<InstallationOutcome, { kind: 'installed' }>): Page {
  const { workspace, isOrgWide, missingScopes } = outcome
  const where = workspace === '' ? (isOrgWide ? 'your organisation' : 'your workspace') : workspace
  const missing =
    missingScopes.length === 0
      ? ''
      : html`<p>
          Slack did not grant ${missingScopes.join(', ')}. Without them some requests cannot be
          verified and are refused. Ask the person who manages the app.
        </p>`
  const text = html`<p>${where}: you can close this page and return to Slack.</p>`
  return { status: 200, body: render('The app is installed', html`${text}${missing}`) }
}

function render(title: string, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`
}

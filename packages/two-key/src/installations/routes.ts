/** `/slack/{app}/install` and the OAuth callback, for browsers. */
import { OpenAPIHono, z } from '@hono/zod-openapi'
import { clientAddress, clientNetworks } from '@strongroom/kit/http/client-address'
import { createClientLimit } from '@strongroom/kit/http/client-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { PERMISSION, publicRoute } from '@strongroom/kit/http/permissions'
import type { Clock } from '@strongroom/platform/clock'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { isAppName } from '../slack-ids.ts'
import { installationUrls } from './addresses.ts'
import { failurePage, INSTALLATION_PAGE_POLICY, installedPage, type Page } from './page.ts'
import type { InstallationService } from './service.ts'
import { STATE_SECONDS } from './state.ts'

/** Each finished installation calls Slack. */
const MAX_REQUESTS_PER_MINUTE = 30

/** Lax, because Slack redirects the browser back from another site. */
const cookieOptions = {
  path: '/',
  secure: true,
  httpOnly: true,
  prefix: 'host',
  sameSite: 'Lax',
} as const

/** One for each app, so that two installations in one browser do not end each other. */
const cookieName = (app: string) => `two-key-install-${app}`

export function installationRoutes(deps: {
  installations: InstallationService
  /** Without a slash at its end. */
  publicUrl: string
  clock: Clock
}): OpenAPIHono<AppEnv> {
  const { installations, publicUrl, clock } = deps
  const limit = createClientLimit({ clock, limit: MAX_REQUESTS_PER_MINUTE })
  const routes = new OpenAPIHono<AppEnv>()

  /** Its URLs do not use the Host header, which the client controls. */
  const readApp = (c: Context<AppEnv>) => {
    const { path } = c.req
    const given = c.req.param('app') ?? ''
    const app = isAppName(given) ? given : ''
    return { app, ...installationUrls(publicUrl + path.slice(0, path.indexOf('/slack/')), app) }
  }

  const show = (c: Context<AppEnv>, { status, body }: Page) => {
    c.header('content-security-policy', INSTALLATION_PAGE_POLICY)
    c.header('cache-control', 'no-store')
    // The address of this page has the code and the state.
    c.header('referrer-policy', 'no-referrer')
    return c.html(body, status)
  }

  const tooMany = (c: Context<AppEnv>, installUrl: string) => {
    const refused = limit.take(clientNetworks(c))
    if (!refused) return undefined
    c.header('retry-after', String(Math.max(1, Math.ceil(refused.retryAfterSeconds))))
    return show(c, failurePage('too_many_requests', installUrl))
  }

  routes.get('/slack/:app/install', publicRoute, async (c) => {
    const { app, installUrl, redirectUrl } = readApp(c)
    const refused = tooMany(c, installUrl)
    if (refused) return refused
    const started = await installations.start({ app, redirectUrl })
    if (!started) return show(c, failurePage('not_available', installUrl))
    setCookie(c, cookieName(app), started.cookie, { ...cookieOptions, maxAge: STATE_SECONDS })
    c.header('cache-control', 'no-store')
    c.header('referrer-policy', 'no-referrer')
    return c.redirect(started.url, 303)
  })

  routes.get('/slack/:app/oauth/callback', publicRoute, async (c) => {
    const { app, installUrl, redirectUrl } = readApp(c)
    const refused = tooMany(c, installUrl)
    if (refused) return refused
    if (app === '') return show(c, failurePage('not_available', installUrl))
    const cookie = getCookie(c, cookieName(app), 'host')
    if (cookie !== undefined) deleteCookie(c, cookieName(app), cookieOptions)
    const query = new URL(c.req.url).searchParams
    const address = clientAddress(c)
    const outcome = await installations.finish({ app, redirectUrl, cookie, query, address })
    return show(
      c,
      outcome.kind === 'installed'
        ? installedPage(outcome)
        : failurePage(outcome.reason, installUrl),
    )
  })

  describe(routes)
  return routes
}

/** Described without validation, because a person sees the response. */
function describe({ openAPIRegistry }: OpenAPIHono<AppEnv>): void {
  const params = z.object({ app: z.string().openapi({ example: 'deploy-bot' }) })
  const common = { method: 'get' as const, [PERMISSION]: 'public', tags: ['Two-key'] }
  openAPIRegistry.registerPath({
    ...common,
    path: '/slack/{app}/install',
    summary: 'Install a Slack app',
    description:
      'For browsers: the link of “Add to Slack”. Redirects to Slack, which redirects to the callback.',
    request: { params },
    responses: {
      303: { description: 'Redirect to Slack' },
      404: { description: 'A page: workspaces cannot install this app here' },
    },
  })
  openAPIRegistry.registerPath({
    ...common,
    path: '/slack/{app}/oauth/callback',
    summary: 'OAuth callback of an installation',
    description:
      'For browsers. Only the browser that started the installation can finish it, once and within ten minutes. Stores the bot token after Slack has confirmed whose it is.',
    request: {
      params,
      query: z.object({
        code: z.string().optional(),
        state: z.string().optional(),
        error: z.string().optional(),
      }),
    },
    responses: {
      200: { description: 'A page: the app is installed, or the person cancelled it' },
      400: { description: 'A page: the installation was not started in this browser' },
      502: { description: 'A page: the app is not set up correctly' },
      503: { description: 'A page: Slack cannot be reached' },
    },
  })
}

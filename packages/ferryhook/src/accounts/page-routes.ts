/**
 * The addresses that mails, invites and providers refer to. They open the page of the console with the
 * same purpose; browsers keep the fragment, which has the ticket.
 */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { publicRoute } from '@strongroom/kit/http/permissions'
import { parseNext } from './browser.ts'

const pages = {
  '/': '/console/',
  '/sign-in': '/console/sign-in',
  '/sign-up': '/console/sign-up',
  '/reset-password': '/console/reset',
  '/verify-email': '/console/verify-email',
} as const

export function pageRoutes(): OpenAPIHono<AppEnv> {
  const routes = new OpenAPIHono<AppEnv>()
  for (const [path, page] of Object.entries(pages)) {
    routes.get(path, publicRoute, (c) => {
      const next = parseNext(c.req.query('next'))
      const query = next === undefined ? '' : `?${new URLSearchParams({ next }).toString()}`
      c.header('cache-control', 'no-store')
      return c.redirect(page + query, 302)
    })
  }
  return routes
}

/** One access line and one observation for each request, by route pattern: no address, query, id or client. */
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { Metrics } from '../metrics.ts'
import type { AppEnv } from './env.ts'

/** Asked every few seconds by machines: one line each would bury the rest. */
const QUIET = new Set(['/healthz', '/readyz', '/metrics'])

export function observe(metrics: Metrics): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const start = performance.now()
    await next()
    const durationMs = performance.now() - start
    const { method } = c.req
    const { status } = c.res
    const service = c.get('service')
    const route = routePattern(c)
    metrics.observeHttp({ service, route, method, status, durationSeconds: durationMs / 1000 })
    const log = c.get('log')
    const code = c.get('errorCode')
    const line = {
      service,
      method,
      route,
      status,
      ...(code ? { code } : {}),
      durationMs: Math.round(durationMs * 100) / 100,
    }
    if (QUIET.has(route) && status < 400) log.debug('Request', line)
    else log.info('Request', line)
  }
}

/** The pattern of the route that answered, or would have, had nothing before it said no. */
function routePattern(c: Context<AppEnv>): string {
  const routes = matchedRoutes(c)
  const last = routes[c.req.routeIndex]
  if (last && last.method !== 'ALL') return last.path
  const own = routes.find(({ method }) => method !== 'ALL')
  if (own) return own.path
  return c.res.status === 404 || c.res.status === 405 ? 'unmatched' : (last?.path ?? 'unmatched')
}

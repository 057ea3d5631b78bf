/** One access line and one observation for each request, by route pattern: no address, query, id or client. */
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { Log } from '../log.ts'
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
    const code = c.get('errorCode')
    const line = { service, method, route, status, code, durationMs }
    reportRequest({ metrics, log: c.get('log') }, line)
  }
}

export interface RequestLine {
  service: string
  method: string
  route: string
  status: number
  code: string | undefined
  durationMs: number
}

function reportRequest(
  { metrics, log }: { metrics: Metrics; log: Log },
  { service, method, route, status, code, durationMs }: RequestLine,
): void {
  metrics.observeHttp({ service, route, method, status, durationSeconds: durationMs / 1000 })
  const line = {
    service,
    method,
    route,
    status,
    ...(code ? { code } : {}),
    durationMs: rounded(durationMs),
  }
  if (QUIET.has(route) && status < 400) log.debug('Request', line)
  else log.info('Request', line)
}

const MOST_KINDS = 1_000

/**
 * The same for requests that are so many that their lines cost: all but the id and the duration is
 * made ready for each kind of line once.
 */
export function createReports({ metrics, log }: { metrics: Metrics; log: Log }) {
  const kinds = new Map<string, Log>()

  return (requestId: string, request: RequestLine): void => {
    const { service, method, route, status, code, durationMs } = request
    metrics.observeHttp({ service, route, method, status, durationSeconds: durationMs / 1000 })
    const kind = `${method} ${status} ${code ?? ''} ${service} ${route}`
    let lines = kinds.get(kind)
    if (!lines) {
      lines = log.child({ service, method, route, status, ...(code ? { code } : {}) })
      if (kinds.size < MOST_KINDS) kinds.set(kind, lines)
    }
    lines.info('Request', { requestId, durationMs: rounded(durationMs) })
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
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

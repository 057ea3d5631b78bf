/** Gives every request its id, its log and what is known of the other end of the connection. */
import { randomUUID } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import type { Log } from '../log.ts'
import type { AppEnv } from './env.ts'
import type { ProxyTrust } from './trusted-proxies.ts'

/** UUIDs, 32 hex digits (nginx) and ULIDs: forms that hold an id and nothing else. */
const REQUEST_ID =
  /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}|[0-7][0-9A-HJKMNP-TV-Z]{25})$/

export interface RequestContextOptions {
  log: Log
  proxies: ProxyTrust
  peerAddress: (c: Context) => string | undefined
}

export function requestContext({
  log,
  proxies,
  peerAddress,
}: RequestContextOptions): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const peer = peerAddress(c)
    const incoming = proxies.trustsPeer(peer) ? c.req.header('x-request-id') : undefined
    const requestId = requestIdOf(incoming)
    c.set('requestId', requestId)
    c.set('log', log.child({ requestId }))
    c.set('service', 'server')
    c.set('proxies', proxies)
    c.set('peer', peer)
    await next()
  }
}

/**
 * The id that a trusted proxy gave the request, or a new one. From anyone else, an id is a way to
 * write into the log or to pass for another request.
 */
export function requestIdOf(fromProxy: string | undefined): string {
  return fromProxy !== undefined && REQUEST_ID.test(fromProxy) ? fromProxy : randomUUID()
}

/** The address of the connection as `@hono/node-server` hands it over. */
export function nodePeerAddress(c: Context): string | undefined {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined
  return env?.incoming?.socket?.remoteAddress
}

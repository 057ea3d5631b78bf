/** Path and query of a request as it was sent, which is what its signature is over. */
import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'

export function targetOf(c: Context): string {
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage }
  // A proxy may have asked for the whole address, of which the app has path and query too.
  if (incoming?.url?.startsWith('/')) return incoming.url
  const { pathname, search } = new URL(c.req.url)
  return pathname + search
}

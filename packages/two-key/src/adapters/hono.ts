/** For Hono. An entry of its own, so that the types of the others do not need Hono's. */
import type { MiddlewareHandler } from 'hono'
import type { TwoKey } from '../verify.ts'
import { toFetchResponse, verifyFetchRequest } from './fetch.ts'
import type { Verified } from './respond.ts'

/**
 * Middleware for Hono: `app.post('/slack/events', twoKeyHono(keys), (c) => …)`. The handler gets the
 * verified request from `c.get('twoKey')` and can still read the body.
 */
export function twoKeyHono(keys: TwoKey): MiddlewareHandler<{ Variables: { twoKey: Verified } }> {
  return async (c, next) => {
    const { raw } = c.req
    const responded = await verifyFetchRequest(raw, keys)
    if ('response' in responded) return toFetchResponse(responded.response)
    const { verified } = responded
    c.req.raw = new Request(raw, { method: raw.method, body: verified.rawBody })
    c.set('twoKey', verified)
    await next()
  }
}

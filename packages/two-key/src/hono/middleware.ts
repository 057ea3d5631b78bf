/** For Hono: `app.post('/slack/events', twoKeyHono(keys), (c) => …)`. */
import type { MiddlewareHandler } from 'hono'
import { responseOf } from '../adapters/fetch-handler.ts'
import { limitedBody } from '../adapters/limited-body.ts'
import { screen, type Verified } from '../adapters/screen.ts'
import { MAX_BODY_BYTES, type TwoKey } from '../verify.ts'

/** `c.get('twoKey')` is what was verified; the body can still be read. */
export function twoKeyHono(keys: TwoKey): MiddlewareHandler<{ Variables: { twoKey: Verified } }> {
  return async (c, next) => {
    const { raw } = c.req
    const rawBody = await limitedBody(raw.body ?? [], MAX_BODY_BYTES)
    const screened = await screen(rawBody, raw.headers, keys)
    if ('answer' in screened) return responseOf(screened.answer)
    const { verified } = screened
    c.req.raw = new Request(raw, { method: raw.method, body: verified.rawBody })
    c.set('twoKey', verified)
    await next()
  }
}

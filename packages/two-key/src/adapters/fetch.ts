/** For servers that take a `Request` and return a `Response`, and for Hono. */
import { readStream } from '@strongroom/platform/read-body'
import type { MiddlewareHandler } from 'hono'
import { MAX_BODY_BYTES, type TwoKey } from '../verify.ts'
import { type Responded, type SlackResponse, type Verified, verifyAndRespond } from './respond.ts'

/** Calls the handler for verified requests and responds to all others. */
export function twoKeyFetch(
  keys: TwoKey,
  handler: (request: Request, verified: Verified) => Response | Promise<Response>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const responded = await verifyFetchRequest(request, keys)
    return 'response' in responded
      ? toFetchResponse(responded.response)
      : handler(request, responded.verified)
  }
}

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

async function verifyFetchRequest({ body, headers }: Request, keys: TwoKey): Promise<Responded> {
  const read = await readStream(body ?? [], MAX_BODY_BYTES)
  const rawBody = read.kind === 'read' ? read.bytes : undefined
  return verifyAndRespond({ rawBody, headers }, keys)
}

function toFetchResponse({ status, headers, body }: SlackResponse): Response {
  return new Response(body, { status, headers })
}

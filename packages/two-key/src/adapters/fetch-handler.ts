/** For servers that take a `Request` and give a `Response`. */
import { MAX_BODY_BYTES, type TwoKey } from '../verify.ts'
import { limitedBody } from './limited-body.ts'
import { type Answer, screen, type Verified } from './screen.ts'

/** Calls the handler for what both keys open; everything else is answered here. */
export function twoKeyFetch(
  keys: TwoKey,
  handler: (request: Request, verified: Verified) => Response | Promise<Response>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const rawBody = await limitedBody(request.body ?? [], MAX_BODY_BYTES)
    const screened = await screen(rawBody, request.headers, keys)
    return 'answer' in screened ? responseOf(screened.answer) : handler(request, screened.verified)
  }
}

export function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers })
}

/** For servers that take a `Request` and return a `Response`. */
import { readStream } from '@strongroom/platform/read-body'
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

export async function verifyFetchRequest(
  { body, headers }: Request,
  keys: TwoKey,
): Promise<Responded> {
  const read = await readStream(body ?? [], MAX_BODY_BYTES)
  const rawBody = read.kind === 'read' ? read.bytes : undefined
  return verifyAndRespond({ rawBody, headers }, keys)
}

export function toFetchResponse({ status, headers, body }: SlackResponse): Response {
  return new Response(body, { status, headers })
}

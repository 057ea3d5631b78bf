/** For Node's own server and for frameworks based on it, such as Express. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { discardRest, readRequestBody } from '@strongroom/platform/read-body'
import { MAX_BODY_BYTES, type TwoKey } from '../verify.ts'
import { bareContentType, type Verified, verifyAndRespond } from './respond.ts'

/** Bolt's receivers use `rawBody` if the body has been read. */
export type VerifiedMessage = IncomingMessage & { rawBody: Buffer; twoKey: Verified }

/** How long to read the rest of a rejected body, so that the client can read the response. */
const DISCARD_MS = 500

/** Calls the handler for verified requests and responds to all others. */
export function twoKeyNode(
  keys: TwoKey,
  handler: (req: VerifiedMessage, res: ServerResponse) => void | Promise<void>,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (req, res) => {
    try {
      if (await isVerified(keys, req, res)) await handler(req as VerifiedMessage, res)
    } catch (error) {
      keys.log.error('Slack request handler failed', { error })
      if (!res.headersSent) res.statusCode = 500
      res.end()
    }
  }
}

/** The same as middleware. It must come before anything that reads the body. */
export function twoKeyMiddleware(
  keys: TwoKey,
): (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => Promise<void> {
  return async (req, res, next) => {
    let isNext: boolean
    try {
      isNext = await isVerified(keys, req, res)
    } catch (error) {
      return next(error)
    }
    if (isNext) next()
  }
}

/** Responds to a request that is not verified, and adds the result to one that is. */
async function isVerified(
  keys: TwoKey,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<boolean> {
  const rawBody = await readRawBody(req)
  const responded = await verifyAndRespond({ rawBody, headers: req.headers }, keys)
  if ('response' in responded) {
    const { status, headers, body } = responded.response
    res.writeHead(status, headers).end(body)
    discardRest(req, { ms: DISCARD_MS })
    return false
  }
  const { buffer, byteOffset, byteLength } = responded.verified.rawBody
  const verifiedBody = Buffer.from(buffer, byteOffset, byteLength)
  Object.assign(req, { rawBody: verifiedBody, twoKey: responded.verified })
  req.headers['content-type'] = bareContentType(req.headers['content-type'] ?? '')
  return true
}

/** Undefined if the body is too large. */
async function readRawBody(req: IncomingMessage): Promise<Uint8Array | undefined> {
  const { rawBody, body } = req as { rawBody?: unknown; body?: unknown }
  if (rawBody instanceof Uint8Array) return rawBody
  if (body instanceof Uint8Array) return body
  if (req.readableEnded || body !== undefined) {
    throw new TypeError(
      'The body was read before the check. Put the check before every body parser, or keep the bytes as req.rawBody.',
    )
  }
  const read = await readRequestBody(req, MAX_BODY_BYTES)
  if (read.kind === 'incomplete') throw new Error('The connection ended before the request body.')
  return read.kind === 'read' ? read.bytes : undefined
}

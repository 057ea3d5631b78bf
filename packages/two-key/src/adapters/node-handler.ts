/** For Node's own server and for frameworks on it, such as Express. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from '@strongroom/kit/errors'
import { discardRest, readBody } from '@strongroom/kit/http/node-body'
import { MAX_BODY_BYTES, type TwoKey } from '../verify.ts'
import { bareContentType, screen, type Verified } from './screen.ts'

/** Bolt's receivers read `rawBody` in place of the body, which is used up. */
export type VerifiedMessage = IncomingMessage & { rawBody: Buffer; twoKey: Verified }

/** Calls the handler for what both keys open; everything else is answered here. */
export function twoKeyNode(
  keys: TwoKey,
  handler: (req: VerifiedMessage, res: ServerResponse) => void | Promise<void>,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (req, res) => {
    try {
      if (await admit(keys, req, res)) await handler(req as VerifiedMessage, res)
    } catch (error) {
      keys.log.error('A request of Slack could not be handled', { error })
      if (!res.headersSent) res.statusCode = 500
      res.end()
    }
  }
}

/** As middleware, before anything that reads the body. */
export function twoKeyMiddleware(
  keys: TwoKey,
): (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => Promise<void> {
  return async (req, res, next) => {
    let isAdmitted: boolean
    try {
      isAdmitted = await admit(keys, req, res)
    } catch (error) {
      return next(error)
    }
    if (isAdmitted) next()
  }
}

async function admit(keys: TwoKey, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  const screened = await screen(await rawBodyOf(req), req.headers, keys)
  if ('answer' in screened) {
    const { status, headers, body } = screened.answer
    res.writeHead(status, headers).end(body)
    discardRest(req)
    return false
  }
  const { buffer, byteOffset, byteLength } = screened.verified.rawBody
  const rawBody = Buffer.from(buffer, byteOffset, byteLength)
  Object.assign(req, { rawBody, twoKey: screened.verified })
  req.headers['content-type'] = bareContentType(req.headers['content-type'] ?? '')
  return true
}

async function rawBodyOf(req: IncomingMessage): Promise<Uint8Array | undefined> {
  const { rawBody, body } = req as { rawBody?: unknown; body?: unknown }
  if (rawBody instanceof Uint8Array) return rawBody
  if (body instanceof Uint8Array) return body
  if (req.readableEnded || body !== undefined) {
    throw new TypeError(
      'The body was read before the check: put the check before every body parser, or keep the bytes as req.rawBody',
    )
  }
  return readBody(req, MAX_BODY_BYTES).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 413) return undefined
    throw error
  })
}

/**
 * Limits the body before anything parses it. The limit of a route is found among the handlers that
 * match the request, so that an oversize request is refused up front and a route may allow more
 * than the default, not only less.
 */
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import type { AppEnv } from './env.ts'
import { requestError } from './errors.ts'

const routeLimits = new WeakMap<object, number>()

/** The limit of one route, as its middleware: `middleware: bodyLimit(256 * 1024)`. */
export function bodyLimit(maxBytes: number): MiddlewareHandler<AppEnv> {
  const limit: MiddlewareHandler<AppEnv> = async (c, next) => {
    // Reading the limit is the app's part, see limitBodies.
    if (c.get('maxBodyBytes') === undefined) {
      throw new Error(`Cannot limit a body to ${maxBytes} bytes outside an app made by createApp`)
    }
    await next()
  }
  routeLimits.set(limit, maxBytes)
  return limit
}

/** For the app: applies the limit of the matched route, or else the default. */
export function limitBodies(defaultBytes: number): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const maxBytes = matchedRoutes(c).reduce(
      (limit, { handler }) => routeLimits.get(findTargetHandler(handler)) ?? limit,
      defaultBytes,
    )
    c.set('maxBodyBytes', maxBytes)
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') await enforce(c, maxBytes)
    await next()
  }
}

async function enforce(c: Context<AppEnv>, maxBytes: number): Promise<void> {
  const declared = c.req.header('content-length')
  if (declared !== undefined && Number(declared) > maxBytes) throw tooLarge(maxBytes)
  if (lengthIsTrue(c)) return

  const { body } = c.req.raw
  if (body === null) return
  const bytes = await readUpTo(body, maxBytes)
  // Not a copy of the request as a whole: that of Node's server is one in name only.
  const { url, method, headers, signal } = c.req.raw
  c.req.raw = new Request(url, { method, headers, signal, body: bytes })
}

/** Node's parser gives no byte more than Content-Length says, and none without a length or chunks. */
function lengthIsTrue(c: Context<AppEnv>): boolean {
  const env: unknown = c.env
  const isNode = typeof env === 'object' && env !== null && 'incoming' in env
  return isNode && c.req.header('transfer-encoding') === undefined
}

async function readUpTo(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop cancels the stream: the rest is not read.
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}

function tooLarge(maxBytes: number) {
  return requestError('too_large', { data: { maxBytes } })
}

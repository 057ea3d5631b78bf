/**
 * Limits the body before anything parses it. The limit of a route is found among the handlers that
 * match the request, so that a request that declares an oversize body is refused up front and a route may
 * allow more than the default, not only less. The body itself is read when a handler asks for it, after
 * permissions and lookups.
 */
import type { BudgetedRead } from '@strongroom/platform/read-body'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import type { AppEnv } from './env.ts'
import { RETRY_AFTER_SECONDS } from './capacity.ts'
import { requestError, serverError } from './errors.ts'

const routeLimits = new WeakMap<object, number>()

/** The limit of one route, as its middleware: `middleware: bodyLimit(256 * 1024)`. */
export function bodyLimit(maxBytes: number): MiddlewareHandler<AppEnv> {
  const limit: MiddlewareHandler<AppEnv> = async (c, next) => {
    // The app applies the limit, see limitBodies.
    if (c.get('maxBodyBytes') === undefined) {
      throw new Error(`Cannot limit a body to ${maxBytes} bytes outside an app of createApp`)
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
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') enforce(c, maxBytes)
    await next()
  }
}

function enforce(c: Context<AppEnv>, maxBytes: number): void {
  const { bodyBytes } = c.get('request')
  if (bodyBytes === 0) return
  if (bodyBytes !== undefined && bodyBytes > maxBytes) throw tooLarge(maxBytes)
  let reading: Promise<Uint8Array<ArrayBuffer>> | undefined
  replaceBody(c.req.raw, () => (reading ??= readCounted(c, maxBytes)))
}

async function readCounted(c: Context<AppEnv>, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const bytes = requireBody(await c.get('call').readBody(maxBytes), maxBytes)
    return bytes as Uint8Array<ArrayBuffer>
  } catch (error) {
    // Validators report every error of a body as malformed JSON.
    c.set('bodyError', error)
    throw error
  }
}

/** Replaces the ways to read a body. Own properties, because a copy of Node's request is one in name only. */
function replaceBody(raw: Request, read: () => Promise<Uint8Array<ArrayBuffer>>): void {
  const contentType = raw.headers.get('content-type')
  const headers: Record<string, string> =
    contentType === null ? {} : { 'content-type': contentType }
  const response = async () => new Response(await read(), { headers })
  const ways = {
    arrayBuffer: async () => {
      const { buffer, byteOffset, byteLength } = await read()
      return buffer.slice(byteOffset, byteOffset + byteLength)
    },
    text: async () => (await response()).text(),
    json: async () => (await response()).json(),
    blob: async () => (await response()).blob(),
    formData: async () => (await response()).formData(),
  }
  for (const [name, value] of Object.entries(ways)) Object.defineProperty(raw, name, { value })
  Object.defineProperty(raw, 'body', {
    get: () => {
      throw new Error('Read a body with the methods of the request: its stream is not limited')
    },
  })
}

/** The bytes of a body, or the error for the client. */
export function requireBody<Bytes extends Uint8Array>(
  read: BudgetedRead<Bytes>,
  maxBytes: number,
): Bytes {
  if (read.kind === 'read') return read.bytes
  if (read.kind === 'too_large') throw tooLarge(maxBytes)
  if (read.kind === 'incomplete') throw requestError('incomplete')
  throw serverError('body_overloaded', { headers: { 'retry-after': RETRY_AFTER_SECONDS } })
}

function tooLarge(maxBytes: number) {
  return requestError('too_large', { data: { maxBytes } })
}

/**
 * Limits the body before anything parses it. The limit of a route is found among the handlers that
 * match the request, so that an oversize request is refused up front and a route may allow more
 * than the default, not only less.
 */
import type { BodyRead } from '@strongroom/platform/read-body'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import type { AppEnv } from './env.ts'
import { requestError } from './errors.ts'

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
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') await enforce(c, maxBytes)
    await next()
  }
}

async function enforce(c: Context<AppEnv>, maxBytes: number): Promise<void> {
  const request = c.get('request')
  if (request.bodyBytes === undefined) {
    const body = requireBody(await request.readBody(maxBytes), maxBytes)
    // Not a copy of the raw request: Node's is one in name only.
    const { url, method, headers, signal } = c.req.raw
    c.req.raw = new Request(url, { method, headers, signal, body })
  } else if (request.bodyBytes > maxBytes) throw tooLarge(maxBytes)
}

/** The bytes of a body, or the error for the client. */
export function requireBody<Bytes extends Uint8Array>(
  read: BodyRead<Bytes>,
  maxBytes: number,
): Bytes {
  if (read.kind === 'read') return read.bytes
  throw read.kind === 'too_large' ? tooLarge(maxBytes) : requestError('incomplete')
}

function tooLarge(maxBytes: number) {
  return requestError('too_large', { data: { maxBytes } })
}

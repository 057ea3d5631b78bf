/**
 * Hot routes: bytes in, text out. For routes called so often that the Hono app around a request would
 * cost more than the request itself. They run in the harness directly; the app runs them for paths
 * that need decoding, with the same responses.
 */
import type { Handler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { ServiceRoutes } from '../service.ts'
import { requireBody } from './body-limit.ts'
import type { AppEnv } from './env.ts'
import { type HttpResponse, queryOf, type Route } from './request.ts'

export interface HotRoute {
  methods: readonly string[]
  /** With one parameter at most: `/in/:sourceId`, `/v1/secrets/:id/reveal`. */
  path: `/${string}`
  /** The path starts at the root of the server, wherever the service is mounted. */
  atRoot?: boolean
  maxBodyBytes: number
  /**
   * Runs before the body is read, so that a body for something that does not exist is never held. Throws
   * an `ApiError`, or returns undefined if there is nothing to wait for. `handle` has to check again.
   */
  admit?(request: HotRequestHead): Promise<void> | undefined
  /**
   * Whose request it is, if that is known without waiting: one owner may have only a part of the requests
   * that run at the same time.
   */
  ownerOf?(parameter: string): string | undefined
  /** From the end of the request body until the response; the harness has a default. */
  timeoutMs?: number
  /** Throws an `ApiError` for what the client may see. */
  handle(request: HotRequest): Promise<HttpResponse>
}

export interface HotRequestHead {
  method: string
  /** The value of the path's parameter, or '' if it has none. */
  parameter: string
}

export interface HotRequest extends HotRequestHead {
  /** As sent, without its question mark. */
  query: string | undefined
  /** Alternating names and values, as sent. */
  rawHeaders: readonly string[]
  body: Uint8Array
  clientAddress: string | undefined
}

/** The hot route of a request; undefined if the app has to run it. */
export type HotMatcher = (method: string, target: string) => Route | undefined

export interface MountedHotRoute extends Route {
  methods: readonly string[]
}

/** The hot routes of a service that is mounted at a path. */
export function mountHotRoutes(
  { hotRoutes = [] }: Pick<ServiceRoutes, 'hotRoutes'>,
  service: string,
  at: string,
): MountedHotRoute[] {
  return hotRoutes.map((route) => {
    const pattern = route.atRoot || at === '/' ? route.path : at + route.path
    const { prefix, suffix } = splitPattern(pattern)
    const around = prefix.length + (suffix?.length ?? 0)
    const parameterIn = (target: string, query: string | undefined) => {
      const pathLength = query === undefined ? target.length : target.length - query.length - 1
      return target.slice(prefix.length, prefix.length + pathLength - around)
    }
    return {
      service,
      pattern,
      isHot: true,
      ownerOf: (target) => route.ownerOf?.(parameterIn(target, queryOf(target))),
      methods: route.methods,
      timeoutMs: route.timeoutMs,
      async handle(request, call) {
        const { method, target, rawHeaders } = request
        const query = queryOf(target)
        const parameter = parameterIn(target, query)
        const admission = route.admit?.({ method, parameter })
        if (admission) await admission
        const body = requireBody(await call.readBody(route.maxBodyBytes), route.maxBodyBytes)
        call.enterHotRoute(route.ownerOf?.(parameter))
        call.restartDeadline()
        const { clientAddress } = call
        return route.handle({ method, parameter, query, rawHeaders, body, clientAddress })
      },
    }
  })
}

/** The route as a handler of the app. */
export function honoHandler(route: HotRoute): Handler<AppEnv> {
  const { path, timeoutMs } = route
  const name = /:([^/]+)/.exec(path)?.[1] ?? ''
  return async (c) => {
    const { method, target, rawHeaders } = c.get('request')
    const call = c.get('call')
    const parameter = c.req.param(name) ?? ''
    await route.admit?.({ method, parameter })
    const body = new Uint8Array(await c.req.arrayBuffer())
    call.enterHotRoute(route.ownerOf?.(parameter))
    if (timeoutMs !== undefined) call.timeoutMs = timeoutMs
    call.restartDeadline()
    const response = await route.handle({
      method,
      parameter,
      query: queryOf(target),
      rawHeaders,
      body,
      clientAddress: call.clientAddress,
    })
    const { status, contentType, headers = [] } = response
    for (let at = 0; at < headers.length; at += 2) c.header(headers[at]!, headers[at + 1])
    if (status === 204) return c.body(null, 204)
    if (contentType !== undefined) c.header('content-type', contentType)
    return c.body(response.body, status as ContentfulStatusCode)
  }
}

/** A parameter that needs no decoding; the app runs requests with any other. */
const PLAIN_PARAMETER = /^[\w-]{1,200}$/

export function createHotMatcher(routes: readonly MountedHotRoute[]): HotMatcher {
  const patterns = routes.map((route) => ({ route, ...splitPattern(route.pattern) }))

  return (method, target) => {
    const mark = target.indexOf('?')
    const path = mark < 0 ? target : target.slice(0, mark)
    for (const { route, prefix, suffix } of patterns) {
      if (!path.startsWith(prefix) || !route.methods.includes(method)) continue
      if (suffix === undefined) {
        if (path.length === prefix.length) return route
      } else if (path.endsWith(suffix)) {
        const parameter = path.slice(prefix.length, path.length - suffix.length)
        if (PLAIN_PARAMETER.test(parameter)) return route
      }
    }
    return undefined
  }
}

/** What is before and after the parameter; no suffix if there is no parameter. */
function splitPattern(pattern: string): { prefix: string; suffix: string | undefined } {
  const [prefix = '', rest] = pattern.split(':')
  return { prefix, suffix: rest?.slice(rest.includes('/') ? rest.indexOf('/') : rest.length) }
}

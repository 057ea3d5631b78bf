/**
 * Plain routes on Node's server, before and without the app. What the app does around every request
 * is done here too, by the same functions: ids, limits, headers, errors, the access line.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RunningService } from '../service.ts'
import type { AppOptions } from './app.ts'
import { discardRest, readBody } from './node-body.ts'
import { createReports } from './observe.ts'
import { plainMatcher } from './plain-match.ts'
import { type PlainRoute, queryOf } from './plain-route.ts'
import { requestIdOf } from './request-context.ts'
import { answerHeaders } from './security-headers.ts'
import { createProxyTrust, noProxies } from './trusted-proxies.ts'
import { errorAnswer } from './write-error.ts'

/** Answers the request, or leaves it to the app with false. */
export type NodeRoutes = (request: IncomingMessage, response: ServerResponse) => boolean

export type ServiceRoute = PlainRoute & { service: string }

/** The plain routes of a service that is mounted somewhere. */
export function mountedRoutes(
  running: Pick<RunningService, 'plainRoutes' | 'plainRootRoutes'>,
  service: string,
  at: string,
): ServiceRoute[] {
  const { plainRoutes = [], plainRootRoutes = [] } = running
  const below = (path: string) => (at === '/' ? path : at + path) as PlainRoute['path']
  return [
    ...plainRoutes.map((route) => ({ ...route, path: below(route.path), service })),
    ...plainRootRoutes.map((route) => ({ ...route, service })),
  ]
}

/** A body that is not wanted is not waited for, and nothing after it can be understood. */
function leaveUnread(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return
  response.setHeader('connection', 'close')
  response.once('finish', () => discardRest(request))
}

const MOST_ADDRESSES = 1_000
const LONGEST_WAY = 200

export function nodeRoutes(
  routes: readonly ServiceRoute[],
  options: Pick<AppOptions, 'log' | 'metrics' | 'publicUrl' | 'trustedProxies'>,
): NodeRoutes {
  const { log, publicUrl } = options
  const report = createReports(options)
  const proxies = createProxyTrust(options.trustedProxies ?? noProxies)
  const { forced, defaults } = answerHeaders({ publicUrl })
  const standing = [...forced, ...defaults].flat()
  const named = Object.fromEntries([...forced, ...defaults])
  const match = plainMatcher(routes)

  /** Senders come again and again from the same few addresses. */
  const addresses = new Map<string, string | undefined>()
  function addressOf(peer = '', forwardedFor = ''): string | undefined {
    const way = `${peer} ${forwardedFor}`
    if (addresses.has(way)) return addresses.get(way)
    const address = proxies.clientAddress(peer, forwardedFor)
    if (addresses.size >= MOST_ADDRESSES) addresses.clear()
    if (way.length <= LONGEST_WAY) addresses.set(way, address)
    return address
  }

  async function answer(
    route: ServiceRoute,
    parameter: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const started = performance.now()
    const { method = '', url = '', rawHeaders } = request
    const peer = request.socket.remoteAddress
    const isTrusted = proxies.trustsPeer(peer)
    const header = (name: string) => (isTrusted ? request.headers[name]?.toString() : undefined)
    const requestId = requestIdOf(header('x-request-id'))
    let status: number
    let code: string | undefined
    try {
      const body = await readBody(request, route.maxBodyBytes)
      const clientAddress = addressOf(peer, header('x-forwarded-for'))
      const query = queryOf(url)
      const given = { method, parameter, query, rawHeaders, body, clientAddress }
      const written = await route.handle(given)
      status = written.status
      // Names and values in turn: the fastest that Node takes.
      const headers = ['x-request-id', requestId, ...standing]
      if (status !== 204) {
        const length = Buffer.byteLength(written.body)
        headers.push('content-type', written.contentType, 'content-length', String(length))
      }
      response.writeHead(status, headers).end(status === 204 ? undefined : written.body)
    } catch (thrown) {
      const isCutOff = request.destroyed && !request.complete
      const error = errorAnswer(thrown, { isCutOff, log: () => log.child({ requestId }) })
      ;({ status, code } = error)
      const length = Buffer.byteLength(error.body)
      const own = { 'x-request-id': requestId, 'content-length': length }
      const headers = { ...named, ...error.headers, ...own }
      leaveUnread(request, response)
      response.writeHead(status, headers).end(error.body)
    }
    const { service, path } = route
    const durationMs = performance.now() - started
    report(requestId, { service, method, route: path, status, code, durationMs })
  }

  return (request, response) => {
    const found = match(request.method ?? '', request.url ?? '')
    if (!found) return false
    answer(found.route, found.parameter, request, response).catch((error: unknown) => {
      // Only what is written here can fail here, such as to a connection that is gone.
      log.error('Cannot answer a request', { error })
      response.destroy()
    })
    return true
  }
}

/**
 * The Hono app that every service is mounted in. It runs as one route inside the harness, which adds
 * ids, headers, metrics and the access log; a service adds routes and nothing else.
 */
import { OpenAPIHono } from '@hono/zod-openapi'
import { readStream } from '@strongroom/platform/read-body'
import type { Context, MiddlewareHandler } from 'hono'
import { createContext, useContext } from 'hono/jsx'
import { matchedRoutes } from 'hono/route'
import { TrieRouter } from 'hono/router/trie-router'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { limitBodies } from './body-limit.ts'
import type { AppEnv } from './env.ts'
import { errorResponse } from './error-response.ts'
import { requestError } from './errors.ts'
import { createHarness, type Handle, type HarnessOptions } from './harness.ts'
import { ErrorBody } from './openapi.ts'
import { type Call, headerPairs, type HttpRequest, type Route, toWeb } from './request.ts'
import { refuseInvalid } from './validation.ts'

/** `fetch` and `request` run the app inside its harness. */
export type App = OpenAPIHono<AppEnv> & {
  harness: Handle
  /** The app as a route for adapters. */
  mainRoute: Route<Response>
}

/** Undefined if the client should get the error instead. */
export type NotFoundPage = (c: Context<AppEnv>) => Promise<Response | undefined>

export interface AppOptions extends HarnessOptions {
  /** For routes without a `bodyLimit` of their own. */
  maxBodyBytes?: number
  /** The address of the connection, for requests that come through `fetch`; Node's by default. */
  peerAddress?: (request: Request) => string | undefined
  /** What people see at an unknown address; without it they get the error too. */
  notFoundPage?: NotFoundPage
}

/** Large enough for the JSON of every service; routes that take more have a `bodyLimit`. */
const DEFAULT_BODY_BYTES = 128 * 1024

export function createApp(options: AppOptions): App {
  const { maxBodyBytes = DEFAULT_BODY_BYTES, peerAddress } = options
  renderWithoutContext()
  const app = new OpenAPIHono<AppEnv>({ defaultHook: refuseInvalid })
  app.use(shareCall)
  app.use(limitBodies(maxBodyBytes))
  app.notFound(createNotFound(app, options.notFoundPage))
  app.onError(renderError)
  app.openAPIRegistry.register('Error', ErrorBody)

  const dispatch = app.fetch
  const harness = createHarness(options)
  const mainRoute: Route<Response> = {
    service: 'server',
    pattern: 'unmatched',
    handle: async (request, call) =>
      dispatch(request.web(), { ...request.platform, request, call }),
  }
  const fetch = async (web: Request, env: object = {}) =>
    toWeb(await harness(mainRoute, webRequest(web, env, peerAddress)))
  return Object.assign(app, { harness, mainRoute, fetch })
}

/** Gives handlers the call, and the call what the app knows about it. */
const shareCall: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { request, call } = c.env as { request: HttpRequest; call: Call }
  c.set('request', request)
  c.set('call', call)
  c.set('log', call.log)
  const routes = matchedRoutes(c)
  // Known before it runs, for a request that misses its deadline.
  const expected = routes.find(({ method }) => method !== 'ALL')?.path
  if (expected !== undefined) call.route = expected
  await next()
  const last = routes[c.req.routeIndex]
  if (last && last.method !== 'ALL') call.route = last.path
  else if (last && expected === undefined && c.res.status !== 404 && c.res.status !== 405)
    call.route = last.path
}

/** On `c`, so that headers that a handler set before it failed stay, such as a cleared cookie. */
function renderError(thrown: unknown, c: Context<AppEnv>): Response {
  const error = errorResponse(c.get('bodyError') ?? thrown, c.get('request'), c.get('call'))
  const response = c.body(error.body, error.status as ContentfulStatusCode)
  for (const [name, value] of headerPairs(error)) response.headers.set(name, value)
  return response
}

function createNotFound(app: OpenAPIHono<AppEnv>, page: NotFoundPage | undefined) {
  const methodsOf = allowedMethods(app)
  return async (c: Context<AppEnv>): Promise<Response> => {
    const methods = methodsOf(c.req.path)
    if (methods.length > 0 && !methods.includes(c.req.method)) {
      const headers = { allow: methods.join(', ') }
      return renderError(requestError('method_not_allowed', { headers }), c)
    }
    const error = requestError('not_found')
    const shown = await page?.(c)
    if (shown === undefined) return renderError(error, c)
    c.get('call').errorCode = error.code
    return shown
  }
}

/** The methods of a path, to tell a wrong method from a wrong path. */
function allowedMethods(app: OpenAPIHono<AppEnv>): (path: string) => string[] {
  let router: TrieRouter<string> | undefined
  let known = 0
  return (path) => {
    if (!router || known !== app.routes.length) {
      router = new TrieRouter()
      known = app.routes.length
      for (const { method, path: pattern } of app.routes) {
        // ALL is middleware, and a pattern for everything says nothing about this path.
        if (method !== 'ALL' && pattern !== '/*' && pattern !== '*')
          router.add('ALL', pattern, method)
      }
    }
    const methods = new Set(router.match('ALL', path)[0].map(([method]) => method))
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods].toSorted()
  }
}

/**
 * hono/jsx follows the contexts of a page across promises with AsyncLocalStorage, and from the first
 * page on every promise of the process costs nearly three times as much. Our pages have no contexts,
 * so hono looks for AsyncLocalStorage, which it does once, while there is none to be found.
 */
function renderWithoutContext(): void {
  const { getBuiltinModule } = process
  process.getBuiltinModule = () => undefined
  try {
    useContext(createContext(undefined))
  } finally {
    process.getBuiltinModule = getBuiltinModule
  }
}

/** A request of the web platform, as in tests. */
function webRequest(
  web: Request,
  env: object,
  peerAddress: AppOptions['peerAddress'] = () => nodePeerAddress(env),
): HttpRequest {
  const { pathname, search } = new URL(web.url)
  // Before the app replaces it.
  const { body } = web
  return {
    method: web.method,
    target: pathname + search,
    rawHeaders: [...web.headers].flat(),
    peerAddress: peerAddress(web),
    bodyBytes: body === null ? 0 : undefined,
    async readBody(maxBytes, budget) {
      if (Number(web.headers.get('content-length') ?? 0) > maxBytes) return { kind: 'too_large' }
      const read = await readStream(body ?? [], maxBytes)
      if (read.kind === 'read' && !budget.take(read.bytes.length)) return { kind: 'no_capacity' }
      return read
    },
    isAborted: () => false,
    onDisconnect: (listener) => web.signal.addEventListener('abort', listener, { once: true }),
    web: () => web,
    platform: env,
  }
}

function nodePeerAddress(env: { incoming?: { socket?: { remoteAddress?: string } } }) {
  return env.incoming?.socket?.remoteAddress
}

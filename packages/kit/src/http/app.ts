/**
 * The app that every service is mounted in. What must hold for each answer is decided here once:
 * ids, limits, headers, errors, the access line; a service adds routes and nothing else.
 */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { allowedMethods } from './allowed-methods.ts'
import { limitBodies } from './body-limit.ts'
import type { AppEnv } from './env.ts'
import { requestError } from './errors.ts'
import { ErrorBody } from './openapi.ts'
import { observe } from './observe.ts'
import { renderWithoutContext } from './render-context.ts'
import { nodePeerAddress, requestContext } from './request-context.ts'
import { securityHeaders } from './security-headers.ts'
import { createProxyTrust, noProxies, type TrustedProxies } from './trusted-proxies.ts'
import { refuseInvalid } from './validation.ts'
import { writeError } from './write-error.ts'

/** Undefined for who should get the error instead. */
export type NotFoundPage = (c: Context<AppEnv>) => Promise<Response | undefined>

export interface AppOptions {
  log: Log
  metrics: Metrics
  /** Where people reach the server. */
  publicUrl?: string | undefined
  /** None unless told. */
  trustedProxies?: TrustedProxies
  /** For routes without a `bodyLimit` of their own. */
  maxBodyBytes?: number
  /** Where the address of the connection is found; Node's server unless told. */
  peerAddress?: (c: Context) => string | undefined
  /** What people see where nothing is; without it they get the error too. */
  notFoundPage?: NotFoundPage
}

/** Large enough for any JSON that a service takes; what takes more says so with `bodyLimit`. */
const DEFAULT_BODY_BYTES = 128 * 1024

export function createApp(options: AppOptions): OpenAPIHono<AppEnv> {
  const { log, metrics, publicUrl, maxBodyBytes = DEFAULT_BODY_BYTES } = options
  renderWithoutContext()
  const proxies = createProxyTrust(options.trustedProxies ?? noProxies)
  const app = new OpenAPIHono<AppEnv>({ defaultHook: refuseInvalid })

  app.use(requestContext({ log, proxies, peerAddress: options.peerAddress ?? nodePeerAddress }))
  app.use(observe(metrics))
  app.use(securityHeaders({ publicUrl }))
  app.use(async (c, next) => {
    try {
      await next()
    } catch (thrown) {
      // Hono gives onError only what is an Error; this is for the rest, and for onError itself.
      c.res = writeError(thrown, c)
    }
  })
  app.use(limitBodies(maxBodyBytes))

  const methodsOf = allowedMethods(app)
  app.notFound(async (c) => {
    const methods = methodsOf(c.req.path)
    if (methods.length === 0 || methods.includes(c.req.method)) {
      const error = requestError('not_found')
      const page = await options.notFoundPage?.(c)
      if (page === undefined) return writeError(error, c)
      c.set('errorCode', error.code)
      return page
    }
    return writeError(
      requestError('method_not_allowed', { headers: { allow: methods.join(', ') } }),
      c,
    )
  })
  app.onError(writeError)
  app.openAPIRegistry.register('Error', ErrorBody)
  return app
}

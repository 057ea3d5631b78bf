/**
 * What a route needs of those who call it. Every route declares it by spreading one of these into its
 * definition; one that forgot is not served, see `declaredOnly`.
 */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv, AppVariables } from '@strongroom/kit/http/env'
import { operatorOnly } from '@strongroom/kit/http/operator-only'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { Operators } from '@strongroom/kit/operators'
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import type { Authenticate } from '../auth/authenticate.ts'
import { type Permission, type Principal, requirePermission } from '../auth/principal.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { ferryhookError } from '../errors.ts'

export interface PrincipalEnv {
  Variables: AppVariables & { principal: Principal }
}

/** `session`: a signed-in user, not a key. `operator`: not a user at all. */
type Need = Permission | 'session' | 'operator' | 'public'

/** As the OpenAPI document names it. */
export const PERMISSION = 'x-permission'

const declared = new WeakSet<object>()

export type Permissions = ReturnType<typeof createPermissions>

export function createPermissions(deps: {
  authenticate: Authenticate
  layer: Pick<DataLayer, 'rates'>
  operators: Pick<Operators, 'verify'>
}) {
  const { authenticate, layer, operators } = deps

  function ofUsers(needed: Permission | 'session') {
    const check: MiddlewareHandler<PrincipalEnv> = async (c, next) => {
      const principal = await principalOf(c.req.header('authorization'))
      await countRequest(principal)
      if (needed === 'session' && principal.sessionId === undefined) {
        throw ferryhookError('session_required')
      }
      requirePermission(principal, needed === 'session' ? 'admin' : needed)
      c.set('principal', principal)
      await next()
    }
    return { ...declaration(needed, check), security: [{ ferryhook: [] }] }
  }

  async function principalOf(authorization = ''): Promise<Principal> {
    const [, token] = /^Bearer ([^\s]{1,4096})$/i.exec(authorization) ?? []
    const principal = token === undefined ? undefined : await authenticate(token)
    if (principal) return principal
    throw ferryhookError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
  }

  async function countRequest({ keyId, user }: Principal): Promise<void> {
    const ofKey = keyId === undefined ? undefined : await layer.rates.take('key', keyId)
    if (ofKey && !ofKey.admitted) throw rateLimited(ofKey)
    const ofUser = await layer.rates.take('user', user.userId)
    if (!ofUser.admitted) throw rateLimited(ofUser)
  }

  const anybody: MiddlewareHandler<AppEnv> = async (_, next) => {
    await next()
  }

  return {
    public: declaration('public', anybody),
    read: ofUsers('read'),
    write: ofUsers('write'),
    admin: ofUsers('admin'),
    session: ofUsers('session'),
    operator: {
      ...declaration('operator', operatorOnly(operators)),
      security: [{ operator: [] }],
    },
  }
}

function declaration<Handler extends object>(need: Need, middleware: Handler) {
  declared.add(middleware)
  return { middleware, [PERMISSION]: need, tags: ['Ferryhook'] }
}

/** A permission with more middleware behind it: `...and(permit.write, bodyLimit(…))`. */
export function and<Declared extends { middleware: object }, More extends object>(
  permission: Declared,
  more: More,
): Omit<Declared, 'middleware'> & { middleware: [Declared['middleware'], More] } {
  return { ...permission, middleware: [permission.middleware, more] }
}

/** For the app that the routes are in: answers nothing that does not say what it needs. */
export const declaredOnly: MiddlewareHandler<AppEnv> = async (c, next) => {
  const routes = matchedRoutes(c)
  const isRoute = routes.some(({ method }) => method !== 'ALL')
  const isDeclared = routes.some(({ handler }) => declared.has(findTargetHandler(handler)))
  if (isRoute && !isDeclared) throw new Error('Cannot serve a route that declares no permission')
  await next()
}

export function describeSecurity(routes: OpenAPIHono<AppEnv>): void {
  routes.openAPIRegistry.registerComponent('securitySchemes', 'ferryhook', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of Ferryhook (`fh_live_…`), or the access token of a signed-in user',
  })
}

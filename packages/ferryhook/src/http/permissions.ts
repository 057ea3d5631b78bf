/** The permission that a route requires: spread one of these into its definition. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv, AppVariables } from '@strongroom/kit/http/env'
import { parseBearer } from '@strongroom/kit/bearer'
import { declarePermissions, type OperatorVerifier } from '@strongroom/kit/http/permissions'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { MiddlewareHandler } from 'hono'
import {
  type Authenticate,
  type Permission,
  type Principal,
  requirePermission,
} from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import type { Stores } from '../stores.ts'

export interface PrincipalEnv {
  Variables: AppVariables & { principal: Principal }
}

/** `session`: a signed-in user, not an API key. */
type Requirement = Permission | 'session'

const declare = declarePermissions<Requirement>('Ferryhook')

export type Permissions = ReturnType<typeof createPermissions>

export function createPermissions(deps: {
  authenticate: Authenticate
  stores: Pick<Stores, 'rateLimits'>
  operators: OperatorVerifier
}) {
  const { authenticate, stores, operators } = deps

  function forUsers(needed: Requirement) {
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
    return { ...declare.need(needed, check), security: [{ ferryhook: [] }] }
  }

  async function principalOf(authorization: string | undefined): Promise<Principal> {
    const token = parseBearer(authorization)
    const principal = token === undefined ? undefined : await authenticate(token)
    if (principal) return principal
    throw ferryhookError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
  }

  async function countRequest({ keyId, user }: Principal): Promise<void> {
    const byKey = keyId === undefined ? undefined : await stores.rateLimits.take('key', keyId)
    if (byKey && !byKey.admitted) throw rateLimited(byKey)
    const byUser = await stores.rateLimits.take('user', user.userId)
    if (!byUser.admitted) throw rateLimited(byUser)
  }

  return {
    public: declare.public,
    read: forUsers('read'),
    write: forUsers('write'),
    admin: forUsers('admin'),
    session: forUsers('session'),
    operator: declare.operator(operators, 'ferryhook'),
  }
}

export function describeSecurity(routes: OpenAPIHono<AppEnv>): void {
  routes.openAPIRegistry.registerComponent('securitySchemes', 'ferryhook', {
    type: 'http',
    scheme: 'bearer',
    description: 'A Ferryhook API key (`fh_live_…`) or the access token of a signed-in user',
  })
}

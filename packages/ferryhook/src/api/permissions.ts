/** What a route needs of those who call it: spread one of these into its definition. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { declarations } from '@strongroom/kit/http/declared-permission'
import type { AppEnv, AppVariables } from '@strongroom/kit/http/env'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { Operators } from '@strongroom/kit/operators'
import type { MiddlewareHandler } from 'hono'
import type { Authenticate } from '../auth/authenticate.ts'
import { type Permission, type Principal, requirePermission } from '../auth/principal.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { ferryhookError } from '../errors.ts'

export interface PrincipalEnv {
  Variables: AppVariables & { principal: Principal }
}

/** `session`: a signed-in user, not a key. */
type Need = Permission | 'session'

const declare = declarations<Need>('Ferryhook')

export type Permissions = ReturnType<typeof createPermissions>

export function createPermissions(deps: {
  authenticate: Authenticate
  layer: Pick<DataLayer, 'rates'>
  operators: Pick<Operators, 'verify'>
}) {
  const { authenticate, layer, operators } = deps

  function ofUsers(needed: Need) {
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

  return {
    public: declare.public,
    read: ofUsers('read'),
    write: ofUsers('write'),
    admin: ofUsers('admin'),
    session: ofUsers('session'),
    operator: declare.operator(operators),
  }
}

export function describeSecurity(routes: OpenAPIHono<AppEnv>): void {
  routes.openAPIRegistry.registerComponent('securitySchemes', 'ferryhook', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of Ferryhook (`fh_live_…`), or the access token of a signed-in user',
  })
}

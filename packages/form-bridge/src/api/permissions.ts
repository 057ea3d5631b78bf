/**
 * What a route needs of those who call it. Every route declares it by spreading one of these into its
 * definition; one that forgot is not served, see `declaredOnly`.
 */
import type { AppEnv, AppVariables } from '@strongroom/kit/http/env'
import { operatorOnly } from '@strongroom/kit/http/operator-only'
import type { Operators } from '@strongroom/kit/operators'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import type { AgencyDesk } from '../agencies/agency-desk.ts'
import type { Authenticated } from '../auth/authenticate.ts'
import type { SiteGuard, SiteNeeds } from '../auth/site-guard.ts'
import type { Agency } from '../items/agency.ts'
import { type RateGuard, rateLimited } from '../limits/guard.ts'

export interface SiteEnv {
  Variables: AppVariables & { asked: Authenticated }
}
export interface AgencyEnv {
  Variables: AppVariables & { agency: Agency }
}

/** As the OpenAPI document names it. */
export const PERMISSION = 'x-permission'

const declared = new WeakSet<object>()

export type Permissions = ReturnType<typeof createPermissions>

export function createPermissions(deps: {
  siteGuard: SiteGuard
  agencyDesk: Pick<AgencyDesk, 'ofKey'>
  guard: RateGuard
  operators: Pick<Operators, 'verify'>
}) {
  const { siteGuard, agencyDesk, guard, operators } = deps

  const anybody: MiddlewareHandler<AppEnv> = async (_, next) => {
    await next()
  }

  const ofAgency: MiddlewareHandler<AgencyEnv> = async (c, next) => {
    const [, key = ''] = /^Bearer (\S{1,200})$/i.exec(c.req.header('authorization') ?? '') ?? []
    const agency = await agencyDesk.ofKey(key)
    const decision = await guard.take({ scope: 'agency', agency_id: agency.agency_id })
    if (!decision.admitted) throw rateLimited('agency', decision)
    c.set('agency', agency)
    await next()
  }

  return {
    public: declaration('public', anybody),
    agency: { ...declaration('agency', ofAgency), security: [{ formBridgeAgency: [] }] },
    operator: { ...declaration('operator', operatorOnly(operators)), security: [{ operator: [] }] },
    site(needs: SiteNeeds) {
      const check: MiddlewareHandler<SiteEnv> = async (c, next) => {
        c.set('asked', await siteGuard.admit(c, needs))
        await next()
      }
      const either = needs.signature ? [] : [{ formBridgeKey: [] }]
      return { ...declaration('site', check), security: [{ formBridgeSignature: [] }, ...either] }
    },
  }
}

function declaration<Handler extends object>(need: string, middleware: Handler) {
  declared.add(middleware)
  return { middleware, [PERMISSION]: need, tags: ['Form-Bridge'] }
}

/** A permission with more middleware behind it: `...and(permit.operator, bodyLimit(…))`. */
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

export function describeSecurity({ openAPIRegistry }: OpenAPIHono<AppEnv>): void {
  const schemes = {
    formBridgeSignature: {
      type: 'apiKey',
      in: 'header',
      name: 'X-FB-Signature',
      description: 'With X-FB-Site, X-FB-Timestamp and X-FB-Nonce: see form-bridge-protocol.md',
    },
    formBridgeKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'The key of a site: `fb_live_…`',
    },
    formBridgeAgency: {
      type: 'http',
      scheme: 'bearer',
      description: 'The key of an agency: `fb_agency_…`',
    },
  } as const
  for (const [name, scheme] of Object.entries(schemes)) {
    openAPIRegistry.registerComponent('securitySchemes', name, scheme)
  }
}

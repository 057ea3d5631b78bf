/** What a route needs of those who call it: spread one of these into its definition. */
import { declarations } from '@strongroom/kit/http/declared-permission'
import type { AppEnv, AppVariables } from '@strongroom/kit/http/env'
import type { Operators } from '@strongroom/kit/operators'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { AgencyDesk } from '../agencies/agency-desk.ts'
import type { Authenticated } from '../auth/authenticate.ts'
import type { SiteGuard, SiteNeeds } from '../auth/site-guard.ts'
import type { Agency } from '../items/agency.ts'
import { type RateGuard, rateLimited } from '../limits/guard.ts'
import { headerForms } from '../signing/signed-request.ts'

export interface SiteEnv {
  Variables: AppVariables & { asked: Authenticated }
}
export interface AgencyEnv {
  Variables: AppVariables & { agency: Agency }
}

const declare = declarations<'agency' | 'site'>('Form-Bridge')

export type Permissions = ReturnType<typeof createPermissions>

export function createPermissions(deps: {
  siteGuard: SiteGuard
  agencyDesk: Pick<AgencyDesk, 'ofKey'>
  guard: RateGuard
  operators: Pick<Operators, 'verify'>
}) {
  const { siteGuard, agencyDesk, guard, operators } = deps

  const ofAgency: MiddlewareHandler<AgencyEnv> = async (c, next) => {
    const [, key = ''] = /^Bearer (\S{1,200})$/i.exec(c.req.header('authorization') ?? '') ?? []
    const agency = await agencyDesk.ofKey(key)
    const decision = await guard.take({ scope: 'agency', agency_id: agency.agency_id })
    if (!decision.admitted) throw rateLimited('agency', decision)
    c.set('agency', agency)
    await next()
  }

  return {
    public: declare.public,
    agency: { ...declare.need('agency', ofAgency), security: [{ formBridgeAgency: [] }] },
    operator: declare.operator(operators),
    site(needs: SiteNeeds) {
      const check: MiddlewareHandler<SiteEnv> = async (c, next) => {
        c.set('asked', await siteGuard.admit(c, needs))
        await next()
      }
      // First, since a call with the key is the simpler one.
      const either = needs.signature ? [] : [{ formBridgeKey: [] }]
      return {
        ...declare.need('site', check),
        security: [...either, { formBridgeSignature: [] }],
        parameters: signatureParameters({ required: needs.signature === true }),
      }
    },
  }
}

/** Only described here: the guard reads them, and says no in its own words. */
function signatureParameters({ required }: { required: boolean }) {
  const header = (name: string, form: RegExp, description: string, example: string) => ({
    name,
    in: 'header' as const,
    required,
    description: required ? description : `${description}; only with a signature`,
    schema: { type: 'string' as const, pattern: form.source },
    example,
  })
  const { site, timestamp, nonce } = headerForms
  return [
    header('X-FB-Site', site, 'The id of the site', 'site_0123456789abcdef'),
    header('X-FB-Timestamp', timestamp, 'When it was signed, in epoch seconds', '1767225600'),
    header('X-FB-Nonce', nonce, 'New for each request', '0123456789abcdef0123456789abcdef'),
  ]
}

export function describeSecurity({ openAPIRegistry }: OpenAPIHono<AppEnv>): void {
  const schemes = {
    formBridgeSignature: {
      type: 'apiKey',
      in: 'header',
      name: 'X-FB-Signature',
      description:
        '`v1=…` over the request, with X-FB-Site, X-FB-Timestamp and X-FB-Nonce: see form-bridge-protocol.md',
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

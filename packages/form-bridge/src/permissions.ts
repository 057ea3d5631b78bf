/** Who may call a route. Spread one of these permissions into the definition of the route. */
import { parseBearer } from '@strongroom/kit/bearer'
import type { AppEnv, AppVariables } from '@strongroom/kit/http/env'
import { errorResponses } from '@strongroom/kit/http/openapi'
import { declarePermissions, type OperatorVerifier } from '@strongroom/kit/http/permissions'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { Agency } from './agencies/item.ts'
import type { AgencyService } from './agencies/service.ts'
import {
  type Authenticated,
  MAX_KEY_LENGTH,
  type SiteAuthorization,
  type SiteRequirements,
} from './authentication/service.ts'
import { HEADER_PATTERNS } from './authentication/signature.ts'
import { formBridgeError } from './errors.ts'
import type { RateLimits } from './limits/service.ts'

export interface SiteEnv {
  Variables: AppVariables & { auth: Authenticated }
}
export interface SignerEnv {
  Variables: AppVariables & { signer: Authenticated | undefined }
}
export interface AgencyEnv {
  Variables: AppVariables & { agency: Agency }
}

/** Errors of every route for sites. */
export const siteRequestErrors = errorResponses(
  formBridgeError,
  'unauthorized',
  'timestamp_out_of_range',
  'nonce_used',
  'site_suspended',
  'site_disabled',
  'site_moved',
  'rate_limited',
)

/** Errors of routes for sites that need a signature. */
export const signedRequestErrors = {
  ...siteRequestErrors,
  ...errorResponses(formBridgeError, 'signature_required'),
}

/** Errors of routes for sites that need a signature with the current secret. */
export const currentKeysErrors = {
  ...signedRequestErrors,
  ...errorResponses(formBridgeError, 'signature_required', 'keys_replaced'),
}

const declare = declarePermissions<'agency' | 'site'>('Form-Bridge')

export type Permissions = ReturnType<typeof createPermissions>

export function createPermissions(deps: {
  siteAuthorization: SiteAuthorization
  agencyService: Pick<AgencyService, 'authenticate'>
  limits: RateLimits
  operators: OperatorVerifier
}) {
  const { siteAuthorization, agencyService, limits, operators } = deps

  const requireAgency: MiddlewareHandler<AgencyEnv> = async (c, next) => {
    const key = parseBearer(c.req.header('authorization'), MAX_KEY_LENGTH) ?? ''
    const agency = await agencyService.authenticate(key)
    await limits.require({ scope: 'agency', agency_id: agency.agency_id })
    c.set('agency', agency)
    await next()
  }

  // Before the body is parsed, because the signature covers its bytes.
  const findSigner: MiddlewareHandler<SignerEnv> = async (c, next) => {
    c.set('signer', await siteAuthorization.findSigner(c))
    await next()
  }

  return {
    public: declare.public,
    /** Public; a signature, if there is one, must be valid. */
    optionallySigned: {
      ...declare.need('public', findSigner),
      parameters: [signatureParameter, ...signatureParameters({ required: false })],
    },
    agency: { ...declare.need('agency', requireAgency), security: [{ formBridgeAgency: [] }] },
    operator: declare.operator(operators, 'form-bridge'),
    site(requirements: SiteRequirements) {
      const requireSite: MiddlewareHandler<SiteEnv> = async (c, next) => {
        c.set('auth', await siteAuthorization.authorizeSite(c, requirements))
        await next()
      }
      // The key comes first, because it is the simpler way to call a route.
      const byKey = requirements.signature ? [] : [{ formBridgeKey: [] }]
      return {
        ...declare.need('site', requireSite),
        security: [...byKey, { formBridgeSignature: [] }],
        parameters: signatureParameters({ required: requirements.signature === true }),
      }
    },
  }
}

const signatureParameter = {
  name: 'X-FB-Signature',
  in: 'header' as const,
  required: false,
  description: 'Only to move a site: signed with the secret of the site that moves',
  schema: { type: 'string' as const, pattern: HEADER_PATTERNS.signature.source },
}

/** For the documentation only: `authorizeSite` checks the headers and returns its own errors. */
function signatureParameters({ required }: { required: boolean }) {
  const header = (name: string, pattern: RegExp, description: string, example: string) => ({
    name,
    in: 'header' as const,
    required,
    description: required ? description : `${description}; only with a signature`,
    schema: { type: 'string' as const, pattern: pattern.source },
    example,
  })
  const { site, timestamp, nonce } = HEADER_PATTERNS
  return [
    header('X-FB-Site', site, 'The site id', 'site_0123456789abcdef'),
    header('X-FB-Timestamp', timestamp, 'The time of signing in epoch seconds', '1767225600'),
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
      description: 'The API key of a site: `fb_live_…`',
    },
    formBridgeAgency: {
      type: 'http',
      scheme: 'bearer',
      description: 'The API key of an agency: `fb_agency_…`',
    },
  } as const
  for (const [name, scheme] of Object.entries(schemes)) {
    openAPIRegistry.registerComponent('securitySchemes', name, scheme)
  }
}

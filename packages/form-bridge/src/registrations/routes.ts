/** Routes to register a site and to exchange the registration for credentials. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import type { Context } from 'hono'
import { formBridgeError } from '../errors.ts'
import { Email } from '../formats.ts'
import type { Callers } from '../limits/caller.ts'
import {
  KeyText,
  PluginVersion,
  RegistrationCredentials,
  SiteUrl,
  WordPressVersion,
} from '../params.ts'
import type { Permissions } from '../permissions.ts'
import { publishedProofs } from '../proofs/protocol.ts'
import { SiteEnvironment } from '../sites/item.ts'
import { TTL_SECONDS } from '../tables.ts'
import type { Exchange } from './exchange.ts'
import { ProofMethod } from './item.ts'
import type { RegistrationService } from './service.ts'

const RegisterBody = z
  .strictObject({
    site_url: SiteUrl,
    wp_version: WordPressVersion,
    plugin_version: PluginVersion,
    environment: SiteEnvironment.optional(),
    admin_email: Email.optional().openapi({ description: 'Only with consent' }),
    join_token: KeyText.optional(),
    supersedes: RegistrationCredentials.optional().openapi({
      description: "The caller's own earlier registration, which expires",
    }),
  })
  .openapi('FormBridgeRegistration')

const RegistrationView = z.object({
  registration_id: z.string(),
  temp_key: z.string().openapi({ description: 'Shown once' }),
  domain: z.string(),
  expires_in: z.int(),
  expires_at: z.string(),
  proofs: z.object({
    well_known: z.object({ url: z.string(), content: z.string() }),
    meta: z.object({ name: z.string(), content: z.string() }),
    dns: z.object({ name: z.string(), value: z.string() }),
  }),
})

const ExchangeBody = RegistrationCredentials.extend({
  site_url: SiteUrl,
  methods: z.array(ProofMethod).min(1).max(5).optional(),
  wait: z.boolean().default(true),
  previous_api_key: KeyText.optional(),
}).openapi('FormBridgeExchange')

const CredentialsView = z.object({
  result: z.enum(['connected', 'reconnected', 'moved']),
  site_id: z.string(),
  domain: z.string(),
  api_key: z.string().openapi({ description: 'Shown once' }),
  webhook_secret: z.string().openapi({ description: 'Shown once' }),
  proved_by: ProofMethod,
  confirmation_needed: z.boolean(),
  endpoints: z.object({ site: z.string(), webhook: z.string(), updates: z.string() }),
})
const VerifyingView = z.object({ result: z.literal('verifying'), retry_after: z.int() })

const RETRY_AFTER_SECONDS = 2

export function registrationRoutes(deps: {
  permit: Permissions
  callers: Callers
  registrationService: RegistrationService
  exchange: Exchange
  apiUrl(c: Pick<Context, 'req'>): string
}): OpenAPIHono<AppEnv> {
  const { permit, callers, registrationService, exchange, apiUrl } = deps

  const register = createRoute({
    ...permit.public,
    method: 'post',
    path: '/v1/register',
    summary: 'Register a site',
    request: { body: jsonBody(RegisterBody) },
    responses: {
      201: jsonResponse(RegistrationView, 'The registration, valid for one hour'),
      ...errorResponses(
        formBridgeError,
        'domain_invalid',
        'https_required',
        'blocked',
        'join_token_invalid',
        'agency_closed',
        'rate_limited',
      ),
    },
  })
  const exchangeRoute = createRoute({
    ...permit.optionallySigned,
    method: 'post',
    path: '/v1/exchange',
    summary: 'Prove the domain and get its credentials',
    request: { body: jsonBody(ExchangeBody) },
    responses: {
      200: jsonResponse(CredentialsView, 'The credentials'),
      202: jsonResponse(VerifyingView, 'The proof is in progress. Send the request again.'),
      ...errorResponses(
        formBridgeError,
        'registration_invalid',
        'proof_failed',
        'previous_key_invalid',
        'unauthorized',
        'timestamp_out_of_range',
        'nonce_used',
        'signature_required',
        'keys_replaced',
        'domain_has_site',
        'changed_meanwhile',
        'agency_full',
        'agency_closed',
        'join_token_invalid',
        'site_suspended',
        'site_disabled',
        'blocked',
        'rate_limited',
      ),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(register, async (c) => {
      const caller = await callers.fromRequest(c)
      const { registration, temp_key, address } = await registrationService.register(
        c.req.valid('json'),
        caller,
      )
      const { registration_id, domain, expires_at } = registration
      const proofs = publishedProofs(address, { temp_key, registration_id, domain })
      const expires_in = TTL_SECONDS.registration
      return c.json({ registration_id, temp_key, domain, expires_in, expires_at, proofs }, 201)
    })
    .openapi(exchangeRoute, async (c) => {
      const input = { ...c.req.valid('json'), signer: c.get('signer') }
      const result = await exchange.exchange(input, await callers.fromRequest(c))
      if (result === 'verifying') return c.json({ result, retry_after: RETRY_AFTER_SECONDS }, 202)
      const base = apiUrl(c)
      const endpoints = {
        site: `${base}/site`,
        webhook: `${base}/webhook`,
        updates: `${base}/updates/check`,
      }
      return c.json({ ...result, endpoints }, 200)
    })
}

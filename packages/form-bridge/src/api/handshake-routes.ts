/** How a site is connected. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { formBridgeError } from '../errors.ts'
import { DNS_PREFIX, META_NAME, WELL_KNOWN } from '../handshake/ways.ts'
import { ProofMethod } from '../items/registration.ts'
import { lifetimes } from '../lifetimes.ts'
import { rateLimited } from '../limits/guard.ts'
import { staticProof } from '../signing/domain-proof.ts'
import type { ApiDeps } from './deps.ts'
import { ExchangeBody, RegisterBody, ValidateBody } from './schemas.ts'
import { ValidationView, viewValidation } from './views.ts'

const Registered = z.object({
  registration_id: z.string(),
  temp_key: z.string().openapi({ description: 'Never shown again' }),
  domain: z.string(),
  expires_in: z.int(),
  expires_at: z.string(),
  proofs: z.object({
    well_known: z.object({ url: z.string(), content: z.string() }),
    meta: z.object({ name: z.string(), content: z.string() }),
    dns: z.object({ name: z.string(), value: z.string() }),
  }),
})
const Exchanged = z.object({
  result: z.enum(['connected', 'reconnected', 'moved']),
  site_id: z.string(),
  domain: z.string(),
  api_key: z.string().openapi({ description: 'Never shown again' }),
  webhook_secret: z.string().openapi({ description: 'Never shown again' }),
  proved_by: ProofMethod,
  confirmation_needed: z.boolean(),
  endpoints: z.object({ site: z.string(), webhook: z.string(), updates: z.string() }),
})
const Waiting = z.object({ result: z.literal('verifying'), retry_after: z.int() })

const RETRY_AFTER = 2

export function handshakeRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, register, exchange, budget, validate, callers, guard, baseOf } = deps

  const registering = createRoute({
    ...permit.public,
    method: 'post',
    path: '/v1/register',
    summary: 'Say that a domain is yours',
    request: { body: jsonBody(RegisterBody) },
    responses: {
      201: jsonResponse(Registered, 'The registration, good for an hour'),
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
  const exchanging = createRoute({
    ...permit.public,
    method: 'post',
    path: '/v1/exchange',
    summary: 'Have the domain proved and get its credentials',
    request: { body: jsonBody(ExchangeBody) },
    responses: {
      200: jsonResponse(Exchanged, 'The credentials'),
      202: jsonResponse(Waiting, 'The proof is being looked for: ask again'),
      ...errorResponses(
        formBridgeError,
        'registration_invalid',
        'proof_failed',
        'previous_key_invalid',
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
  const validating = createRoute({
    ...permit.public,
    method: 'post',
    path: '/v1/validate',
    summary: 'Check the domain of a registration',
    request: { body: jsonBody(ValidateBody) },
    responses: {
      200: jsonResponse(ValidationView, 'What the checks found'),
      ...errorResponses(formBridgeError, 'registration_invalid', 'blocked', 'rate_limited'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(registering, async (c) => {
      const caller = await callers.of(c)
      const { registration, temp_key, address } = await register.register(
        c.req.valid('json'),
        caller,
      )
      const { registration_id, domain, expires_at } = registration
      const proof = staticProof({ temp_key, registration_id, domain })
      const proofs = {
        well_known: { url: address.home + WELL_KNOWN, content: proof },
        meta: { name: META_NAME, content: proof },
        dns: { name: DNS_PREFIX + address.host, value: proof },
      }
      const expires_in = lifetimes.registration
      return c.json({ registration_id, temp_key, domain, expires_in, expires_at, proofs }, 201)
    })
    .openapi(exchanging, async (c) => {
      const result = await exchange.exchange(c.req.valid('json'), await callers.of(c))
      if (result === 'verifying') return c.json({ result, retry_after: RETRY_AFTER }, 202)
      const base = baseOf(c)
      const endpoints = {
        site: `${base}/site`,
        webhook: `${base}/webhook`,
        updates: `${base}/updates/check`,
      }
      return c.json({ ...result, endpoints }, 200)
    })
    .openapi(validating, async (c) => {
      const { site_url, validation_level, ...claim } = c.req.valid('json')
      const caller = await callers.of(c)
      const address = register.addressOf(site_url)
      const registration = await exchange.pending(claim, address, caller)
      const cached = await validate.cached(address.domain, validation_level)
      if (cached) return c.json(viewValidation(cached), 200)
      const decision = await guard.take({ scope: 'validation', client_ip: caller.client_ip })
      if (!decision.admitted) throw rateLimited('validation', decision)
      await budget.check(registration, address, caller)
      return c.json(
        viewValidation(await validate.check(registration, address, validation_level)),
        200,
      )
    })
}

/** The route that validates the domain of a registration. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { formBridgeError } from '../errors.ts'
import { callerSubjects, type Callers } from '../limits/caller.ts'
import type { RateLimits } from '../limits/service.ts'
import type { Usage } from '../limits/usage.ts'
import { RegistrationCredentials, SiteUrl } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import type { ProofService } from '../proofs/service.ts'
import type { RegistrationService } from '../registrations/service.ts'
import { type Validation, ValidationLevel } from './item.ts'
import type { ValidationService } from './service.ts'

const ValidateBody = RegistrationCredentials.extend({
  site_url: SiteUrl,
  validation_level: ValidationLevel.default('basic'),
})

export const ValidationView = z.object({
  domain: z.string(),
  registration_id: z.string(),
  validation_level: z.string(),
  passes_validation: z.boolean(),
  validation_score: z.number(),
  validation_results: z.record(z.string(), z.unknown()),
  validated_at: z.string(),
  valid_until: z.string(),
  cached: z.boolean(),
})

function toValidationView(validation: Validation, { cached }: { cached: boolean }) {
  return ValidationView.parse({ ...validation, cached })
}

export function validationRoutes(deps: {
  permit: Permissions
  callers: Callers
  limits: RateLimits
  usage: Pick<Usage, 'recordAddress'>
  registrationService: RegistrationService
  proofs: Pick<ProofService, 'requireValidationBudget'>
  validationService: ValidationService
}): OpenAPIHono<AppEnv> {
  const { permit, callers, limits, usage, registrationService, proofs, validationService } = deps

  const validate = createRoute({
    ...permit.public,
    method: 'post',
    path: '/v1/validate',
    summary: 'Validate the domain of a registration',
    request: { body: jsonBody(ValidateBody) },
    responses: {
      200: jsonResponse(ValidationView, 'The score and the result of each check'),
      ...errorResponses(formBridgeError, 'registration_invalid', 'blocked', 'rate_limited'),
    },
  })

  return new OpenAPIHono<AppEnv>().openapi(validate, async (c) => {
    const { site_url, validation_level, ...credentials } = c.req.valid('json')
    const caller = await callers.fromRequest(c)
    usage.recordAddress('validation', caller)
    const address = registrationService.requireAddress(site_url)
    const registration = await registrationService.requirePending(credentials, address, caller)
    const cached = await validationService.findCached(address.domain, validation_level)
    if (cached) return c.json(toValidationView(cached, { cached: true }), 200)
    await limits.require(...callerSubjects('validation', caller))
    await proofs.requireValidationBudget(registration, address, caller)
    const validation = await validationService.validate(registration, address, validation_level)
    return c.json(toValidationView(validation, { cached: false }), 200)
  })
}

/** Requests over HTTP. */
import type { ClientLimit } from '@strongroom/kit/http/client-limit'
import { issueDetails } from '@strongroom/kit/http/validation'
import type { ServiceRoutes } from '@strongroom/kit/service'
import type { z } from '@hono/zod-openapi'
import { FillRequest, NewRequestRequest } from '../api.ts'
import { sealedError } from '../errors.ts'
import type { ConstantTime } from '../secrets/constant-time.ts'
import {
  admit,
  bearerToken,
  createHotRoutes,
  hasAuthorization,
  parseJson,
} from '../secrets/hot-routes.ts'
import { MAX_CIPHERTEXT_CHARS } from '../secrets/item.ts'
import { createRequestRoute, fillRequestRoute } from './openapi.ts'
import type { RequestService } from './service.ts'

/** The largest ciphertext and 1,500 bytes for the other fields. */
const MAX_FILL_BODY_BYTES = MAX_CIPHERTEXT_CHARS + 1500
const MAX_BODY_BYTES = 1024

export function requestRoutes(options: {
  service: RequestService
  limits: { token: ClientLimit; apiToken: ClientLimit; fill: ClientLimit }
  constantTime: ConstantTime
}): Required<Pick<ServiceRoutes, 'routes' | 'hotRoutes'>> {
  const { service, limits, constantTime } = options
  const { routes, hotRoutes, addRoute } = createHotRoutes()
  routes.openAPIRegistry.registerComponent('securitySchemes', 'sealedRequest', {
    type: 'http',
    scheme: 'bearer',
    description: 'A token from `POST /v1/requests`',
  })

  addRoute(createRequestRoute, MAX_BODY_BYTES, async (request, respond) => {
    const isWithToken = hasAuthorization(request)
    admit(request, isWithToken ? limits.apiToken : limits.token)
    const body = requireBody(NewRequestRequest, parseJson(request))
    return respond(200, await service.create(body, isWithToken ? bearerToken(request) : undefined))
  })

  addRoute(fillRequestRoute, MAX_FILL_BODY_BYTES, async (request, respond) => {
    admit(request, limits.fill)
    // The token is verified before the body is parsed, and all refusals take the same time.
    const fill = async () => {
      const open = await service.authorize(request.parameter, bearerToken(request))
      return service.fill(open, requireBody(FillRequest, parseJson(request)))
    }
    return respond(201, await constantTime.delayErrors(fill))
  })

  return { routes, hotRoutes }
}

function requireBody<T extends z.ZodType>(schema: T, given: unknown): z.infer<T> {
  const { data, error } = schema.safeParse(given)
  if (error) throw sealedError('invalid_request', { details: issueDetails('body', error.issues) })
  return data
}

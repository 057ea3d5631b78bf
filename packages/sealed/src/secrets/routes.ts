/** Secrets over HTTP. */
import type { z } from '@hono/zod-openapi'
import type { HotRequest } from '@strongroom/kit/http/hot-routes'
import { issueDetails } from '@strongroom/kit/http/validation'
import type { ServiceRoutes } from '@strongroom/kit/service'
import { findHeader } from '@strongroom/platform/read-body'
import type { ClientLimit } from '@strongroom/kit/http/client-limit'
import { AckRequest, BurnTokenHeader, NewSecretRequest, RevealRequest } from '../api.ts'
import { sealedError } from '../errors.ts'
import type { ConstantTime } from './constant-time.ts'
import {
  admit,
  bearerToken,
  createHotRoutes,
  hasAuthorization,
  NO_CONTENT,
  parseJson,
} from './hot-routes.ts'
import { CIPHERTEXT_SIZES } from './item.ts'
import {
  ackRoute,
  burnRoute,
  createSecretRoute,
  revealRoute,
  statusRoute,
  tokenRoute,
} from './openapi.ts'
import type { SecretService } from './service.ts'
import type { Tokens } from './token.ts'

/** The largest ciphertext and 1,500 bytes for the other fields. */
const MAX_CREATE_BODY_BYTES = Math.max(...CIPHERTEXT_SIZES.keys()) + 1500
const MAX_BODY_BYTES = 1024

export interface SecretLimits {
  token: ClientLimit
  apiToken: ClientLimit
  reveal: ClientLimit
  ack: ClientLimit
  burn: ClientLimit
  status: ClientLimit
}

export function secretRoutes(options: {
  service: SecretService
  tokens: Pick<Tokens, 'verify'>
  limits: SecretLimits
  constantTime: ConstantTime
}): Required<Pick<ServiceRoutes, 'routes' | 'hotRoutes'>> {
  const { service, tokens, limits, constantTime } = options
  const { routes, hotRoutes, addRoute } = createHotRoutes()
  routes.openAPIRegistry.registerComponent('securitySchemes', 'sealed', {
    type: 'http',
    scheme: 'bearer',
    description: 'A token from `POST /v1/token`',
  })
  routes.openAPIRegistry.registerComponent('securitySchemes', 'sealedApiToken', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token of Sealed, from `strongroom sealed token add`',
  })

  addRoute(tokenRoute, MAX_BODY_BYTES, async (request, respond) => {
    const isWithToken = hasAuthorization(request)
    admit(request, isWithToken ? limits.apiToken : limits.token)
    return respond(200, await service.issueToken(isWithToken ? bearerToken(request) : undefined))
  })

  addRoute(createSecretRoute, MAX_CREATE_BODY_BYTES, async (request, respond) => {
    const grant = await tokens.verify(bearerToken(request))
    if (!grant) throw sealedError('invalid_token', { headers: { 'www-authenticate': 'Bearer' } })
    const { data, error } = NewSecretRequest.safeParse(parseJson(request))
    if (error) {
      throw sealedError('invalid_request', { details: issueDetails('body', error.issues) })
    }
    return respond(201, await service.create(grant, data))
  })

  addRoute(revealRoute, MAX_BODY_BYTES, async (request, respond) => {
    admit(request, limits.reveal)
    const body = parseBody(request, RevealRequest)
    const reveal = () => service.reveal(request.parameter, body)
    return respond(200, await constantTime.delayErrors(reveal))
  })

  addRoute(ackRoute, MAX_BODY_BYTES, async (request) => {
    admit(request, limits.ack)
    const body = parseBody(request, AckRequest)
    await constantTime.delayUnless(() => service.acknowledge(request.parameter, body?.claim))
    return NO_CONTENT
  })

  addRoute(burnRoute, MAX_BODY_BYTES, async (request) => {
    admit(request, limits.burn)
    await constantTime.delayAlways(() => service.burn(request.parameter, burnToken(request)))
    return NO_CONTENT
  })

  addRoute(statusRoute, MAX_BODY_BYTES, async (request, respond) => {
    admit(request, limits.status)
    const receipt = () => service.receipt(request.parameter, burnToken(request))
    return respond(200, await constantTime.delayErrors(receipt))
  })

  return { routes, hotRoutes }
}

function burnToken({ rawHeaders }: HotRequest): string | undefined {
  return BurnTokenHeader.safeParse(findHeader(rawHeaders, 'x-burn-token')).data
}

/** Undefined if the body does not match the schema. */
function parseBody<T extends z.ZodType>(request: HotRequest, schema: T): z.infer<T> | undefined {
  return schema.safeParse(parseJson(request)).data
}

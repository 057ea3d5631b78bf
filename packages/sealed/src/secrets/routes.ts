/**
 * Sealed over HTTP.
 *
 * Requests are parsed by hand. Without the link, a malformed request must look like one for a secret
 * that does not exist, down to the read of the store. And a token is verified before the body that
 * came with it is parsed.
 */
import { OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi'
import { parseBearer } from '@strongroom/kit/bearer'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import { networksOf } from '@strongroom/kit/http/client-address'
import type { AppEnv } from '@strongroom/kit/http/env'
import { honoHandler, type HotRequest, type HotRoute } from '@strongroom/kit/http/hot-routes'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { HttpResponse } from '@strongroom/kit/http/request'
import { issueDetails } from '@strongroom/kit/http/validation'
import { PERMISSION, publicRoute } from '@strongroom/kit/http/permissions'
import type { RunningService } from '@strongroom/kit/service'
import { findHeader } from '@strongroom/platform/read-body'
import type { ClientLimit } from '@strongroom/kit/http/client-limit'
import { AckRequest, BurnTokenHeader, NewSecretRequest, RevealRequest } from '../api.ts'
import { sealedError } from '../errors.ts'
import type { ConstantTime } from './constant-time.ts'
import { MAX_CIPHERTEXT_CHARS } from './item.ts'
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
const MAX_CREATE_BODY_BYTES = MAX_CIPHERTEXT_CHARS + 1500
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
}): Required<Pick<RunningService, 'routes' | 'hotRoutes'>> {
  const { service, tokens, limits, constantTime } = options
  const routes = new OpenAPIHono<AppEnv>()
  const hotRoutes: HotRoute[] = []
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

  function addRoute<R extends DescribedRoute>(
    described: R,
    maxBodyBytes: number,
    handle: (request: HotRequest, json: Json<R>) => Promise<HttpResponse>,
  ) {
    const route: HotRoute = {
      methods: [described.method.toUpperCase()],
      path: described.getRoutingPath() as HotRoute['path'],
      maxBodyBytes,
      handle: (request) => handle(request, json),
    }
    routes.openAPIRegistry.registerPath({ ...described, [PERMISSION]: 'public' })
    const handler = honoHandler(route)
    routes.on([...route.methods], [route.path], publicRoute, bodyLimit(maxBodyBytes), handler)
    hotRoutes.push(route)
  }

  addRoute(tokenRoute, MAX_BODY_BYTES, async (request, respond) => {
    const isWithToken = findHeader(request.rawHeaders, 'authorization') !== undefined
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
    await constantTime.delayAlways(() => service.acknowledge(request.parameter, body?.claim))
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

type DescribedRoute = RouteConfig & { getRoutingPath(): string }

/** Responds with the body that the route declares for the status. */
type Json<R extends RouteConfig> = <S extends 200 | 201>(
  status: S,
  view: JsonView<R['responses'][S]>,
) => HttpResponse

type JsonView<Response> = Response extends {
  content: { 'application/json': { schema: infer Schema extends z.ZodType } }
}
  ? z.infer<Schema>
  : never

const NO_CONTENT: HttpResponse = { status: 204, contentType: '', body: '' }

function json(status: number, view: unknown): HttpResponse {
  return { status, contentType: 'application/json', body: JSON.stringify(view) }
}

function admit({ clientAddress }: HotRequest, limit: ClientLimit) {
  const refused = limit.take(networksOf(clientAddress))
  if (refused) throw rateLimited(refused)
}

/** An empty token, which is never valid, if there is none. */
function bearerToken({ rawHeaders }: HotRequest): string {
  return parseBearer(findHeader(rawHeaders, 'authorization')) ?? ''
}

function burnToken({ rawHeaders }: HotRequest): string | undefined {
  return BurnTokenHeader.safeParse(findHeader(rawHeaders, 'x-burn-token')).data
}

/** Undefined if the body does not match the schema. */
function parseBody<T extends z.ZodType>(request: HotRequest, schema: T): z.infer<T> | undefined {
  return schema.safeParse(parseJson(request)).data
}

/** Undefined, which matches no schema, if the body is not JSON. */
function parseJson({ body }: HotRequest): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
  } catch {
    return undefined
  }
}

/**
 * Sealed over HTTP.
 *
 * Requests are read by hand: to whoever does not hold the link, one that cannot be read must look
 * like one for a secret that is not there, down to the read of the store. And a token is checked
 * before the body that came with it is looked at.
 */
import { OpenAPIHono, type z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { networkOf } from '@strongroom/kit/http/ip'
import { headerIn } from '@strongroom/kit/http/node-body'
import {
  plainHandler,
  type PlainAnswer,
  type PlainRequest,
  type PlainRoute,
} from '@strongroom/kit/http/plain-route'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import { issueDetails } from '@strongroom/kit/http/validation'
import { operatorError, type Operators } from '@strongroom/kit/operators'
import type { RunningService } from '@strongroom/kit/service'
import {
  ackRoute,
  burnRoute,
  createSecretRoute,
  revealRoute,
  statusRoute,
  tokenRoute,
} from './api-routes.ts'
import { AckRequest, BurnTokenHeader, NewSecretRequest, RevealRequest } from './api.ts'
import type { ClientLimit } from './client-limits.ts'
import { sealedError } from './errors.ts'
import type { EvenAnswers } from './even-answers.ts'
import type { Sealed } from './service.ts'
import { LONGEST_CIPHERTEXT } from './table.ts'
import type { Tokens } from './token.ts'

/** The largest secret and a good kilobyte for the rest. */
const SECRET_BODY_BYTES = LONGEST_CIPHERTEXT + 1500
const SMALL_BODY_BYTES = 1024

export interface SealedLimits {
  token: ClientLimit
  operatorToken: ClientLimit
  reveal: ClientLimit
  ack: ClientLimit
  burn: ClientLimit
  status: ClientLimit
}

export function sealedRoutes(options: {
  sealed: Sealed
  tokens: Pick<Tokens, 'verify'>
  operators: Pick<Operators, 'verify'>
  limits: SealedLimits
  even: EvenAnswers
}): Required<Pick<RunningService, 'routes' | 'plainRoutes'>> {
  const { sealed, tokens, operators, limits, even } = options
  const routes = new OpenAPIHono<AppEnv>()
  const plainRoutes: PlainRoute[] = []
  routes.openAPIRegistry.registerComponent('securitySchemes', 'sealed', {
    type: 'http',
    scheme: 'bearer',
    description: 'The token that `POST /v1/token` of Sealed answers with',
  })

  function on(described: Described, maxBodyBytes: number, handle: PlainRoute['handle']) {
    const path = described.getRoutingPath() as PlainRoute['path']
    const route = { methods: [described.method.toUpperCase()], path, maxBodyBytes, handle }
    routes.openAPIRegistry.registerPath(described)
    routes.on(route.methods, [path], bodyLimit(maxBodyBytes), plainHandler(route))
    plainRoutes.push(route)
  }

  on(tokenRoute, SMALL_BODY_BYTES, async (request) => {
    const isApi = headerIn(request.rawHeaders, 'authorization') !== undefined
    admit(request, isApi ? limits.operatorToken : limits.token)
    if (isApi) await requireOperator(operators, request)
    return json(200, await sealed.issueToken({ isOperator: isApi }))
  })

  on(createSecretRoute, SECRET_BODY_BYTES, async (request) => {
    const grant = await tokens.verify(bearer(request) ?? '')
    if (!grant) throw sealedError('invalid_token', { headers: { 'www-authenticate': 'Bearer' } })
    const { data, error } = NewSecretRequest.safeParse(sent(request))
    if (error) {
      throw sealedError('invalid_request', { details: issueDetails('body', error.issues) })
    }
    return json(201, await sealed.create(grant, data))
  })

  on(revealRoute, SMALL_BODY_BYTES, async (request) => {
    admit(request, limits.reveal)
    const asked = read(request, RevealRequest)
    return json(200, await even.refuse(() => sealed.reveal(request.parameter, asked)))
  })

  on(ackRoute, SMALL_BODY_BYTES, async (request) => {
    admit(request, limits.ack)
    const asked = read(request, AckRequest)
    await even.always(() => sealed.acknowledge(request.parameter, asked?.claim))
    return DONE
  })

  on(burnRoute, SMALL_BODY_BYTES, async (request) => {
    admit(request, limits.burn)
    await even.always(() => sealed.burn(request.parameter, burnToken(request)))
    return DONE
  })

  on(statusRoute, SMALL_BODY_BYTES, async (request) => {
    admit(request, limits.status)
    const receipt = even.refuse(() => sealed.receipt(request.parameter, burnToken(request)))
    return json(200, await receipt)
  })

  return { routes, plainRoutes }
}

type Described = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0] & {
  getRoutingPath(): string
}

const DONE: PlainAnswer = { status: 204, contentType: '', body: '' }

function json(status: 200 | 201, answer: object): PlainAnswer {
  return { status, contentType: 'application/json', body: JSON.stringify(answer) }
}

function admit({ clientAddress }: PlainRequest, limit: ClientLimit) {
  const network = clientAddress === undefined ? 'unknown' : networkOf(clientAddress)
  const refused = limit.take(network)
  if (refused) throw rateLimited(refused)
}

async function requireOperator(operators: Pick<Operators, 'verify'>, request: PlainRequest) {
  if ((await operators.verify(bearer(request) ?? '')) === undefined) {
    throw operatorError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
  }
}

function bearer({ rawHeaders }: PlainRequest): string | undefined {
  return /^Bearer (\S+)$/i.exec(headerIn(rawHeaders, 'authorization') ?? '')?.[1]
}

function burnToken({ rawHeaders }: PlainRequest): string | undefined {
  return BurnTokenHeader.safeParse(headerIn(rawHeaders, 'x-burn-token')).data
}

/** The body if it is what the schema says. */
function read<T extends z.ZodType>(request: PlainRequest, schema: T): z.infer<T> | undefined {
  return schema.safeParse(sent(request)).data
}

/** Undefined if the body is no JSON, which fits no schema. */
function sent({ body }: PlainRequest): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
  } catch {
    return undefined
  }
}

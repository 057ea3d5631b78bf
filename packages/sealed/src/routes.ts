/**
 * Sealed over HTTP.
 *
 * Requests are read by hand: to whoever does not hold the link, one that cannot be read must look
 * like one for a secret that is not there, down to the read of the store. And a token is checked
 * before the body that came with it is looked at.
 */
import { OpenAPIHono, type z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import { clientNetwork } from '@strongroom/kit/http/client'
import type { AppEnv } from '@strongroom/kit/http/env'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import { issueDetails } from '@strongroom/kit/http/validation'
import { operatorError, type Operators } from '@strongroom/kit/operators'
import type { Context, Handler } from 'hono'
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
}): OpenAPIHono<AppEnv> {
  const { sealed, tokens, operators, limits, even } = options
  const routes = new OpenAPIHono<AppEnv>()
  routes.openAPIRegistry.registerComponent('securitySchemes', 'sealed', {
    type: 'http',
    scheme: 'bearer',
    description: 'The token that `POST /v1/token` of Sealed answers with',
  })

  function on(route: Route, bodyBytes: number, answer: Handler<AppEnv>) {
    routes.openAPIRegistry.registerPath(route)
    routes.on(route.method, route.getRoutingPath(), bodyLimit(bodyBytes), answer)
  }

  on(tokenRoute, SMALL_BODY_BYTES, async (c) => {
    const isApi = c.req.header('authorization') !== undefined
    admit(c, isApi ? limits.operatorToken : limits.token)
    if (isApi) await requireOperator(operators, c)
    return c.json(await sealed.issueToken({ isOperator: isApi }), 200)
  })

  on(createSecretRoute, SECRET_BODY_BYTES, async (c) => {
    const grant = await tokens.verify(bearer(c) ?? '')
    if (!grant) throw sealedError('invalid_token', { headers: { 'www-authenticate': 'Bearer' } })
    const { data, error } = NewSecretRequest.safeParse(await json(c))
    if (error) {
      throw sealedError('invalid_request', { details: issueDetails('body', error.issues) })
    }
    return c.json(await sealed.create(grant, data), 201)
  })

  on(revealRoute, SMALL_BODY_BYTES, async (c) => {
    admit(c, limits.reveal)
    const request = await read(c, RevealRequest)
    return c.json(await even.refuse(() => sealed.reveal(idOf(c), request)), 200)
  })

  on(ackRoute, SMALL_BODY_BYTES, async (c) => {
    admit(c, limits.ack)
    const request = await read(c, AckRequest)
    await even.always(() => sealed.acknowledge(idOf(c), request?.claim))
    return c.body(null, 204)
  })

  on(burnRoute, SMALL_BODY_BYTES, async (c) => {
    admit(c, limits.burn)
    await even.always(() => sealed.burn(idOf(c), burnToken(c)))
    return c.body(null, 204)
  })

  on(statusRoute, SMALL_BODY_BYTES, async (c) => {
    admit(c, limits.status)
    return c.json(await even.refuse(() => sealed.receipt(idOf(c), burnToken(c))), 200)
  })

  return routes
}

type Route = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0] & {
  getRoutingPath(): string
}

function admit(c: Context<AppEnv>, limit: ClientLimit) {
  const refused = limit.take(clientNetwork(c))
  if (refused) throw rateLimited(refused)
}

async function requireOperator(operators: Pick<Operators, 'verify'>, c: Context<AppEnv>) {
  if ((await operators.verify(bearer(c) ?? '')) === undefined) {
    throw operatorError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
  }
}

function bearer(c: Context<AppEnv>): string | undefined {
  return /^Bearer (\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
}

function idOf(c: Context<AppEnv>): string {
  return c.req.param('id') ?? ''
}

function burnToken(c: Context<AppEnv>): string | undefined {
  return BurnTokenHeader.safeParse(c.req.header('x-burn-token')).data
}

/** The body if it is what the schema says. */
async function read<T extends z.ZodType>(c: Context, schema: T): Promise<z.infer<T> | undefined> {
  return schema.safeParse(await json(c)).data
}

/** Undefined if the body is no JSON, which fits no schema. */
async function json(c: Context): Promise<unknown> {
  const text = await c.req.text()
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** API tokens for operators, under `/v1/api-tokens`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import { sealedError } from '../errors.ts'
import type { AuditedApiTokens } from './audited.ts'
import { DEFAULT_PER_HOUR, MAX_EXPIRY_SECONDS, MAX_PER_HOUR, toApiTokenView } from './service.ts'

/** Times are epoch seconds. */
const ApiTokenView = z
  .object({
    name: z.string(),
    perHour: z.number().int(),
    createdAt: z.number().int(),
    expiresAt: z.number().int().nullable(),
    lastUsedAt: z.number().int().nullable().openapi({ description: 'To the minute' }),
  })
  .openapi('SealedApiToken')

const NewApiToken = z
  .strictObject({
    name: z.string().openapi({ example: 'ci' }),
    perHour: z.number().int().min(1).max(MAX_PER_HOUR).optional().openapi({
      description: 'Secrets per hour, counted across all servers',
      default: DEFAULT_PER_HOUR,
    }),
    expiresInSeconds: z.number().int().min(1).max(MAX_EXPIRY_SECONDS).optional(),
  })
  .openapi('NewSealedApiToken')

export function apiTokenRoutes(deps: {
  apiTokens: AuditedApiTokens
  permit: OperatorPermissions
}): OpenAPIHono<AppEnv> {
  const { apiTokens, permit } = deps
  const routes = new OpenAPIHono<AppEnv>()

  const list = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/v1/api-tokens',
    summary: 'List API tokens',
    responses: {
      200: jsonResponse(z.object({ items: z.array(ApiTokenView) }), 'The tokens, without values'),
      ...operatorErrors,
    },
  })
  routes.openapi(list, async (c) => {
    const tokens = await apiTokens.list()
    return c.json({ items: tokens.map(toApiTokenView) }, 200)
  })

  const add = createRoute({
    ...permit.editor,
    method: 'post',
    path: '/v1/api-tokens',
    summary: 'Create an API token',
    description:
      'A program that sends it to `POST /v1/token` seals secrets without a proof of work.',
    request: { body: jsonBody(NewApiToken) },
    responses: {
      201: jsonResponse(
        ApiTokenView.extend({ token: z.string() }),
        'The token was created. It is shown only once.',
      ),
      ...operatorErrors,
      ...errorResponses(
        sealedError,
        'invalid_api_token_name',
        'invalid_api_token_limit',
        'invalid_api_token_expiry',
        'api_token_exists',
      ),
    },
  })
  routes.openapi(add, async (c) => {
    const { token, ...made } = await apiTokens.add(c.get('actor'), c.req.valid('json'))
    return c.json({ ...toApiTokenView(made), token }, 201)
  })

  const revoke = createRoute({
    ...permit.editor,
    method: 'delete',
    path: '/v1/api-tokens/{name}',
    summary: 'Revoke an API token',
    request: { params: z.object({ name: z.string() }) },
    responses: {
      204: { description: 'The token and everything issued with it is refused from now on' },
      ...operatorErrors,
      ...errorResponses(sealedError, 'api_token_not_found'),
    },
  })
  routes.openapi(revoke, async (c) => {
    await apiTokens.revoke(c.get('actor'), c.req.valid('param').name)
    return c.body(null, 204)
  })
  return routes
}

/** The secrets that deliveries of a connection are signed with, for those who administrate. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import type { ApiDeps } from './deps.ts'
import { ById, Rotation } from './schemas.ts'

const SecretView = z
  .object({
    signingSecret: z.string().openapi({ example: 'whsec_…' }),
    createdAt: z.string(),
    expiresAt: z.string().nullable().openapi({ description: 'Of one that was rotated' }),
  })
  .openapi('FerryhookSecret')

export function connectionSecretRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, connections } = deps
  const refused = errorResponses(
    ferryhookError,
    'unauthorized',
    'permission_required',
    'connection_not_found',
  )

  const show = createRoute({
    ...permit.admin,
    method: 'get',
    path: '/v1/connections/{id}/secret',
    summary: 'Show the signing secrets of a connection',
    description: 'The newest first. That they were shown stands in the audit log.',
    request: { params: ById },
    responses: { 200: jsonResponse(pageOf(SecretView), 'Those in force'), ...refused },
  })

  const rotate = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/v1/connections/{id}/rotate-secret',
    summary: 'Rotate the signing secret of a connection',
    description:
      'For the overlap, deliveries are signed with the new secret and with those in force.',
    request: { params: ById, body: jsonBody(Rotation) },
    responses: {
      200: jsonResponse(z.object({ signingSecret: z.string() }), 'The new secret'),
      ...refused,
      ...errorResponses(ferryhookError, 'too_many_secrets'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(show, async (c) => {
      const list = await connections.showSecrets(c.get('principal'), c.req.valid('param').id)
      const items = list.map(({ secret, createdAt, expiresAt }) => ({
        signingSecret: secret,
        createdAt,
        expiresAt: expiresAt === undefined ? null : new Date(expiresAt * 1000).toISOString(),
      }))
      return c.json({ items, cursor: null }, 200)
    })
    .openapi(rotate, async (c) => {
      const { id } = c.req.valid('param')
      const rotated = await connections.rotateSecret(c.get('principal'), id, c.req.valid('json'))
      return c.json({ signingSecret: rotated.signingSecret }, 200)
    })
}

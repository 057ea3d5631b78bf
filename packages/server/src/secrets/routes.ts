/** `/server/v1/secrets`: the server's own secrets. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import { secretError, type SecretVersion } from '@strongroom/kit/secret-versions'
import type { SecretService } from './service.ts'

const DEFAULT_OVERLAP_SECONDS = 30 * 86_400

const SecretVersionView = z
  .object({
    name: z.string(),
    version: z.int(),
    createdAt: z.string(),
    activeFrom: z.string(),
    acceptedUntil: z.string().nullable(),
  })
  .openapi('ServerSecretVersion')

function toView({ name, version, createdAt, activeFrom, acceptedUntil }: SecretVersion) {
  return {
    name,
    version,
    createdAt: isoTime(createdAt),
    activeFrom: isoTime(activeFrom),
    acceptedUntil: acceptedUntil === undefined ? null : isoTime(acceptedUntil),
  }
}

export function secretRoutes(deps: {
  permit: OperatorPermissions
  secrets: SecretService
}): OpenAPIHono<AppEnv> {
  const { permit, secrets } = deps

  const list = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/server/v1/secrets',
    summary: 'List server secrets: names, versions and ages, never values',
    responses: {
      200: jsonResponse(z.object({ items: z.array(SecretVersionView) }), 'All versions, by name'),
      ...operatorErrors,
    },
  })
  const rotate = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/server/v1/secrets/{name}/versions',
    summary: 'Rotate a server secret',
    description:
      'The new version is used after two minutes, when every process knows it; older ones are accepted for the overlap after that. Without an overlap it is used immediately.',
    request: {
      params: z.object({ name: z.string().min(1).max(64) }),
      body: jsonBody(
        z.strictObject({ overlapSeconds: z.int().min(0).default(DEFAULT_OVERLAP_SECONDS) }),
      ),
    },
    responses: {
      201: jsonResponse(SecretVersionView, 'The new version'),
      ...operatorErrors,
      ...errorResponses(secretError, 'not_found', 'invalid_overlap', 'rotated_meanwhile'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const items = (await secrets.list()).map(toView)
      return c.json({ items }, 200)
    })
    .openapi(rotate, async (c) => {
      const { name } = c.req.valid('param')
      const { overlapSeconds } = c.req.valid('json')
      return c.json(toView(await secrets.rotate(c.get('actor'), name, overlapSeconds)), 201)
    })
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

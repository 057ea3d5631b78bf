/** How releases come in: signed packages only. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import { and } from '@strongroom/kit/http/declared-permission'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorError } from '@strongroom/kit/operators'
import { formBridgeError } from '../errors.ts'
import { LARGEST_PACKAGE_BYTES } from '../items/release.ts'
import type { ApiDeps } from './deps.ts'
import { BySlug, ByVersion } from './schemas.ts'
import { ReleaseView, viewRelease } from './views.ts'

export function releaseRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, layer, publish } = deps
  const denied = errorResponses(operatorError, 'unauthorized')

  const list = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/plugins/{slug}/versions',
    summary: 'List the releases of a plugin, the highest version first',
    request: { params: BySlug },
    responses: {
      200: jsonResponse(z.object({ items: z.array(ReleaseView) }), 'All releases'),
      ...denied,
    },
  })
  const publishing = createRoute({
    ...and(permit.operator, bodyLimit(LARGEST_PACKAGE_BYTES)),
    method: 'put',
    path: '/v1/plugins/{slug}/{version}',
    summary: 'Publish a signed package',
    request: {
      params: ByVersion,
      headers: z.object({
        'x-fb-release-signature': z.string().openapi({ description: 'Ed25519, in base64' }),
      }),
      body: {
        content: { 'application/zip': { schema: z.string().openapi({ format: 'binary' }) } },
        required: true,
      },
    },
    responses: {
      201: jsonResponse(ReleaseView, 'The release'),
      ...denied,
      ...errorResponses(
        formBridgeError,
        'release_key_missing',
        'release_unsigned',
        'release_invalid',
        'release_exists',
        'release_older',
      ),
    },
  })
  const withdrawing = createRoute({
    ...permit.operator,
    method: 'post',
    path: '/v1/plugins/{slug}/{version}/withdraw',
    summary: 'Take a release back: it is no longer offered',
    request: { params: ByVersion },
    responses: {
      200: jsonResponse(ReleaseView, 'The release'),
      ...denied,
      ...errorResponses(formBridgeError, 'version_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const releases = await layer.releases.list(c.req.valid('param').slug)
      return c.json({ items: releases.map(viewRelease) }, 200)
    })
    .openapi(publishing, async (c) => {
      const zip = new Uint8Array(await c.req.arrayBuffer())
      const signature = c.req.valid('header')['x-fb-release-signature']
      const release = await publish.publish({ ...c.req.valid('param'), signature, zip })
      const { slug, version } = release
      c.get('log').info('Release published', { operator: c.get('operator'), slug, version })
      return c.json(viewRelease(release), 201)
    })
    .openapi(withdrawing, async (c) => {
      const release = await publish.withdraw(c.req.valid('param'))
      const { slug, version } = release
      c.get('log').info('Release withdrawn', { operator: c.get('operator'), slug, version })
      return c.json(viewRelease(release), 200)
    })
}

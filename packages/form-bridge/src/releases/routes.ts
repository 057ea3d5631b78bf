/** Routes for operators: publish signed releases, list and withdraw them. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors, withMiddleware } from '@strongroom/kit/http/permissions'
import type { AuditedStores } from '../audited-stores.ts'
import { formBridgeError } from '../errors.ts'
import { PluginParams, VersionParams } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import { MAX_PACKAGE_BYTES, type ReleaseName } from './item.ts'
import type { VersionCache } from './latest.ts'
import type { ReleaseService } from './service.ts'
import type { ReleaseStore } from './store.ts'
import { ReleaseView, toReleaseView } from './view.ts'

export function releaseRoutes(deps: {
  permit: Permissions
  releases: Pick<ReleaseStore, 'list' | 'get'>
  versionCache: VersionCache
  releaseService: ReleaseService
  auditedStores: AuditedStores
}): OpenAPIHono<AppEnv> {
  const { permit, releases, versionCache, releaseService, auditedStores } = deps

  /** The index may lag, so what it finds is compared with the table. */
  async function isCached({ slug, version }: ReleaseName): Promise<boolean> {
    const found = await versionCache.find(version)
    return found?.slug === slug && (await versionCache.latest(slug))?.version === version
  }

  const list = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/plugins/{slug}/versions',
    summary: 'List releases of a plugin, highest version first',
    request: { params: PluginParams },
    responses: {
      200: jsonResponse(z.object({ items: z.array(ReleaseView) }), 'All releases'),
      ...operatorErrors,
    },
  })
  const get = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/plugins/{slug}/versions/{version}',
    summary: 'Get a release, and whether it is the cached newest one',
    request: { params: VersionParams },
    responses: {
      200: jsonResponse(
        ReleaseView.extend({
          is_cached: z
            .boolean()
            .openapi({ description: 'Sites were offered it in the last two hours' }),
        }),
        'The release',
      ),
      ...operatorErrors,
      ...errorResponses(formBridgeError, 'version_not_found'),
    },
  })
  const publish = createRoute({
    ...withMiddleware(permit.operator.editor, bodyLimit(MAX_PACKAGE_BYTES)),
    method: 'put',
    path: '/v1/plugins/{slug}/{version}',
    summary: 'Publish a signed release',
    request: {
      params: VersionParams,
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
      ...operatorErrors,
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
  const withdraw = createRoute({
    ...permit.operator.editor,
    method: 'post',
    path: '/v1/plugins/{slug}/{version}/withdraw',
    summary: 'Withdraw a release; it is no longer offered',
    request: { params: VersionParams },
    responses: {
      200: jsonResponse(ReleaseView, 'The release'),
      ...operatorErrors,
      ...errorResponses(formBridgeError, 'version_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const found = await releases.list(c.req.valid('param').slug)
      return c.json({ items: found.map(toReleaseView) }, 200)
    })
    .openapi(get, async (c) => {
      const name = c.req.valid('param')
      const release = await releases.get(name)
      if (!release) throw formBridgeError('version_not_found')
      return c.json({ ...toReleaseView(release), is_cached: await isCached(name) }, 200)
    })
    .openapi(publish, async (c) => {
      const zip = new Uint8Array(await c.req.arrayBuffer())
      const signature = c.req.valid('header')['x-fb-release-signature']
      const { slug, version } = c.req.valid('param')
      const change = { action: 'release.published', target: `${slug}/${version}` }
      const { db } = auditedStores(c.get('actor'), { ...change, after: { bytes: zip.byteLength } })
      const release = await releaseService.publish({ slug, version, signature, zip }, db)
      c.get('log').info('release published', { operator: c.get('operator'), slug, version })
      return c.json(toReleaseView(release), 201)
    })
    .openapi(withdraw, async (c) => {
      const { slug, version } = c.req.valid('param')
      const change = { action: 'release.withdrawn', target: `${slug}/${version}` }
      const release = await releaseService.withdraw(
        { slug, version },
        auditedStores(c.get('actor'), change).db,
      )
      c.get('log').info('release withdrawn', { operator: c.get('operator'), slug, version })
      return c.json(toReleaseView(release), 200)
    })
}

/** What WordPress asks for updates: metadata, details, packages. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { formBridgeError } from '../errors.ts'
import type { Release } from '../items/release.ts'
import { rateLimited } from '../limits/guard.ts'
import type { ApiDeps } from './deps.ts'
import { BySlug, ByVersion, UpdateQuery } from './schemas.ts'

const Texts = z.record(z.string(), z.string())

const UpdateView = z
  .object({
    id: z.string(),
    slug: z.string(),
    version: z.string(),
    url: z.string(),
    package: z.string().optional(),
    tested: z.string(),
    requires: z.string(),
    requires_php: z.string(),
    autoupdate: z.boolean(),
    icons: Texts,
    banners: Texts,
    banners_rtl: Texts,
    translations: z.array(z.unknown()),
    upgrade_notice: z.string(),
    current_version: z.string(),
    update_available: z.boolean(),
    compatible: z.boolean(),
    compatibility_warning: z.string().nullable(),
    sha256: z.string(),
    signature: z.string(),
    file_size: z.int(),
    released_at: z.string(),
  })
  .openapi('FormBridgeUpdate')

const PluginView = z
  .object({
    name: z.string(),
    slug: z.string(),
    version: z.string(),
    author: z.string(),
    homepage: z.string(),
    requires: z.string(),
    tested: z.string(),
    requires_php: z.string(),
    last_updated: z.string(),
    sections: Texts,
    banners: Texts,
    icons: Texts,
    active_installs: z.int(),
    rating: z.int(),
    num_ratings: z.int(),
    contributors: Texts,
  })
  .openapi('FormBridgePlugin')

const DAY_MS = 86_400_000

export function updateRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, clock, layer, siteGuard, latest, updateCheck, tokens, guard, baseOf } = deps

  const check = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/updates/check',
    summary: 'Ask for the newest version, as WordPress wants it',
    description: 'Signed, or with the key of a site, it also has the address of the package.',
    request: { query: UpdateQuery },
    responses: {
      200: jsonResponse(UpdateView, 'The newest version, also when it is installed already'),
      ...errorResponses(formBridgeError, 'plugin_not_found', 'unauthorized', 'rate_limited'),
    },
  })
  const details = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/plugins/{slug}',
    summary: 'Describe a plugin, as WordPress wants it',
    request: { params: BySlug },
    responses: {
      200: jsonResponse(PluginView, 'The plugin'),
      ...errorResponses(formBridgeError, 'plugin_not_found'),
    },
  })
  const download = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/plugins/{slug}/{version}/download',
    summary: 'Download a package',
    request: { params: ByVersion, query: z.object({ token: z.string().max(200).optional() }) },
    responses: {
      200: {
        description: 'The package',
        content: { 'application/zip': { schema: z.string().openapi({ format: 'binary' }) } },
      },
      ...errorResponses(
        formBridgeError,
        'download_token_invalid',
        'version_not_found',
        'unauthorized',
        'rate_limited',
      ),
    },
  })

  /** A site by the token of a link; it must still be active. */
  async function requireToken(token: string, what: { slug: string; version: string }) {
    const site_id = await tokens.siteOf(token, what)
    const site = site_id && (await layer.authentication.siteOfId(site_id))
    if (!site || site.status !== 'active') throw formBridgeError('download_token_invalid')
    const decision = await guard.take({ scope: 'update_check', site_id: site.site_id })
    if (!decision.admitted) throw rateLimited('update_check', decision)
  }

  async function installs(): Promise<number> {
    const yesterday = new Date(clock.now() - DAY_MS).toISOString().slice(0, 10)
    const versions = await layer.updateChecks.adoptionOn(yesterday)
    return Object.values(versions).reduce((sum, n) => sum + n, 0)
  }

  return new OpenAPIHono<AppEnv>()
    .openapi(check, async (c) => {
      const asked = siteGuard.isNamed(c)
        ? await siteGuard.admit(c, { scope: 'update_check' })
        : undefined
      return c.json(await updateCheck(c.req.valid('query'), baseOf(c), asked), 200)
    })
    .openapi(details, async (c) => {
      const info = await latest.of(c.req.valid('param').slug)
      const { name, author, homepage, requires, tested, requires_php, sections } = info.details
      const view = {
        name,
        slug: info.slug,
        version: info.version,
        author,
        homepage,
        requires,
        tested,
        requires_php,
        last_updated: info.released_at.slice(0, 19).replace('T', ' '),
        sections,
        banners: {},
        icons: {},
        active_installs: await installs(),
        rating: 0,
        num_ratings: 0,
        contributors: {},
      }
      return c.json(view, 200)
    })
    .openapi(download, async (c) => {
      const what = c.req.valid('param')
      const { token } = c.req.valid('query')
      if (token === undefined) await siteGuard.admit(c, { scope: 'update_check' })
      else await requireToken(token, what)
      const release = await layer.releases.get(what)
      if (release?.status !== 'published') throw formBridgeError('version_not_found')
      return c.body(streamOf(layer.releases.package(release)), 200, headersOf(release))
    })
}

function headersOf({ file_size, sha256, signature, slug, version }: Release) {
  return {
    'content-type': 'application/zip',
    'content-length': String(file_size),
    'content-disposition': `attachment; filename="${slug}-${version}.zip"`,
    'x-fb-release-sha256': sha256,
    'x-fb-release-signature': signature,
  }
}

/** Chunk by chunk, as fast as the other side reads. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return(undefined)
    },
  })
}

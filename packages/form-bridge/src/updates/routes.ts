/** Routes for WordPress: update checks, plugin details and packages. For operators: adoption. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Clock } from '@strongroom/platform/clock'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import type { Context } from 'hono'
import type { SiteAuthorization } from '../authentication/service.ts'
import { formBridgeError } from '../errors.ts'
import { IsoDate, IsoTime, Version } from '../formats.ts'
import { PageQuery, PluginParams, PluginVersion, SiteParams, VersionParams } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import type { Release } from '../releases/item.ts'
import type { ReleaseStore } from '../releases/store.ts'
import type { SiteAdmin } from '../sites/service.ts'
import { isoDate } from '../time.ts'
import type { UpdateService } from './service.ts'
import type { UpdateCheckStore } from './store.ts'
import { AdoptionDaysView } from './view.ts'

const Texts = z.record(z.string(), z.string())

const UpdateQuery = PluginParams.extend({
  current_version: PluginVersion,
  wp_version: Version.optional(),
  php_version: Version.optional(),
})

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

export function updateRoutes(deps: {
  permit: Permissions
  siteAuthorization: SiteAuthorization
  updateService: UpdateService
  releases: Pick<ReleaseStore, 'package'>
  apiUrl(c: Pick<Context, 'req'>): string
}): OpenAPIHono<AppEnv> {
  const { permit, siteAuthorization, updateService, releases, apiUrl } = deps

  const check = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/updates/check',
    summary: 'Check for an update, in the format of WordPress',
    description: 'With a signature or an API key, the response has the URL of the package.',
    request: { query: UpdateQuery },
    responses: {
      200: jsonResponse(UpdateView, 'The newest version, even if it is already installed'),
      ...errorResponses(formBridgeError, 'plugin_not_found', 'unauthorized', 'rate_limited'),
    },
  })
  const describe = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/plugins/{slug}',
    summary: 'Get plugin details, in the format of WordPress',
    request: { params: PluginParams },
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
    request: { params: VersionParams, query: z.object({ token: z.string().max(200).optional() }) },
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

  return new OpenAPIHono<AppEnv>()
    .openapi(check, async (c) => {
      const auth = siteAuthorization.hasCredentials(c)
        ? await siteAuthorization.authorizeSite(c, { scope: 'update_check' })
        : undefined
      return c.json(await updateService.check(c.req.valid('query'), apiUrl(c), auth), 200)
    })
    .openapi(describe, async (c) =>
      c.json(await updateService.describe(c.req.valid('param').slug), 200),
    )
    .openapi(download, async (c) => {
      const name = c.req.valid('param')
      const { token } = c.req.valid('query')
      if (token === undefined) await siteAuthorization.authorizeSite(c, { scope: 'update_check' })
      else await updateService.requireDownloadToken(token, name)
      const release = await updateService.requirePublished(name)
      return c.body(toStream(releases.package(release)), 200, packageHeaders(release))
    })
}

function packageHeaders({ file_size, sha256, signature, slug, version }: Release) {
  return {
    'content-type': 'application/zip',
    'content-length': String(file_size),
    'content-disposition': `attachment; filename="${slug}-${version}.zip"`,
    'x-fb-release-sha256': sha256,
    'x-fb-release-signature': signature,
  }
}

/** Reads the next chunk when the client is ready for it. */
function toStream(chunks: AsyncGenerator<Uint8Array>): ReadableStream {
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

const InstalledView = z.object({
  site_id: z.string(),
  domain: z.string(),
  current_version: z.string(),
  checked_at: z.string(),
})

const UpdateCheckView = z.object({
  current_version: z.string(),
  latest_version: z.string(),
  update_available: z.boolean(),
  checked_at: z.string(),
})

const MAX_ADOPTION_DAYS = 90
/** A site reports its version itself, so one day may have as many versions as there are sites. */
const MAX_VERSIONS_PER_DAY = 200
const DAY_MS = 86_400_000

export function adoptionRoutes(deps: {
  permit: Permissions
  siteAdmin: Pick<SiteAdmin, 'requireSite'>
  pager: Pager
  clock: Clock
  updateChecks: UpdateCheckStore
}): OpenAPIHono<AppEnv> {
  const { permit, siteAdmin, pager, clock, updateChecks } = deps

  const getAdoption = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/adoption',
    summary: 'Get the number of sites by version on a day',
    request: { query: z.object({ date: IsoDate.optional() }) },
    responses: {
      200: jsonResponse(
        z.object({ date: z.string(), versions: z.record(z.string(), z.int()) }),
        'The number of sites that checked that day, by installed version',
      ),
      ...operatorErrors,
    },
  })
  const getAdoptionByDay = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/adoption/days',
    summary: 'Get the number of sites by version on each of the last days, oldest first',
    description: `Up to ${MAX_VERSIONS_PER_DAY} versions of each day. Days are in UTC; today is not over.`,
    request: {
      query: z.object({
        days: z.coerce.number().int().min(1).max(MAX_ADOPTION_DAYS).default(30),
      }),
    },
    responses: { 200: jsonResponse(AdoptionDaysView, 'The days'), ...operatorErrors },
  })
  const listChecks = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/sites/{site_id}/update-checks',
    summary: 'List the update checks of a site, newest first',
    request: {
      params: SiteParams,
      query: PageQuery.extend({ from: IsoTime.optional(), to: IsoTime.optional() }),
    },
    responses: {
      200: jsonResponse(pageOf(UpdateCheckView), 'A page of update checks'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
      ...errorResponses(formBridgeError, 'site_not_found'),
    },
  })
  const listSites = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/adoption/{version}/sites',
    summary: 'List the sites that have a version installed',
    request: { params: z.object({ version: Version }), query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(InstalledView), 'A page of sites'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(getAdoption, async (c) => {
      const { date = isoDate(clock.now()) } = c.req.valid('query')
      return c.json({ date, versions: await updateChecks.getAdoption(date) }, 200)
    })
    .openapi(getAdoptionByDay, async (c) => {
      const today = clock.now()
      const count = c.req.valid('query').days
      const dates = Array.from({ length: count }, (_, at) =>
        isoDate(today - (count - 1 - at) * DAY_MS),
      )
      const days = await Promise.all(
        dates.map(async (date) => ({
          date,
          ...(await updateChecks.getAdoptionPage(date, MAX_VERSIONS_PER_DAY)),
        })),
      )
      return c.json({ days }, 200)
    })
    .openapi(listChecks, async (c) => {
      const { site_id } = await siteAdmin.requireSite(c.req.valid('param').site_id)
      const { from, to, ...query } = c.req.valid('query')
      const page = await pager(
        ['update checks', site_id, from ?? '', to ?? ''],
        query,
        (request) =>
          updateChecks.history(site_id, { ...request, ...(from && { from }), ...(to && { to }) }),
        (check) => UpdateCheckView.parse(check),
      )
      return c.json(page, 200)
    })
    .openapi(listSites, async (c) => {
      const { version } = c.req.valid('param')
      const page = await pager(
        ['installed', version],
        c.req.valid('query'),
        (request) => updateChecks.listSitesByVersion(version, request),
        (site) => InstalledView.parse(site),
      )
      return c.json(page, 200)
    })
}

/** Answers update checks and describes plugins in the format of WordPress. */
import type { Clock } from '@strongroom/platform/clock'
import type { Authenticated } from '../authentication/service.ts'
import type { AuthenticationStore } from '../authentication/store.ts'
import { formBridgeError } from '../errors.ts'
import type { RateLimits } from '../limits/service.ts'
import type { Release, ReleaseName } from '../releases/item.ts'
import type { LatestInfo, LatestRelease } from '../releases/latest.ts'
import type { ReleaseStore } from '../releases/store.ts'
import { compareVersions } from '../releases/version.ts'
import { isoDate } from '../time.ts'
import type { DownloadTokens } from './download-token.ts'
import type { UpdateCheckStore } from './store.ts'

export interface UpdateQuery {
  slug: string
  current_version: string
  wp_version?: string | undefined
  php_version?: string | undefined
}

const DAY_MS = 86_400_000

export type UpdateService = ReturnType<typeof createUpdateService>

export function createUpdateService(deps: {
  clock: Clock
  latestRelease: LatestRelease
  releases: Pick<ReleaseStore, 'get'>
  downloadTokens: DownloadTokens
  updateChecks: UpdateCheckStore
  authentication: Pick<AuthenticationStore, 'findSiteById'>
  limits: RateLimits
}) {
  const { clock, latestRelease, releases, downloadTokens, updateChecks } = deps
  const { authentication, limits } = deps

  /** Sites that checked for updates yesterday. */
  async function countInstalls(): Promise<number> {
    const versions = await updateChecks.getAdoption(isoDate(clock.now() - DAY_MS))
    return Object.values(versions).reduce((sum, n) => sum + n, 0)
  }

  return {
    /** `apiUrl` ends with `/v1`. Without `auth` the response has no link to the package. */
    async check(query: UpdateQuery, apiUrl: string, auth: Authenticated | undefined) {
      const { slug, current_version } = query
      const info = await latestRelease.get(slug)
      const { version, details } = info
      const update_available = compareVersions(current_version, version) < 0
      // Only signed checks are recorded: like every change, they need more than an API key.
      if (auth?.signed) {
        const { site_id, domain } = auth.site
        await updateChecks.record({
          site_id,
          domain,
          current_version,
          latest_version: version,
          update_available,
        })
      }
      const url = `${apiUrl}/plugins/${slug}`
      const token =
        auth && update_available ? await downloadTokens.sign(auth.site.site_id, info) : undefined
      const warning = compatibilityWarning(info, query)
      return {
        id: url,
        slug,
        version,
        url: details.homepage || url,
        ...(token && { package: `${url}/${version}/download?token=${token}` }),
        tested: details.tested,
        requires: details.requires,
        requires_php: details.requires_php,
        autoupdate: false,
        icons: {},
        banners: {},
        banners_rtl: {},
        translations: [],
        upgrade_notice: details.upgrade_notice,
        current_version,
        update_available,
        compatible: warning === undefined,
        compatibility_warning: warning ?? null,
        sha256: info.sha256,
        signature: info.signature,
        file_size: info.file_size,
        released_at: info.released_at,
      }
    },

    async describe(slug: string) {
      const info = await latestRelease.get(slug)
      const { name, author, homepage, requires, tested, requires_php, sections } = info.details
      return {
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
        active_installs: await countInstalls(),
        rating: 0,
        num_ratings: 0,
        contributors: {},
      }
    },

    /** The token of a link authorizes its site, if the site is still active. */
    async requireDownloadToken(token: string, name: ReleaseName): Promise<void> {
      const site_id = await downloadTokens.verify(token, name)
      const site = site_id && (await authentication.findSiteById(site_id))
      if (!site || site.status !== 'active') throw formBridgeError('download_token_invalid')
      await limits.require({ scope: 'update_check', site_id: site.site_id })
    },

    async requirePublished(name: ReleaseName): Promise<Release> {
      const release = await releases.get(name)
      if (release?.status !== 'published') throw formBridgeError('version_not_found')
      return release
    },
  }
}

function compatibilityWarning(
  { version, details }: LatestInfo,
  { php_version, wp_version }: UpdateQuery,
): string | undefined {
  const { requires, requires_php } = details
  const isTooOld = (installed: string | undefined, required: string) =>
    installed !== undefined && required !== '' && compareVersions(installed, required) < 0
  if (isTooOld(php_version, requires_php)) return `Version ${version} needs PHP ${requires_php}`
  if (isTooOld(wp_version, requires)) return `Version ${version} needs WordPress ${requires}`
  return undefined
}

/** What WordPress is told when it asks for updates. */
import { compareVersions } from '../compare-versions.ts'
import type { Authenticated } from '../auth/authenticate.ts'
import type { createUpdateChecks } from '../store/update-checks.ts'
import type { DownloadTokens } from './download-token.ts'
import type { Latest, LatestInfo } from './latest.ts'

export interface Asking {
  slug: string
  current_version: string
  wp_version?: string | undefined
  php_version?: string | undefined
}

export type UpdateCheck = ReturnType<typeof createUpdateCheck>

export function createUpdateCheck(deps: {
  latest: Pick<Latest, 'of'>
  tokens: DownloadTokens
  checks: Pick<ReturnType<typeof createUpdateChecks>, 'record'>
}) {
  const { latest, tokens, checks } = deps

  /** `base` is the address of the API; who asks is known only of those who have shown it. */
  return async (asking: Asking, base: string, asked: Authenticated | undefined) => {
    const { slug, current_version } = asking
    const info = await latest.of(slug)
    const { version } = info
    const update_available = compareVersions(current_version, version) < 0
    // Only what is signed counts: anybody can put the id of a site into an address.
    if (asked?.signed) {
      const { site_id, domain } = asked.site
      await checks.record({
        site_id,
        domain,
        current_version,
        latest_version: version,
        update_available,
      })
    }
    const address = `${base}/plugins/${slug}`
    const token =
      asked && update_available ? await tokens.make(asked.site.site_id, info) : undefined
    const warning = incompatibility(info, asking)
    return {
      id: address,
      slug,
      version,
      url: info.details.homepage || address,
      ...(token && { package: `${address}/${version}/download?token=${token}` }),
      tested: info.details.tested,
      requires: info.details.requires,
      requires_php: info.details.requires_php,
      autoupdate: false,
      icons: {},
      banners: {},
      banners_rtl: {},
      translations: [],
      upgrade_notice: info.details.upgrade_notice,
      current_version,
      update_available,
      compatible: warning === null,
      compatibility_warning: warning,
      sha256: info.sha256,
      signature: info.signature,
      file_size: info.file_size,
      released_at: info.released_at,
    }
  }
}

function incompatibility({ version, details }: LatestInfo, asking: Asking): string | null {
  const { requires, requires_php } = details
  const tooOld = (has: string | undefined, needs: string) =>
    has !== undefined && needs !== '' && compareVersions(has, needs) < 0
  if (tooOld(asking.php_version, requires_php))
    return `Version ${version} needs PHP ${requires_php}`
  if (tooOld(asking.wp_version, requires)) return `Version ${version} needs WordPress ${requires}`
  return null
}

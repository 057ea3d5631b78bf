/** Form-Bridge on the store itself, without a server. */
import { createSiteAdmin, type SiteAdmin } from '@strongroom/form-bridge/sites/service'
import { createReleaseService, type ReleaseService } from '@strongroom/form-bridge/releases/service'
import { createStores } from '@strongroom/form-bridge/stores'
import { createLatestRelease } from '@strongroom/form-bridge/releases/latest'
import type { Clock } from '@strongroom/platform/clock'
import type { Db } from '@strongroom/kit/db'

interface On {
  db: Db
  clock: Clock
}

export function siteAdminOn(on: On): SiteAdmin {
  return createSiteAdmin(createStores(on))
}

export function publishOn(on: On, releaseKeys: readonly string[]): ReleaseService {
  const stores = createStores(on)
  const latestRelease = createLatestRelease({ ...on, ...stores })
  return createReleaseService({ ...stores, latestRelease, releaseKeys })
}

export function releasesOn(on: On, slug: string) {
  return createStores(on).releases.list(slug)
}

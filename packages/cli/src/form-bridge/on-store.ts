/** Form-Bridge on the store itself, without a server. */
import { createSiteDesk, type SiteDesk } from '@strongroom/form-bridge/administration/site-desk'
import { createPublish, type Publish } from '@strongroom/form-bridge/releases/publish'
import { createDataLayer } from '@strongroom/form-bridge/store/data-layer'
import { createLatest } from '@strongroom/form-bridge/updates/latest'
import type { Clock } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'

interface On {
  db: Db
  clock: Clock
}

export function siteDeskOn(on: On): SiteDesk {
  const layer = createDataLayer(on)
  return createSiteDesk({ ...layer, checks: layer.updateChecks })
}

export function publishOn(on: On, releaseKeys: readonly string[]): Publish {
  const { releases, versionCache: cache } = createDataLayer(on)
  return createPublish({ releases, latest: createLatest({ ...on, releases, cache }), releaseKeys })
}

export function releasesOn(on: On, slug: string) {
  return createDataLayer(on).releases.list(slug)
}

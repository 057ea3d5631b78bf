/** The newest version, remembered for two hours, so that update checks need not list releases. */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { endingAfter, ifLive, isLive, isoNow } from '../expiry.ts'
import { VersionCacheItem, versionCacheKey, type VersionInfo } from '../items/release.ts'
import { lifetimes } from '../lifetimes.ts'
import { formBridgeTable } from '../table.ts'
import type { StoreDeps } from './deps.ts'

export function createVersionCache({ db, clock }: StoreDeps) {
  const cache = entity(db, formBridgeTable, VersionCacheItem)
  const { attr } = cache

  return {
    async put(version_info: VersionInfo): Promise<void> {
      await cache.put({
        ...versionCacheKey,
        GSI1PK: `VERSION#${version_info.version}`,
        GSI1SK: 'RELEASE',
        version_info,
        cached_at: isoNow(clock),
        ttl: endingAfter(clock, lifetimes.versionCache).ttl,
      })
    },

    /** There is one such item: what it holds of another plugin is no answer. */
    async latest(slug: string): Promise<VersionInfo | undefined> {
      const cached = await cache.get(versionCacheKey).then(ifLive(clock))
      return cached?.version_info.slug === slug ? cached.version_info : undefined
    },

    /** By the index, so a moment behind. */
    async find(version: string): Promise<VersionInfo | undefined> {
      const { items } = await cache.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`VERSION#${version}`} AND ${attr('GSI1SK')} = ${'RELEASE'}`,
      })
      return items.find((item) => isLive(item, clock))?.version_info
    },

    /** Forgets it, as when a release was published or withdrawn. */
    async clear(): Promise<void> {
      await cache.delete(versionCacheKey)
    },
  }
}

/** The newest published release of a plugin: from memory, from a cache item, or from the releases. */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { formBridgeError } from '../errors.ts'
import { Details } from '../formats.ts'
import { formBridgeTable, type StoreDeps, TTL_SECONDS } from '../tables.ts'
import { expiresIn, isoNow, isUnexpired, unexpired } from '../time.ts'
import {
  type Release,
  ReleaseDetails,
  VersionCacheItem,
  versionCacheKey,
  type VersionInfo,
} from './item.ts'
import type { ReleaseStore } from './store.ts'

export type VersionCache = ReturnType<typeof createVersionCache>

/** One item for two hours, so update checks do not list the releases. */
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
        ttl: expiresIn(clock, TTL_SECONDS.versionCache).ttl,
      })
    },

    /** All plugins share the item, so it may hold another one. */
    async latest(slug: string): Promise<VersionInfo | undefined> {
      const cached = await cache.get(versionCacheKey).then(unexpired(clock))
      return cached?.version_info.slug === slug ? cached.version_info : undefined
    },

    /** Reads GSI1: eventually consistent. */
    async find(version: string): Promise<VersionInfo | undefined> {
      const { items } = await cache.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`VERSION#${version}`} AND ${attr('GSI1SK')} = ${'RELEASE'}`,
      })
      return items.find((item) => isUnexpired(item, clock))?.version_info
    },

    async clear(): Promise<void> {
      await cache.delete(versionCacheKey)
    },
  }
}

const LatestInfo = z.object({
  slug: z.string(),
  version: z.string(),
  details: ReleaseDetails,
  sha256: z.string(),
  signature: z.string(),
  file_size: z.int(),
  released_at: z.string(),
})
export type LatestInfo = z.infer<typeof LatestInfo>

/** How long a process uses what it read. */
const CACHE_MS = 5_000
const MAX_ENTRIES = 100

export type LatestRelease = ReturnType<typeof createLatestRelease>

export function createLatestRelease(deps: {
  clock: Clock
  releases: Pick<ReleaseStore, 'list'>
  versionCache: VersionCache
}) {
  const { clock, releases, versionCache } = deps
  const cached = new LRUCache<string, { readAt: number; info: LatestInfo | undefined }>({
    max: MAX_ENTRIES,
  })

  async function findPublished(slug: string): Promise<LatestInfo | undefined> {
    const newest = (await releases.list(slug)).find(({ status }) => status === 'published')
    return newest && toLatestInfo(newest)
  }

  async function read(slug: string): Promise<LatestInfo | undefined> {
    const stored = await versionCache.latest(slug)
    if (stored) return LatestInfo.parse(stored)
    const info = await findPublished(slug)
    if (!info) return undefined
    await versionCache.put({ ...info, details: Details.parse(info.details) })
    // A concurrent publish or withdrawal may have cleared the cache before it was written here.
    const now = await findPublished(slug)
    if (now?.version !== info.version) await versionCache.clear()
    return now
  }

  async function find(slug: string): Promise<LatestInfo | undefined> {
    const known = cached.get(slug)
    if (known && isRecent(clock, known.readAt, CACHE_MS)) return known.info
    const info = await read(slug)
    cached.set(slug, { readAt: clock.now(), info })
    return info
  }

  return {
    async get(slug: string): Promise<LatestInfo> {
      const info = await find(slug)
      if (!info) throw formBridgeError('plugin_not_found')
      return info
    },

    async findVersion(slug: string): Promise<string | undefined> {
      return (await find(slug))?.version
    },

    /** After a release was published or withdrawn. */
    async invalidate(slug: string): Promise<void> {
      cached.delete(slug)
      await versionCache.clear()
      // A concurrent read may have cached the old version again.
      cached.delete(slug)
    },
  }
}

function toLatestInfo(release: Release): LatestInfo {
  const { slug, version, details, sha256, signature, file_size } = release
  return {
    slug,
    version,
    details: ReleaseDetails.parse(details),
    sha256,
    signature,
    file_size,
    released_at: release.published_at ?? release.created_at,
  }
}

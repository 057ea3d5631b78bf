/** Triples that Slack has confirmed. Only successes are kept, each for exactly five minutes. */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import type { AppKeys, SlackIds } from './keys.ts'
import { isAhead } from './lasting.ts'
import { CACHE_SECONDS, CacheItem, cacheTable } from './table.ts'

export interface ExistenceCache {
  /** The entry of a triple that was verified less than five minutes ago, or undefined. */
  get(ids: SlackIds): Promise<CacheItem | undefined>
  /**
   * Keeps a triple as verified now, or a moment ago: the five minutes begin with the oldest answer
   * of Slack that it rests on. The last write wins: all of them say the same.
   */
  put(ids: SlackIds, options?: PutOptions): Promise<CacheItem>
}

export interface PutOptions {
  /** In seconds since the epoch, less than five minutes ago; now unless told. */
  verifiedAt?: number
  mac?: (entry: CacheItem) => Uint8Array
}

export function createExistenceCache(options: {
  db: Db
  clock: Clock
  keys: Pick<AppKeys, 'cacheKey'>
}): ExistenceCache {
  const { clock, keys } = options
  const items = entity(options.db, cacheTable, CacheItem)

  return {
    async get(ids) {
      // A read that is a moment behind costs one call to Slack at most.
      const entry = await items.get(keys.cacheKey(ids), { eventual: true })
      // One that would last longer was not made by a clock like ours, or not by us.
      const isFresh = entry && isAhead(entry.ttl, epochSeconds(clock), CACHE_SECONDS)
      return isFresh ? entry : undefined
    },

    async put(ids, { mac, verifiedAt = epochSeconds(clock) } = {}) {
      const entry = {
        ...keys.cacheKey(ids),
        ttl: verifiedAt + CACHE_SECONDS,
        verified_at: verifiedAt,
      }
      const kept = mac ? { ...entry, mac: mac(entry) } : entry
      await items.put(kept)
      return kept
    },
  }
}

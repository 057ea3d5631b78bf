/**
 * Slack's responses about single entities, in memory only: existing ones for five minutes, absent ones
 * for one.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { LRUCache } from 'lru-cache'
import { CACHE_SECONDS } from './cache-store.ts'

const EXISTS_MS = CACHE_SECONDS * 1000
/** Short, because a new user or channel must work soon. */
const ABSENT_MS = 60_000
const MAX_ENTRIES = 50_000

export interface CachedEntity<Facts> {
  facts: Facts
  /** Milliseconds since the epoch. */
  verifiedAt: number
}

export interface EntityCache<Facts> {
  get(key: string): CachedEntity<Facts> | 'absent' | undefined
  setExists(key: string, facts: Facts): CachedEntity<Facts>
  setAbsent(key: string): void
  delete(key: string): void
}

export function createEntityCache<Facts extends object>(clock: Clock): EntityCache<Facts> {
  const existing = new LRUCache<string, CachedEntity<Facts>>({ max: MAX_ENTRIES })
  const absentSince = new LRUCache<string, number>({ max: MAX_ENTRIES })

  return {
    get(key) {
      const entity = existing.get(key)
      if (entity && isRecent(clock, entity.verifiedAt, EXISTS_MS)) return entity
      if (entity) existing.delete(key)
      const since = absentSince.get(key)
      if (since === undefined) return undefined
      if (isRecent(clock, since, ABSENT_MS)) return 'absent'
      absentSince.delete(key)
      return undefined
    },

    setExists(key, facts) {
      const entity = { facts, verifiedAt: clock.now() }
      absentSince.delete(key)
      existing.set(key, entity)
      return entity
    },

    setAbsent(key) {
      existing.delete(key)
      absentSince.set(key, clock.now())
    },

    delete: (key) => void existing.delete(key),
  }
}

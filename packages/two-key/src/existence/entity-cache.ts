/**
 * Slack's responses about single entities, in memory only: existing ones for five minutes, absent ones
 * for one.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { LRUCache } from 'lru-cache'
import type { EntityFacts } from './slack-responses.ts'
import { CACHE_SECONDS } from './triple-store.ts'

const EXISTS_MS = CACHE_SECONDS * 1000
/** Short, because a new user or channel must work soon. */
const ABSENT_MS = 60_000
const MAX_ENTRIES = 50_000

export interface CachedEntity {
  facts: EntityFacts
  /** Milliseconds since the epoch. */
  verifiedAt: number
}

export interface EntityCache {
  get(key: string): CachedEntity | 'absent' | undefined
  setExists(key: string, facts: EntityFacts): CachedEntity
  setAbsent(key: string): void
  delete(key: string): void
}

export function createEntityCache(clock: Clock): EntityCache {
  const existing = new LRUCache<string, CachedEntity>({ max: MAX_ENTRIES })
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

/** Triples that Slack has confirmed. Only successes are stored, each for exactly five minutes. */
import { type Clock, epochSeconds, isRecent } from '@strongroom/platform/clock'
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import * as z from 'zod'
import { type AppKeys, CACHE_KEY } from '../keys.ts'
import type { Triple } from '../slack-ids.ts'
import { cacheTable } from '../tables.ts'

export const CACHE_SECONDS = 300

const EpochSecond = z.number().int().positive()

export const TripleItem = z.object({
  cache_key: z.string().regex(CACHE_KEY),
  ttl: EpochSecond,
  verified_at: EpochSecond.optional(),
  /** With a MAC, write access to the table is not enough to invent an entry. */
  mac: z
    .custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32)
    .optional(),
})
export type TripleItem = z.infer<typeof TripleItem>

export interface TripleStore {
  /** The entry of a triple that was verified less than five minutes ago. */
  get(triple: Triple): Promise<TripleItem | undefined>
  /**
   * The five minutes begin with the oldest of Slack's responses about the triple. The last write wins;
   * concurrent writes store the same fact.
   */
  put(triple: Triple, options?: PutOptions): Promise<TripleItem>
}

export interface PutOptions {
  /** Seconds since the epoch, less than five minutes ago; by default now. */
  verifiedAt?: number
  mac?: (entry: TripleItem) => Uint8Array
}

export function createTripleStore(options: {
  db: Db
  clock: Clock
  keys: Pick<AppKeys, 'cacheKey'>
}): TripleStore {
  const { clock, keys } = options
  const items = entity(options.db, cacheTable, TripleItem)

  return {
    async get(triple) {
      // A stale read costs at most one call to Slack.
      const entry = await items.get(keys.cacheKey(triple), { eventual: true })
      if (!entry) return undefined
      // An entry from the future was written with a wrong clock, or not by us.
      const verifiedAt = 1000 * (entry.ttl - CACHE_SECONDS)
      return isRecent(clock, verifiedAt, 1000 * CACHE_SECONDS) ? entry : undefined
    },

    async put(triple, { mac, verifiedAt = epochSeconds(clock) } = {}) {
      const entry = {
        ...keys.cacheKey(triple),
        ttl: verifiedAt + CACHE_SECONDS,
        verified_at: verifiedAt,
      }
      const signed = mac ? { ...entry, mac: mac(entry) } : entry
      await items.put(signed)
      return signed
    },
  }
}

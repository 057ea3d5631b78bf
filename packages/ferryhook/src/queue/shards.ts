/**
 * The number of partitions that tasks are spread over. It can only be increased: workers would stop
 * reading the tasks of a removed partition.
 */
import { createHash } from 'node:crypto'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { isRecent } from '@strongroom/platform/clock'
import { LRUCache } from 'lru-cache'
import type { StoreDeps } from '../stores.ts'
import { eventsTable } from '../tables.ts'
import { ShardCountItem, shardCountKey } from './tasks.ts'

export const DEFAULT_SHARDS = 8

/**
 * A process that writes by an older, smaller number is safe: its partitions are still read. New
 * partitions are read after this time at the latest.
 */
const CACHE_MS = 60_000

const MAX_CACHED_HASHES = 10_000

export function createShards({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const items = entity(db, eventsTable, ShardCountItem)
  const key = shardCountKey.of({})
  let cached: { shards: Promise<number>; readAt: number } | undefined

  async function read(): Promise<number> {
    return (await items.get(key))?.shards ?? DEFAULT_SHARDS
  }

  async function count(): Promise<number> {
    if (!cached || !isRecent(clock, cached.readAt, CACHE_MS)) {
      const shards = read()
      cached = { shards, readAt: clock.now() }
      // Do not cache a failed read.
      shards.catch(() => (cached = undefined))
    }
    return cached.shards
  }

  return {
    count,

    /** The shard of all tasks of a source or connection. */
    async shardFor(id: string): Promise<number> {
      return shardOf(id, await count())
    },

    /** Spreads new tasks over more partitions. A number that is not higher changes nothing. */
    async increase(shards: number): Promise<number> {
      const attribute = items.attr('shards')
      const isHigher = expr`attribute_not_exists(${attribute}) OR ${attribute} < ${shards}`
      if (shards > DEFAULT_SHARDS) {
        await items.put({ ...key, shards }, isHigher).catch((error: unknown) => {
          if (!(error instanceof ConditionFailed)) throw error
        })
      }
      cached = undefined
      return count()
    },
  }
}

export type Shards = ReturnType<typeof createShards>

export function shardOf(id: string, shards: number): number {
  return hashOf(id) % shards
}

/**
 * The first time from `at` on that is a whole number of steps after an offset of the id's own. Tasks
 * that recur in steps are thus spread over the step instead of all being due at its start.
 */
export function nextStep(id: string, at: number, stepMs: number): number {
  const offset = hashOf(id) % stepMs
  return Math.ceil((at - offset) / stepMs) * stepMs + offset
}

/** Every event and delivery of a busy source needs the same few hashes. */
const hashes = new LRUCache<string, number>({ max: MAX_CACHED_HASHES })

function hashOf(id: string): number {
  const cached = hashes.get(id)
  if (cached !== undefined) return cached
  const hash = createHash('sha256').update(id).digest().readUInt32BE()
  hashes.set(id, hash)
  return hash
}

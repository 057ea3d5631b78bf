/**
 * Over how many partitions due work is spread. The number is only ever raised: work that lies in a
 * partition is found as long as that partition is read.
 */
import { isRecent } from '@strongroom/kit/clock'
import { createHash } from 'node:crypto'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { DueShardsItem, dueShardsKey } from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps } from './deps.ts'

export const DEFAULT_SHARDS = 8

/**
 * How long the number is remembered. Whoever writes by an older, smaller number is still read; new
 * partitions are read after this long at the latest.
 */
const REMEMBERED_MS = 60_000

const MOST_HASHES = 10_000

export function createDueShards({ db, clock }: Pick<DataLayerDeps, 'db' | 'clock'>) {
  const items = entity(db, eventsTable, DueShardsItem)
  const key = dueShardsKey.of({})
  let remembered: { shards: Promise<number>; readAt: number } | undefined

  async function read(): Promise<number> {
    return (await items.get(key))?.shards ?? DEFAULT_SHARDS
  }

  async function count(): Promise<number> {
    if (!remembered || !isRecent(clock, remembered.readAt, REMEMBERED_MS)) {
      const shards = read()
      remembered = { shards, readAt: clock.now() }
      // A failed read is not remembered.
      shards.catch(() => (remembered = undefined))
    }
    return remembered.shards
  }

  return {
    count,

    /** The partition of everything that concerns this source or connection. */
    async of(id: string): Promise<number> {
      return shardOf(id, await count())
    },

    /** Spreads new work over more partitions; a number that is not higher changes nothing. */
    async raise(shards: number): Promise<number> {
      const attribute = items.attr('shards')
      const higher = expr`attribute_not_exists(${attribute}) OR ${attribute} < ${shards}`
      if (shards > DEFAULT_SHARDS) {
        await items.put({ ...key, shards }, higher).catch((error: unknown) => {
          if (!(error instanceof ConditionFailed)) throw error
        })
      }
      remembered = undefined
      return count()
    },
  }
}

export type DueShards = ReturnType<typeof createDueShards>

export function shardOf(id: string, shards: number): number {
  return hashOf(id) % shards
}

/** Of a busy source or connection it is asked all the time. */
const hashes = new Map<string, number>()

function hashOf(id: string): number {
  const known = hashes.get(id)
  if (known !== undefined) return known
  if (hashes.size >= MOST_HASHES) hashes.clear()
  const hash = createHash('sha256').update(id).digest().readUInt32BE()
  hashes.set(id, hash)
  return hash
}

/**
 * Limits how many bytes the table of secrets may hold.
 *
 * A scan of the table counts them before the first creation, with every sweep, and before a creation
 * is refused. In between, creations are added and ended secrets are not subtracted, so that the count
 * is never too low. A single server stays within the quota to the byte; servers that share a table
 * see each other's secrets at their next count.
 */
import type { Db, Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { scanAll } from '@strongroom/kit/paging'
import type { Clock } from '@strongroom/platform/clock'
import { sealedError } from '../errors.ts'
import { SecretItem } from '../secrets/item.ts'
import { secretsTable } from '../tables.ts'

/** All attributes except the ciphertext, with their names and five claims, as DynamoDB counts them. */
const SECRET_BYTES = 600
const TOMBSTONE_BYTES = 120

/** A full table is not scanned again for every creation that it refuses. */
const RECOUNT_INTERVAL_MS = 60_000

export interface Quota {
  /** Runs `write`, which returns whether it stored the ciphertext. Throws `full` if there is no room. */
  storeWithin(ciphertext: string, write: () => Promise<boolean>): Promise<boolean>
  recount(): Promise<void>
  /** Undefined without a limit. */
  usage(): Promise<{ usedBytes: number; maxBytes: number } | undefined>
}

/** Without a limit if `maxBytes` is 0. */
export function createQuota(options: { db: Db; clock: Clock; maxBytes: number }): Quota {
  const { db, clock, maxBytes } = options
  let storedBytes: number | undefined
  let countedAt = 0
  let counting: Promise<void> | undefined
  /** Of creations that are being written now. */
  let inFlightBytes = 0
  /** Of creations that the running count may have missed. */
  let uncountedBytes = 0

  async function count() {
    uncountedBytes = inFlightBytes
    const counted = await countBytes(db)
    storedBytes = counted + uncountedBytes
    countedAt = clock.now()
  }

  const recount = () => (counting ??= count().finally(() => (counting = undefined)))

  /** Reserves the bytes if there is room. Nothing is awaited between the check and the reservation. */
  async function reserve(size: number): Promise<boolean> {
    if (storedBytes === undefined) await recount()
    const fits = () => (storedBytes ?? maxBytes) + size <= maxBytes
    if (!fits() && clock.now() - countedAt >= RECOUNT_INTERVAL_MS) await recount()
    if (!fits()) return false
    add(size)
    inFlightBytes += size
    uncountedBytes += size
    return true
  }

  const add = (size: number) => void (storedBytes = (storedBytes ?? 0) + size)

  return {
    recount: async () => (maxBytes === 0 ? undefined : recount()),

    async usage() {
      if (maxBytes === 0) return undefined
      if (storedBytes === undefined) await recount()
      return { usedBytes: storedBytes ?? 0, maxBytes }
    },

    async storeWithin(ciphertext, write) {
      if (maxBytes === 0) return write()
      const size = SECRET_BYTES + ciphertext.length
      if (!(await reserve(size))) throw sealedError('full', { headers: { 'retry-after': '60' } })
      try {
        const isStored = await write()
        // A write that throws may have happened, and stays counted until the next count.
        if (!isStored) add(-size)
        return isStored
      } finally {
        inFlightBytes -= size
      }
    },
  }
}

async function countBytes(db: Db): Promise<number> {
  const { attr } = entity(db, secretsTable, SecretItem)
  const projection = expr`${attr('ciphertext')}`
  let bytes = 0
  for await (const size of scanAll(db, secretsTable, { projection }, itemBytes)) bytes += size
  return bytes
}

function itemBytes({ ciphertext }: Item): number {
  return typeof ciphertext === 'string' ? SECRET_BYTES + ciphertext.length : TOMBSTONE_BYTES
}

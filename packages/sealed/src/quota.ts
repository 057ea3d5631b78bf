/**
 * Keeps the table of secrets from growing beyond a number of bytes.
 *
 * What is stored is counted by looking through the table: before the first creation, whenever the
 * server sweeps, and before a creation is refused. In between only creations are added, never what
 * has ended, so that the count errs on the side of refusing. A server alone stays within the quota
 * to the byte; servers that share a table learn at their next look what the others have stored.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { Db, Item } from '@strongroom/kit/db'
import { sealedError } from './errors.ts'
import { secretsTable } from './table.ts'

/** All attributes but the ciphertext, with their names and five claims, in DynamoDB's measure. */
const SECRET_BYTES = 600
const TOMBSTONE_BYTES = 120

/** A full table is not looked through again for every creation that it has no room for. */
const LOOK_EVERY_MS = 60_000

export interface Quota {
  /** Stores a ciphertext if there is room; `write` says whether it has stored it. */
  within(ciphertext: string, write: () => Promise<boolean>): Promise<boolean>
  /** Counts what is stored. */
  look(): Promise<void>
}

export function createQuota(options: { db: Db; clock: Clock; bytes: number }): Quota {
  const { db, clock, bytes: most } = options
  let stored: number | undefined
  let lookedAt = 0
  let looking: Promise<void> | undefined
  /** Of creations that are on their way now. */
  let underWay = 0
  /** Of creations that a look that is running may or may not see. */
  let unsure = 0

  async function count() {
    unsure = underWay
    const seen = await storedBytes(db)
    stored = seen + unsure
    lookedAt = clock.now()
  }

  const look = () => (looking ??= count().finally(() => (looking = undefined)))

  /** Whether there was room, which then is taken: nothing comes between the question and the answer. */
  async function reserve(size: number): Promise<boolean> {
    if (stored === undefined) await look()
    const fits = () => (stored ?? most) + size <= most
    if (!fits() && clock.now() - lookedAt >= LOOK_EVERY_MS) await look()
    if (!fits()) return false
    add(size)
    underWay += size
    unsure += size
    return true
  }

  const add = (size: number) => void (stored = (stored ?? 0) + size)

  return {
    look: async () => (most === 0 ? undefined : look()),

    async within(ciphertext, write) {
      if (most === 0) return write()
      const size = SECRET_BYTES + ciphertext.length
      if (!(await reserve(size))) throw sealedError('full', { headers: { 'retry-after': '60' } })
      try {
        const written = await write()
        // A write that fails may have happened all the same, and stays counted until the next look.
        if (!written) add(-size)
        return written
      } finally {
        underWay -= size
      }
    },
  }
}

async function storedBytes(db: Db): Promise<number> {
  const request = {
    TableName: secretsTable.name,
    ProjectionExpression: 'ciphertext',
    ConsistentRead: true,
  }
  let bytes = 0
  let from: Item | undefined
  do {
    const page = await db.scan({ ...request, ...(from && { ExclusiveStartKey: from }) })
    for (const { ciphertext } of page.Items ?? []) {
      bytes += typeof ciphertext === 'string' ? SECRET_BYTES + ciphertext.length : TOMBSTONE_BYTES
    }
    from = page.LastEvaluatedKey
  } while (from)
  return bytes
}

/**
 * What the embedded KMS keeps, as items of `strongroom-server`: `KMSKEY#{id}`/`STATE` for a key and
 * `KMSKEY#{id}`/`V#{n}` for each of its backing keys, which the master key has wrapped.
 */
import type { Db, Item } from '@strongroom/kit/db'
import { ConditionFailed, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { ItemMismatch } from '@strongroom/kit/item-mismatch'
import { serverTable } from '@strongroom/kit/server-table'
import { invalidState, type KmsError } from '@strongroom/kms/errors'
import type { BackingKey, KeyRecord, KeyStorage } from '@strongroom/kms/key-storage'
import * as z from 'zod'

const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length > 0)
const Millis = z.number().int().nonnegative()

export const StateItem = z.object({
  PK: z.string().startsWith('KMSKEY#'),
  SK: z.literal('STATE'),
  id: z.string(),
  arn: z.string(),
  description: z.string(),
  createdAt: Millis,
  masterKeyCheck: Bytes,
  state: z.enum(['Enabled', 'Disabled', 'PendingDeletion']),
  deletionAt: Millis.optional(),
  currentVersion: z.number().int().positive(),
  revision: z.number().int().positive(),
})

export const VersionItem = z.object({
  PK: z.string().startsWith('KMSKEY#'),
  SK: z.string().regex(/^V#[1-9]\d*$/),
  version: z.number().int().positive(),
  createdAt: Millis,
  wrapped: Bytes,
})

export function createKmsKeys(db: Db): KeyStorage {
  const states = entity(db, serverTable, StateItem)
  const versions = entity(db, serverTable, VersionItem)
  const absent = expr`attribute_not_exists(${states.attr('PK')})`
  const revision = states.attr('revision')
  const unchanged = (expected: number) => expr`${revision} = ${expected}`
  const stateIn = (item: Item) => {
    try {
      return recordOf(states.parse(item))
    } catch (error) {
      return refuseDamaged(error)
    }
  }

  return {
    async load(id) {
      const item = await states.get(stateKey(id)).catch(refuseDamaged)
      return item && recordOf(item)
    },

    async loadVersion(id, version) {
      const item = await versions.get(versionKey(id, version)).catch(refuseDamaged)
      if (item && item.version !== version) throw damaged()
      return item && backingKeyOf(item)
    },

    async list() {
      const records: KeyRecord[] = []
      let from: Item | undefined
      do {
        // The table is small, and this is for people and for the first start.
        const page = await db.scan({
          TableName: serverTable.name,
          ConsistentRead: true,
          FilterExpression: 'begins_with(PK, :key) AND SK = :state',
          ExpressionAttributeValues: { ':key': 'KMSKEY#', ':state': 'STATE' },
          ...(from && { ExclusiveStartKey: from }),
        })
        records.push(...(page.Items ?? []).map(stateIn))
        from = page.LastEvaluatedKey
      } while (from)
      return records
    },

    create: (record, first) =>
      decided(
        transact(db, [
          states.part.put({ ...stateKey(record.id), ...record }, absent),
          versions.part.put({ ...versionKey(record.id, first.version), ...first }, absent),
        ]),
      ),

    addVersion: (id, backingKey, expected) =>
      decided(
        transact(db, [
          states.part.update(
            stateKey(id),
            expr`SET ${states.attr('currentVersion')} = ${backingKey.version}, ${revision} = ${expected + 1}`,
            unchanged(expected),
          ),
          versions.part.put({ ...versionKey(id, backingKey.version), ...backingKey }, absent),
        ]),
      ),

    updateState(id, change, expected) {
      const [state, deletionAt] = [states.attr('state'), states.attr('deletionAt')]
      const set = expr`SET ${state} = ${change.state}, ${revision} = ${expected + 1}`
      const update =
        change.state === 'PendingDeletion'
          ? expr`${set}, ${deletionAt} = ${change.deletionAt}`
          : expr`${set} REMOVE ${deletionAt}`
      return decided(states.update(stateKey(id), update, unchanged(expected)))
    },

    async remove(id, expected) {
      const PK = versions.attr('PK')
      const { items } = await versions.query({
        key: expr`${PK} = ${`KMSKEY#${id}`} AND begins_with(${versions.attr('SK')}, ${'V#'})`,
      })
      // A version that is added after this read raises the revision.
      return decided(
        transact(db, [
          states.part.delete(stateKey(id), unchanged(expected)),
          ...items.map(({ PK: partition, SK }) => versions.part.delete({ PK: partition, SK })),
        ]),
      )
    },
  }
}

/** By what a key tells its master key, if the item is a key: backups hold items of all kinds. */
export function masterKeyCheckIn(item: object): Uint8Array | undefined {
  return StateItem.safeParse(item).data?.masterKeyCheck
}

function stateKey(id: string) {
  return { PK: `KMSKEY#${id}`, SK: 'STATE' } as const
}

function versionKey(id: string, version: number) {
  return { PK: `KMSKEY#${id}`, SK: `V#${version}` } as const
}

function recordOf({
  PK: partition,
  SK: _sort,
  deletionAt,
  ...record
}: z.infer<typeof StateItem>): KeyRecord {
  if (partition !== stateKey(record.id).PK) throw damaged()
  return { ...record, ...(deletionAt !== undefined && { deletionAt }) }
}

function backingKeyOf({ version, createdAt, wrapped }: z.infer<typeof VersionItem>): BackingKey {
  return { version, createdAt, wrapped }
}

/** Whether a write happened, or another process was first. */
async function decided(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionFailed) return false
    if (error instanceof TransactionFailed && error.conditionFailed()) return false
    throw error
  }
}

function refuseDamaged(error: unknown): never {
  throw error instanceof ItemMismatch ? damaged({ cause: error }) : error
}

/** Not as it was written, or copied to the place of another key or version. */
function damaged(options?: ErrorOptions): KmsError {
  return invalidState('A stored KMS key is damaged: restore the store from a backup', options)
}

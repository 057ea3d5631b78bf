/**
 * The keys of the embedded KMS as items of `strongroom-server`: `KMSKEY#{id}`/`STATE` for a key and
 * `KMSKEY#{id}`/`V#{n}` for each of its backing keys, wrapped by the master key.
 */
import type { Db, Item } from '@strongroom/kit/db'
import { conditionHeld, ItemMismatch, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { transact } from '@strongroom/kit/transact'
import { expr } from '@strongroom/kit/expression'
import { serverTable } from '@strongroom/kit/server-table'
import { conflict, invalidState, type KmsError } from '@strongroom/kms/errors'
import type { BackingKey, KeyRecord, KeyStorage, RekeyStorage } from '@strongroom/kms/key-storage'
import type { z } from 'zod'
import { MASTER_KEY, MasterKeyItem, StateItem, stateKey, VersionItem, versionKey } from './items.ts'
import { createRekeyStorage } from './rekey-storage.ts'

export function createKmsKeyStorage(db: Db): KeyStorage & RekeyStorage {
  const states = entity(db, serverTable, StateItem)
  const versions = entity(db, serverTable, VersionItem)
  const master = entity(db, serverTable, MasterKeyItem)
  const settled = expr`attribute_not_exists(${master.attr('next')})`
  /** A key added during a rekey would be wrapped only by the old master key. */
  const settledOn = (check: Uint8Array) =>
    master.part.check(
      MASTER_KEY,
      expr`${settled} AND (attribute_not_exists(${master.attr('PK')}) OR ${master.attr('current')} = ${check})`,
    )
  const absent = expr`attribute_not_exists(${states.attr('PK')})`
  const revision = states.attr('revision')
  const dueSeenAt = states.attr('dueSeenAt')
  const unchanged = (expected: number) => expr`${revision} = ${expected}`
  const stateIn = (item: Item) => {
    try {
      return toRecord(states.parse(item))
    } catch (error) {
      return refuseDamaged(error)
    }
  }

  return {
    ...createRekeyStorage(db),

    async load(id) {
      const item = await states.get(stateKey(id)).catch(refuseDamaged)
      return item && toRecord(item)
    },

    async loadVersion(id, version) {
      const item = await versions.get(versionKey(id, version)).catch(refuseDamaged)
      if (item && item.version !== version) throw damaged()
      return item && toBackingKey(item)
    },

    async list() {
      const records: KeyRecord[] = []
      let from: Item | undefined
      do {
        // The table is small, and only people and the first start list keys.
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
      requireSettledMasterKey(
        transact(db, [
          settledOn(record.masterKeyCheck),
          states.part.put({ ...stateKey(record.id), ...record }, absent),
          versions.part.put({ ...versionKey(record.id, first.version), ...first }, absent),
        ]),
      ),

    addVersion: (id, backingKey, expected) =>
      requireSettledMasterKey(
        transact(db, [
          master.part.check(MASTER_KEY, settled),
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
          ? expr`${set}, ${deletionAt} = ${change.deletionAt} REMOVE ${dueSeenAt}`
          : expr`${set} REMOVE ${deletionAt}, ${dueSeenAt}`
      return conditionHeld(states.update(stateKey(id), update, unchanged(expected)))
    },

    updateDueSeenAt(id, seenAt, expected) {
      const set = expr`SET ${revision} = ${expected + 1}`
      const update =
        seenAt === undefined
          ? expr`${set} REMOVE ${dueSeenAt}`
          : expr`${set}, ${dueSeenAt} = ${seenAt}`
      return conditionHeld(states.update(stateKey(id), update, unchanged(expected)))
    },

    async remove(id, expected) {
      const PK = versions.attr('PK')
      const { items } = await versions.query({
        key: expr`${PK} = ${`KMSKEY#${id}`} AND begins_with(${versions.attr('SK')}, ${'V#'})`,
      })
      // A version that is added after this read raises the revision.
      return conditionHeld(
        transact(db, [
          states.part.delete(stateKey(id), unchanged(expected)),
          ...items.map(({ PK: partition, SK }) => versions.part.delete({ PK: partition, SK })),
        ]),
      )
    },
  }
}

/** The check value of the master key that wraps the key; undefined if the item is not a KMS key. */
export function findMasterKeyCheck(item: object): Uint8Array | undefined {
  return StateItem.safeParse(item).data?.masterKeyCheck
}

function toRecord({
  PK: partition,
  SK: _sort,
  deletionAt,
  dueSeenAt,
  ...record
}: z.infer<typeof StateItem>): KeyRecord {
  if (partition !== stateKey(record.id).PK) throw damaged()
  return {
    ...record,
    ...(deletionAt !== undefined && { deletionAt }),
    ...(dueSeenAt !== undefined && { dueSeenAt }),
  }
}

function toBackingKey({ version, createdAt, wrapped }: z.infer<typeof VersionItem>): BackingKey {
  return { version, createdAt, wrapped }
}

/** For transactions whose first part is the condition on the master key. */
function requireSettledMasterKey(write: Promise<unknown>): Promise<boolean> {
  return conditionHeld(
    write.catch((error: unknown) => {
      if (!(error instanceof TransactionFailed && error.conditionFailed(0))) throw error
      throw conflict(
        'The master key is being changed, or was since this process started: start it again, or run "strongroom kms rekey" again if that was cut short',
      )
    }),
  )
}

function refuseDamaged(error: unknown): never {
  throw error instanceof ItemMismatch ? damaged({ cause: error }) : error
}

/** The item was changed, or copied from another key or version. */
function damaged(options?: ErrorOptions): KmsError {
  return invalidState('A stored KMS key is damaged: restore the store from a backup', options)
}

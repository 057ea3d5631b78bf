// Creating, changing and dropping tables, inside a write transaction. Ids of tables, indexes and TTL
// lists come from one counter and are never used again, so whatever a crash leaves behind under an
// old id can never be mistaken for something new.

import { resourceInUse, resourceNotFound } from '../errors.ts'
import { NEXT_ID_KEY, owners, tableKey } from './catalog.ts'
import { addJob } from './jobs.ts'
import type {
  IndexRecord,
  NewIndex,
  NewTable,
  TableChange,
  TableRecord,
  TtlRecord,
} from './store.ts'
import type { Transaction } from './transaction.ts'

class Ids {
  readonly #tx: Transaction
  #next: number

  constructor(tx: Transaction) {
    this.#tx = tx
    this.#next = (tx.env.meta.get(NEXT_ID_KEY) as number | undefined) ?? 1
  }

  take(): number {
    return this.#next++
  }

  save(): void {
    this.#tx.putMeta(NEXT_ID_KEY, this.#next)
    this.#tx.raiseVersion()
  }
}

export function createTable(tx: Transaction, table: NewTable, now: number): TableRecord {
  if (tx.catalog.byName(table.name) !== undefined) {
    throw resourceInUse(`Table already exists: ${table.name}`)
  }
  const ids = new Ids(tx)
  const { ttl, ...rest } = table
  const record: TableRecord = {
    ...rest,
    id: ids.take(),
    version: 1,
    createdAt: now,
    indexes: table.indexes.map((index) => ({ ...index, id: ids.take(), status: 'ACTIVE' })),
    ...(ttl && { ttl: { attribute: ttl.attribute, id: ids.take() } }),
  }
  tx.putMeta(tableKey(record.name), record)
  ids.save()
  return record
}

export function replaceTable(tx: Transaction, change: TableChange): TableRecord {
  const current = tx.catalog.byName(change.name)
  if (current === undefined || current.id !== change.id) throw resourceNotFound()
  if (current.version !== change.version) {
    throw resourceInUse(
      `Attempt to change a resource which is still in use: Table is being updated: ${change.name}`,
    )
  }
  const ids = new Ids(tx)
  const { ttl, ...rest } = change
  const record: TableRecord = {
    ...rest,
    keys: current.keys,
    createdAt: current.createdAt,
    version: current.version + 1,
    indexes: change.indexes.map((index) => indexRecord(current, index, ids)),
    ...(ttl && { ttl: ttlRecord(current, ttl.attribute, ids) }),
  }
  const before = new Set(owners(current).map((owner) => owner.id))
  const after = new Set(owners(record).map((owner) => owner.id))
  for (const owner of after) {
    if (!before.has(owner)) addJob(tx, ids.take(), { kind: 'fill', table: record.id, owner })
  }
  for (const id of before) {
    if (!after.has(id)) addJob(tx, ids.take(), { kind: 'remove', space: 'entries', id })
  }
  tx.putMeta(tableKey(record.name), record)
  ids.save()
  return record
}

function indexRecord(current: TableRecord, index: IndexRecord | NewIndex, ids: Ids): IndexRecord {
  if (!('id' in index)) return { ...index, id: ids.take(), status: 'CREATING' }
  const known = current.indexes.find((each) => each.id === index.id)
  if (known === undefined) throw resourceNotFound()
  // Its keys are in its entries, and its status belongs to the job that fills it.
  return { ...index, keys: known.keys, status: known.status }
}

function ttlRecord(current: TableRecord, attribute: string, ids: Ids): TtlRecord {
  return current.ttl?.attribute === attribute ? current.ttl : { attribute, id: ids.take() }
}

export function dropTable(tx: Transaction, name: string): void {
  const table = tx.catalog.byName(name)
  if (table === undefined) throw resourceNotFound()
  const ids = new Ids(tx)
  addJob(tx, ids.take(), { kind: 'remove', space: 'items', id: table.id })
  for (const { id } of owners(table)) {
    addJob(tx, ids.take(), { kind: 'remove', space: 'entries', id })
  }
  tx.putMeta(tableKey(name), undefined)
  ids.save()
}

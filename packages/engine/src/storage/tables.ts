// Creating, changing and dropping tables, inside a write transaction. Ids of tables, indexes and TTL
// lists come from one counter and are never used again, so whatever a crash leaves behind under an
// old id can never be mistaken for something new.

import { resourceInUse, resourceNotFound, type DynamoError } from '../errors.ts'
import { keepDropped } from './backups/backup-records.ts'
import { owners, tableKey } from './catalog.ts'
import { logsForCopies } from './jobs/copy-logs.ts'
import { Ids } from './ids.ts'
import { addJob } from './jobs/job-records.ts'
import type {
  DropOptions,
  IndexRecord,
  LogRecord,
  NewIndex,
  NewLog,
  NewTable,
  TableChange,
  TableRecord,
  TtlRecord,
} from './storage.ts'
import { closeStream, openStream } from './changes/streams.ts'
import type { Transaction } from './transaction.ts'

export function createTable(tx: Transaction, table: NewTable, now: number): TableRecord {
  if (tx.catalog.byName(table.name) !== undefined) {
    throw resourceInUse(`Table already exists: ${table.name}`)
  }
  const ids = new Ids(tx)
  const record = newRecord(tx, table, now, ids)
  tx.putMeta(tableKey(record.name), record)
  ids.save()
  return record
}

/** The record of a new table, not yet written. */
export function newRecord(
  tx: Transaction,
  { ttl, logs = [], ...table }: NewTable,
  now: number,
  ids: Ids,
): TableRecord {
  const record: TableRecord = {
    ...table,
    id: ids.take(),
    version: 1,
    createdAt: now,
    indexes: table.indexes.map((index) => ({ ...index, id: ids.take(), status: 'ACTIVE' })),
    ...(ttl && { ttl: { attribute: ttl.attribute, id: ids.take() } }),
  }
  return withLogs(
    tx,
    record,
    logs.map((log) => newLog(log, now, ids)),
  )
}

function newLog(log: NewLog, createdAt: number, ids: Ids): LogRecord {
  return { ...log, id: ids.take(), createdAt }
}

/** The record with these logs, of which those of streams that are not there yet are opened. */
function withLogs(tx: Transaction, record: TableRecord, logs: LogRecord[]): TableRecord {
  const { logs: before = [], ...rest } = record
  if (logs.length === 0) return rest
  const known = new Set(before.map(({ id }) => id))
  const stream = logs.find(({ kind, id }) => kind === 'stream' && !known.has(id))
  const streamLabel = stream && openStream(tx, record, stream)
  return { ...rest, logs, ...(streamLabel !== undefined && { streamLabel }) }
}

export function replaceTable(tx: Transaction, change: TableChange, now: number): TableRecord {
  const current = tx.catalog.byName(change.name)
  if (current === undefined || current.id !== change.id) throw resourceNotFound()
  if (current.version !== change.version) {
    throw resourceInUse(
      `Attempt to change a resource which is still in use: Table is being updated: ${change.name}`,
    )
  }
  if (current.restoring) throw beingCreated(current)
  const ids = new Ids(tx)
  const { ttl, logs, ...rest } = change
  const bare: TableRecord = {
    ...rest,
    keys: current.keys,
    createdAt: current.createdAt,
    version: current.version + 1,
    indexes: change.indexes.map((index) => indexRecord(current, index, ids)),
    ...(ttl && { ttl: ttlRecord(current, ttl.attribute, ids) }),
  }
  const record = replaceLogs(tx, current, bare, logs ?? [], now, ids)
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

/** Closes the logs that are gone and opens new ones; those of copies belong to their jobs. */
function replaceLogs(
  tx: Transaction,
  current: TableRecord,
  record: TableRecord,
  wanted: (LogRecord | NewLog)[],
  now: number,
  ids: Ids,
): TableRecord {
  const before = current.logs ?? []
  const after = wanted.filter(({ kind }) => kind !== 'copy')
  const open = after.map((log) => ('id' in log ? log : newLog(log, now, ids)))
  const left = before.filter((log) => open.every(({ id }) => id !== log.id))
  const logs = [...open, ...logsForCopies(tx, left)]
  for (const log of left) {
    if (logs.every(({ id }) => id !== log.id)) closeLog(tx, log, now, ids)
  }
  return withLogs(tx, { ...record, ...(before.length > 0 && { logs: before }) }, logs)
}

function closeLog(tx: Transaction, { id, kind }: LogRecord, now: number, ids: Ids): void {
  if (kind === 'stream') closeStream(tx, id, now)
  else addJob(tx, ids.take(), { kind: 'remove', space: 'changes', id })
}

function beingCreated({ name }: TableRecord): DynamoError {
  return resourceInUse(
    `Attempt to change a resource which is still in use: Table is being created: ${name}`,
  )
}

export function dropTable(
  tx: Transaction,
  name: string,
  now: number,
  { keepAs }: DropOptions = {},
): void {
  const table = tx.catalog.byName(name)
  if (table === undefined) throw resourceNotFound()
  if (table.restoring) throw beingCreated(table)
  // Copies of it that are being made need not be waited for: jobs are done one after the other.
  const ids = new Ids(tx)
  if (keepAs === undefined) addJob(tx, ids.take(), { kind: 'remove', space: 'items', id: table.id })
  else keepDropped(tx, table, keepAs, now)
  for (const log of table.logs ?? []) closeLog(tx, log, now, ids)
  removeRecord(tx, table, ids)
  ids.save()
}

/** The record of a table, and the entries of its items. */
export function removeRecord(tx: Transaction, table: TableRecord, ids: Ids): void {
  for (const { id } of owners(table)) {
    addJob(tx, ids.take(), { kind: 'remove', space: 'entries', id })
  }
  tx.putMeta(tableKey(table.name), undefined)
}

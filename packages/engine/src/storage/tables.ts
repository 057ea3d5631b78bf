// Creates, changes and drops tables inside a write transaction. Ids are never reused, so data that a
// crash leaves under an old id cannot be mistaken for something new.

import { resourceInUse, resourceNotFound, type DynamoError } from '../errors.ts'
import { keepDropped } from './backups/backup-records.ts'
import { Ids, owners, tableKey } from './catalog.ts'
import { addJob, copiesOf } from './jobs/jobs.ts'
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

/** Builds the record of a new table without writing it. */
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

/** Sets the logs of a record, and opens the stream of a new stream log. */
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
    throw beingUpdated(change)
  }
  if (current.restoring) throw beingCreated(current)
  const ids = new Ids(tx)
  const { ttl, logs, encrypting: _encrypting, ...rest } = change
  const bare: TableRecord = {
    ...rest,
    keys: current.keys,
    createdAt: current.createdAt,
    version: current.version + 1,
    indexes: change.indexes.map((index) => indexRecord(current, index, ids)),
    ...encryption(current, change),
    ...(ttl && { ttl: ttlRecord(current, ttl.attribute, ids) }),
  }
  const record = replaceLogs(tx, current, bare, logs ?? [], now, ids)
  const before = new Set(owners(current).map((owner) => owner.id))
  const after = new Set(owners(record).map((owner) => owner.id))
  for (const owner of after) {
    if (!before.has(owner)) addJob(tx, ids.take(), { kind: 'fill', table: record.id, owner })
  }
  if (record.encrypting && !current.encrypting) {
    addJob(tx, ids.take(), { kind: 'encrypt', table: record.id })
  }
  for (const id of before) {
    if (!after.has(id)) removeEntries(tx, id, ids)
  }
  tx.putMeta(tableKey(record.name), record)
  ids.save()
  return record
}

/** It cannot be turned off, because encrypted items would stay; only the job ends the encryption. */
function encryption(
  current: TableRecord,
  change: TableChange,
): Pick<TableRecord, 'encrypted' | 'encrypting'> {
  if (!current.encrypted && !change.encrypted) return {}
  const isNew = !current.encrypted
  return { encrypted: true, ...((isNew || current.encrypting) && { encrypting: true }) }
}

function indexRecord(current: TableRecord, index: IndexRecord | NewIndex, ids: Ids): IndexRecord {
  if (!('id' in index)) return { ...index, id: ids.take(), status: 'CREATING' }
  const known = current.indexes.find((each) => each.id === index.id)
  if (known === undefined) throw resourceNotFound()
  // The entries contain the keys, and only the job that fills the index changes its status.
  return { ...index, keys: known.keys, status: known.status }
}

function ttlRecord(current: TableRecord, attribute: string, ids: Ids): TtlRecord {
  return current.ttl?.attribute === attribute ? current.ttl : { attribute, id: ids.take() }
}

/** Opens new logs and closes those no longer listed. The logs of copies belong to their jobs. */
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

/** A log that was switched off continues only for the copies that still need it. */
function logsForCopies(tx: Transaction, logs: LogRecord[]): LogRecord[] {
  return logs
    .filter(({ id, kind }) => kind === 'copy' || copiesOf(tx.env, id).length > 0)
    .map((log) => ({ ...log, kind: 'copy' }))
}

function closeLog(tx: Transaction, { id, kind }: LogRecord, now: number, ids: Ids): void {
  if (kind === 'stream') closeStream(tx, id, now)
  else addJob(tx, ids.take(), { kind: 'remove', space: 'changes', id })
}

function beingUpdated({ name }: { name: string }): DynamoError {
  return resourceInUse(
    `Attempt to change a resource which is still in use: Table is being updated: ${name}`,
  )
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
  // The job that encrypts the items also overwrites what is left of them on disk.
  if (table.encrypting) throw beingUpdated(table)
  // Running copies need no special care: jobs run in order, so the items are removed after them.
  const ids = new Ids(tx)
  if (keepAs === undefined) addJob(tx, ids.take(), { kind: 'remove', space: 'items', id: table.id })
  else keepDropped(tx, table, keepAs, now)
  for (const log of table.logs ?? []) closeLog(tx, log, now, ids)
  removeRecord(tx, table, ids)
  ids.save()
}

/** Removes the record of a table, and the index entries of its items. */
export function removeRecord(tx: Transaction, table: TableRecord, ids: Ids): void {
  for (const { id } of owners(table)) removeEntries(tx, id, ids)
  tx.counts.remove(table.id)
  tx.putMeta(tableKey(table.name), undefined)
}

function removeEntries(tx: Transaction, id: number, ids: Ids): void {
  tx.counts.remove(id)
  addJob(tx, ids.take(), { kind: 'remove', space: 'entries', id })
}

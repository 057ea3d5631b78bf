// Copies a table as it was at a given moment, while it is being written to and without holding a
// snapshot. The items are copied in steps as they are found. Then the changes that a log has recorded
// since that moment are undone in the copy, latest first. Each item thus ends in the state before its
// first change after the moment, whichever version was copied. Every step is a commit, so a crash
// costs one step.
//
// A copy whose source or log is missing, for example because the data was damaged, can never finish. It
// is abandoned and its target removed.

import { performance } from 'node:perf_hooks'
import {
  allBackups,
  type BackupRecord,
  backupKey,
  finishBackup,
  removeBackup,
} from '../backups/backup-records.ts'
import { boundsOfId } from '../bounds.ts'
import { ALL_TABLES, Ids, tableKey } from '../catalog.ts'
import { lastChange, readChanges } from '../changes/changes.ts'
import { requireKey } from '../item-keys/encrypted-value.ts'
import type { FastBuffer } from '../lmdb/bytes.ts'
import type { Environment } from '../lmdb/lmdb.ts'
import { lmdbRange } from '../reads.ts'
import type { TableRecord } from '../storage.ts'
import { removeRecord } from '../tables.ts'
import type { Transaction } from '../transaction.ts'
import { addJob, copiesOf, type CopyJob, isScheduledForRemoval, type JobKey } from './jobs.ts'

/** A step is one commit and blocks the event loop, so its time is limited for large items, too. */
const MAX_STEP_ITEMS = 200
const MAX_STEP_MS = 5

export function copy(tx: Transaction, key: JobKey, job: CopyJob): void {
  const target = tx.catalog.byId(job.target)
  if (target === undefined || isLost(tx, job)) abandon(tx, key, job)
  else if (job.undoTo === undefined) copyItems(tx, key, job, target)
  else undoChanges(tx, key, job, target, job.undoTo)
}

function copyItems(tx: Transaction, key: JobKey, job: CopyJob, target: TableRecord): void {
  const bounds = boundsOfId(job.source)
  if (job.after !== undefined) {
    bounds.low = Buffer.concat([Buffer.from(job.after, 'base64'), Buffer.of(0)]) as FastBuffer
  }
  const started = performance.now()
  let found = 0
  let last: string | undefined
  for (const { key: stored, value } of tx.env.items.getRange(lmdbRange(bounds, false))) {
    const item = requireKey(value)
    tx.put(target, item, job.isRepeated ? tx.get(target, item) : undefined)
    if (++found === MAX_STEP_ITEMS || performance.now() - started > MAX_STEP_MS) {
      last = stored.bytes.toString('base64', 0, stored.length)
      break
    }
  }
  if (last !== undefined) tx.putMeta(key, { ...job, after: last } satisfies CopyJob)
  else if (job.log === undefined) finish(tx, key, job, target)
  else {
    const undoTo = lastChange(tx.env, job.log)?.sequence ?? 0
    tx.putMeta(key, { ...job, undoTo } satisfies CopyJob)
  }
}

function undoChanges(
  tx: Transaction,
  key: JobKey,
  job: CopyJob,
  target: TableRecord,
  to: number,
): void {
  const started = performance.now()
  let found = 0
  for (const change of readChanges(tx.env, job.log ?? 0, { after: job.from, to, reverse: true })) {
    const copied = tx.get(target, change.keys)
    if (change.old) tx.put(target, change.old, copied)
    else if (copied) tx.delete(target, copied)
    if (++found === MAX_STEP_ITEMS || performance.now() - started > MAX_STEP_MS) {
      tx.putMeta(key, { ...job, undoTo: change.sequence - 1 } satisfies CopyJob)
      return
    }
  }
  finish(tx, key, job, target)
}

function finish(tx: Transaction, key: JobKey, job: CopyJob, target: TableRecord): void {
  const ids = new Ids(tx)
  tx.putMeta(key, undefined)
  if (target.restoring) {
    const { restoring: _restoring, ...table } = target
    // The new version makes changes based on the record of the unfinished table fail.
    const restored: TableRecord = { ...table, version: table.version + 1 }
    tx.putMeta(tableKey(restored.name), restored)
  } else {
    finishBackup(tx, job)
  }
  releaseLog(tx, job, ids)
  ids.save()
}

/** Ends a copy's use of its log. A log that only copies need is removed with the last of them. */
function releaseLog(tx: Transaction, job: Pick<CopyJob, 'source' | 'log'>, ids: Ids): void {
  const table = job.log === undefined ? undefined : tx.catalog.byId(job.source)
  const released = table?.logs?.find(({ id }) => id === job.log)
  // The log of a dropped table was removed with it.
  if (table === undefined || released?.kind !== 'copy') return
  if (copiesOf(tx.env, released.id).length > 1) return
  const { logs = [], ...rest } = table
  const left = logs.filter(({ id }) => id !== released.id)
  const record: TableRecord = left.length === 0 ? rest : { ...rest, logs: left }
  tx.putMeta(tableKey(table.name), record)
  addJob(tx, ids.take(), { kind: 'remove', space: 'changes', id: released.id })
}

function isLost(tx: Transaction, { source, log }: CopyJob): boolean {
  const table = tx.catalog.byId(source)
  const isThere =
    table !== undefined ||
    tx.env.meta.get(backupKey(source)) !== undefined ||
    // Jobs run in order, so the items of a dropped table are removed after this copy.
    isScheduledForRemoval(tx.env, 'items', source)
  if (!isThere) return true
  if (log === undefined || table?.logs?.some(({ id }) => id === log)) return false
  return !isScheduledForRemoval(tx.env, 'changes', log)
}

/** Ends a copy that cannot be finished and removes its incomplete table or backup. */
function abandon(tx: Transaction, key: JobKey, job: CopyJob): void {
  const ids = new Ids(tx)
  tx.putMeta(key, undefined)
  const target = tx.catalog.byId(job.target)
  const backup = tx.env.meta.get(backupKey(job.target)) as BackupRecord | undefined
  if (backup !== undefined) removeBackup(tx, backup.id, ids)
  else if (target !== undefined) removeUnfinished(tx, target, ids)
  releaseLog(tx, job, ids)
  ids.save()
}

/** Whether an earlier process left something unfinished, with or without a job. */
export function hasUnfinished(env: Environment): boolean {
  for (const { value } of env.meta.getRange({ ...ALL_TABLES })) {
    if (isUnfinished(value as TableRecord)) return true
  }
  for (const { status } of allBackups(env)) if (status === 'CREATING') return true
  return false
}

function isUnfinished({ restoring, indexes, logs = [] }: TableRecord): boolean {
  return (
    restoring === true ||
    indexes.some(({ status }) => status === 'CREATING') ||
    logs.some(({ kind }) => kind === 'copy')
  )
}

/**
 * Repairs one unfinished record that has no job. A table or backup is removed, because it is unknown how
 * much of it is missing; an index is filled again. Returns whether there was one.
 */
export function repairOrphan(tx: Transaction): boolean {
  const ids = new Ids(tx)
  const table = tx.catalog.all().find(isUnfinished)
  if (table !== undefined) repairTable(tx, table, ids)
  else {
    const backup = Array.from(allBackups(tx.env)).find(({ status }) => status === 'CREATING')
    if (backup === undefined) return false
    removeBackup(tx, backup.id, ids)
  }
  ids.save()
  return true
}

function repairTable(tx: Transaction, table: TableRecord, ids: Ids): void {
  if (table.restoring) return removeUnfinished(tx, table, ids)
  for (const { id, status } of table.indexes) {
    if (status === 'CREATING') addJob(tx, ids.take(), { kind: 'fill', table: table.id, owner: id })
  }
  const log = table.logs?.find(({ kind }) => kind === 'copy')
  if (log !== undefined) releaseLog(tx, { source: table.id, log: log.id }, ids)
}

function removeUnfinished(tx: Transaction, table: TableRecord, ids: Ids): void {
  addJob(tx, ids.take(), { kind: 'remove', space: 'items', id: table.id })
  removeRecord(tx, table, ids)
}

// Copies that can never be finished: what they copy, or the log that they need, is not there, as after
// a damage or a program that did not know them. What they were to make goes, so that it does not stay
// unfinished for ever. The same for what is unfinished although there is no work left.

import {
  allBackups,
  type BackupRecord,
  backupKey,
  removeBackup,
} from '../backups/backup-records.ts'
import { ALL_TABLES } from '../catalog.ts'
import { releaseLog } from './copy-logs.ts'
import { Ids } from '../ids.ts'
import { addJob, type CopyJob, isScheduledForRemoval, type JobKey } from './job-records.ts'
import type { Environment } from '../lmdb/lmdb.ts'
import type { TableRecord } from '../storage.ts'
import { removeRecord } from '../tables.ts'
import type { Transaction } from '../transaction.ts'

export function isLost(tx: Transaction, { source, log }: CopyJob): boolean {
  const table = tx.catalog.byId(source)
  const isThere =
    table !== undefined ||
    tx.env.meta.get(backupKey(source)) !== undefined ||
    // Dropped: jobs are done one after the other, so its items go after this one.
    isScheduledForRemoval(tx.env, 'items', source)
  if (!isThere) return true
  if (log === undefined || table?.logs?.some(({ id }) => id === log)) return false
  return !isScheduledForRemoval(tx.env, 'changes', log)
}

/** Ends a copy, and removes the table or backup that it was to fill. */
export function abandon(tx: Transaction, key: JobKey, job: CopyJob): void {
  const ids = new Ids(tx)
  tx.putMeta(key, undefined)
  const target = tx.catalog.byId(job.target)
  const backup = tx.env.meta.get(backupKey(job.target)) as BackupRecord | undefined
  if (backup !== undefined) removeBackup(tx, backup.id, ids)
  else if (target !== undefined) removeUnfinished(tx, target, ids)
  releaseLog(tx, job, ids)
  ids.save()
}

/** Whether a process that ended has left something unfinished, with or without a job. */
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
 * If no job is left, what waits for one waits for ever: a table or backup goes, since nobody knows how
 * much of it is missing, an index is filled anew. Returns whether there was something.
 */
export function repairOrphan(tx: Transaction): boolean {
  const ids = new Ids(tx)
  const table = tx.catalog.all().find(isUnfinished)
  if (table !== undefined) mendTable(tx, table, ids)
  else {
    const backup = Array.from(allBackups(tx.env)).find(({ status }) => status === 'CREATING')
    if (backup === undefined) return false
    removeBackup(tx, backup.id, ids)
  }
  ids.save()
  return true
}

function mendTable(tx: Transaction, table: TableRecord, ids: Ids): void {
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

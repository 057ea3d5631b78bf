// Copies that can never be finished: what they copy, or the log that they need, is not there, as after
// a damage or a program that did not know them. What they were to make goes, so that it does not stay
// unfinished for ever.

import { type BackupRecord, backupKey, removeBackup } from './backup-records.ts'
import { ALL_TABLES } from './catalog.ts'
import { releaseLog } from './copy-logs.ts'
import { Ids } from './ids.ts'
import { addJob, type CopyJob, isToBeRemoved, type JobKey } from './job-records.ts'
import type { Environment } from './lmdb.ts'
import type { TableRecord } from './store.ts'
import { removeRecord } from './tables.ts'
import type { Transaction } from './transaction.ts'

export function isLost(tx: Transaction, { source, log }: CopyJob): boolean {
  const table = tx.catalog.byId(source)
  const isThere =
    table !== undefined ||
    tx.env.meta.get(backupKey(source)) !== undefined ||
    // Dropped: jobs are done one after the other, so its items go after this one.
    isToBeRemoved(tx.env, 'items', source)
  if (!isThere) return true
  if (log === undefined || table?.logs?.some(({ id }) => id === log)) return false
  return !isToBeRemoved(tx.env, 'changes', log)
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

/** Whether a process that ended has left a table unfinished, with or without a job. */
export function hasOrphan(env: Environment): boolean {
  for (const { value } of env.meta.getRange({ ...ALL_TABLES })) {
    if ((value as TableRecord).restoring) return true
  }
  return false
}

/** If no job is left: a table that is still to be filled will never be. Returns whether there was one. */
export function removeOrphan(tx: Transaction): boolean {
  const table = tx.catalog.all().find(({ restoring }) => restoring)
  if (table === undefined) return false
  const ids = new Ids(tx)
  removeUnfinished(tx, table, ids)
  ids.save()
  return true
}

function removeUnfinished(tx: Transaction, table: TableRecord, ids: Ids): void {
  addJob(tx, ids.take(), { kind: 'remove', space: 'items', id: table.id })
  removeRecord(tx, table, ids)
}

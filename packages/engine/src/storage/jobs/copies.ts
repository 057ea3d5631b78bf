// Copying a table as it was at a moment, while it is being written to and without holding a snapshot:
// its items are copied as they are found, step by step; then what a log says has happened since that
// moment is undone in the copy, latest first. So each item ends as its first change after the moment
// found it, whatever was copied of it. Every step is a commit, and a crash costs one step.

import { performance } from 'node:perf_hooks'
import { itemSize } from '../../values/size.ts'
import { finishBackup } from '../backups/backup-records.ts'
import { boundsOfId } from '../bounds.ts'
import type { FastBuffer } from '../lmdb/bytes.ts'
import { tableKey } from '../catalog.ts'
import { lastChange, readChanges } from '../changes/changes.ts'
import { releaseLog } from './copy-logs.ts'
import { Ids } from '../ids.ts'
import type { CopyJob, JobKey } from './job-records.ts'
import { abandon, isLost } from './lost-copies.ts'
import { lmdbRange } from '../reads.ts'
import type { TableRecord } from '../storage.ts'
import type { Transaction } from '../transaction.ts'

/** One step is one commit and runs on the event loop: a few milliseconds each, also of large items. */
const STEP = 200
const STEP_MS = 5

export function copy(tx: Transaction, key: JobKey, job: CopyJob): void {
  const target = tx.catalog.byId(job.target)
  if (target === undefined || isLost(tx, job)) abandon(tx, key, job)
  else if (job.undoTo === undefined) copyItems(tx, key, { ...job }, target)
  else undoChanges(tx, key, { ...job }, target, job.undoTo)
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
    tx.put(target, value, undefined)
    job.items++
    job.bytes += itemSize(value)
    if (++found === STEP || performance.now() - started > STEP_MS) {
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
    job.items += Number(change.old !== undefined) - Number(copied !== undefined)
    job.bytes += (change.old ? itemSize(change.old) : 0) - (copied ? itemSize(copied) : 0)
    if (++found === STEP || performance.now() - started > STEP_MS) {
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
    // Whoever read it before has a record of a table that is still being restored.
    const restored: TableRecord = { ...table, version: table.version + 1 }
    tx.putMeta(tableKey(restored.name), restored)
  } else {
    finishBackup(tx, job)
  }
  releaseLog(tx, job, ids)
  ids.save()
}

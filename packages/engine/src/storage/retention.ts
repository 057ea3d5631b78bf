// Retention of everything besides items and tokens: changes in logs, closed streams, and the backups
// of dropped tables. Batches are bounded, and a log that a copy still needs is not trimmed.

import { allBackups, removeBackup } from './backups/backup-records.ts'
import { allocate } from './lmdb/bytes.ts'
import { firstChange, readChanges, writeChangeKey } from './changes/changes.ts'
import { Ids } from './catalog.ts'
import { copiesOf } from './jobs/jobs.ts'
import type { Environment } from './lmdb/lmdb.ts'
import type { TableRecord } from './storage.ts'
import { allStreams, streamKey, type StreamRecord } from './changes/streams.ts'
import type { Transaction } from './transaction.ts'

export type Retained =
  | { what: 'changes'; log: number; keepMs: number }
  | { what: 'stream'; log: number; keepMs: number; closedAt: number }
  | { what: 'backup'; id: number }

const BATCH = 500

/** Candidates for removal, in the order in which `isPastRetention` must check them. */
export function retainedRecords(
  env: Environment,
  tables: readonly TableRecord[],
  now: number,
): Retained[] {
  const kept: Retained[] = []
  for (const { logs = [] } of tables) {
    for (const { id, kind, keepMs } of logs) {
      if (kind === 'recovery') kept.push({ what: 'changes', log: id, keepMs })
    }
  }
  for (const { id, keepMs, closed } of allStreams(env)) {
    kept.push({ what: 'changes', log: id, keepMs })
    if (closed) kept.push({ what: 'stream', log: id, keepMs, closedAt: closed.at })
  }
  for (const { id, expiresAt } of allBackups(env)) {
    if (expiresAt !== undefined && expiresAt <= now) kept.push({ what: 'backup', id })
  }
  return kept
}

/** Reads outside a transaction, so that nothing is written if nothing is due. */
export function isPastRetention(env: Environment, kept: Retained, now: number): boolean {
  if (kept.what === 'backup') return copiesOf(env, kept.id).length === 0
  const first = firstChange(env, kept.log)
  if (kept.what === 'stream') return first === undefined && kept.closedAt + kept.keepMs <= now
  return (
    first !== undefined && first.at + kept.keepMs <= now && copiesOf(env, kept.log).length === 0
  )
}

/** Removes a batch; returns whether more may be left. */
export function removePastRetention(tx: Transaction, kept: Retained, now: number): boolean {
  // Another process may have removed it.
  if (!isPastRetention(tx.env, kept, now)) return false
  if (kept.what === 'changes') return trim(tx, kept.log, now - kept.keepMs)
  if (kept.what === 'stream') tx.putMeta(streamKey(kept.log), undefined)
  else {
    const ids = new Ids(tx)
    removeBackup(tx, kept.id, ids)
    ids.save()
  }
  return false
}

function trim(tx: Transaction, log: number, until: number): boolean {
  const key = allocate(12)
  let removed = 0
  let trimmed = 0
  for (const { sequence, at } of readChanges(tx.env, log, { limit: BATCH })) {
    if (at > until) break
    writeChangeKey(log, sequence, key, 0)
    tx.removeKey('changes', key)
    trimmed = sequence
    removed++
  }
  const stream = tx.env.meta.get(streamKey(log)) as StreamRecord | undefined
  if (stream) tx.putMeta(streamKey(log), { ...stream, trimmed } satisfies StreamRecord)
  return removed === BATCH
}

// The logs that copies need: their own, and recovery logs that were switched off during a copy.

import { tableKey } from '../catalog.ts'
import type { Ids } from '../ids.ts'
import { addJob, copiesOf, type CopyJob } from './job-records.ts'
import type { LogRecord, TableRecord } from '../storage.ts'
import type { Transaction } from '../transaction.ts'

/** A log that was switched off continues only for the copies that still need it. */
export function logsForCopies(tx: Transaction, logs: LogRecord[]): LogRecord[] {
  return logs
    .filter(({ id, kind }) => kind === 'copy' || copiesOf(tx.env, id).length > 0)
    .map((log) => ({ ...log, kind: 'copy' }))
}

/** At the end of a copy: a log that only copies need is removed with the last of them. */
export function releaseLog(tx: Transaction, job: Pick<CopyJob, 'source' | 'log'>, ids: Ids): void {
  const table = job.log === undefined ? undefined : tx.catalog.byId(job.source)
  const released = table?.logs?.find(({ id }) => id === job.log)
  // If the table was dropped in the meantime, its log was removed with it.
  if (table === undefined || released?.kind !== 'copy') return
  if (copiesOf(tx.env, released.id).length > 1) return
  const { logs = [], ...rest } = table
  const left = logs.filter(({ id }) => id !== released.id)
  const record: TableRecord = left.length === 0 ? rest : { ...rest, logs: left }
  tx.putMeta(tableKey(table.name), record)
  addJob(tx, ids.take(), { kind: 'remove', space: 'changes', id: released.id })
}

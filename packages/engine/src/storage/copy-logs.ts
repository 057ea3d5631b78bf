// The logs that copies need: their own, and those of recovery that were switched off meanwhile.

import { tableKey } from './catalog.ts'
import type { Ids } from './ids.ts'
import { addJob, copiesOf, type CopyJob } from './job-records.ts'
import type { LogRecord, TableRecord } from './store.ts'
import type { Transaction } from './transaction.ts'

/** A log that is no longer wanted goes on for the copies that need it, and for nobody else. */
export function keptForCopies(tx: Transaction, logs: LogRecord[]): LogRecord[] {
  return logs
    .filter(({ id, kind }) => kind === 'copy' || copiesOf(tx.env, id).length > 0)
    .map((log) => ({ ...log, kind: 'copy' }))
}

/** At the end of a copy: a log that only copies need goes with the last of them. */
export function releaseLog(tx: Transaction, job: Pick<CopyJob, 'source' | 'log'>, ids: Ids): void {
  const table = job.log === undefined ? undefined : tx.catalog.byId(job.source)
  const released = table?.logs?.find(({ id }) => id === job.log)
  // That of a table that was dropped meanwhile went with it.
  if (table === undefined || released?.kind !== 'copy') return
  if (copiesOf(tx.env, released.id).length > 1) return
  const { logs = [], ...rest } = table
  const left = logs.filter(({ id }) => id !== released.id)
  const record: TableRecord = left.length === 0 ? rest : { ...rest, logs: left }
  tx.putMeta(tableKey(table.name), record)
  addJob(tx, ids.take(), { kind: 'remove', space: 'changes', id: released.id })
}

// Creates, deletes and restores backups within the data directory, and restores a table to a point in
// time.

import type { Clock } from '@strongroom/platform/clock'
import { tableAlreadyExists } from '../../errors.ts'
import {
  allBackups,
  backupKey,
  type BackupRecord,
  removeBackup,
  spaceOf,
} from './backup-records.ts'
import { tableKey } from '../catalog.ts'
import { sequenceAt } from '../changes/changes.ts'
import { Ids } from '../catalog.ts'
import { addJob, copiesOf, type CopyJob } from '../jobs/jobs.ts'
import type { Environment } from '../lmdb/lmdb.ts'
import type { LogRecord, NewTable, TableRecord } from '../storage.ts'
import { newRecord } from '../tables.ts'
import type { Transaction } from '../transaction.ts'

type Change = <T>(run: (tx: Transaction) => T) => Promise<T>

/** Builds the error for a backup that cannot be deleted or restored; the write decides that. */
export type Refusal = (state: 'gone' | 'being created' | 'being restored') => Error

export class Backups {
  readonly #env: Environment
  readonly #change: Change
  readonly #clock: Clock

  constructor(env: Environment, change: Change, clock: Clock) {
    this.#env = env
    this.#change = change
    this.#clock = clock
  }

  /** Oldest first. */
  all(): BackupRecord[] {
    return [...allBackups(this.#env)]
  }

  find(id: number): BackupRecord | undefined {
    return this.#env.meta.get(backupKey(id)) as BackupRecord | undefined
  }

  /** Backs up the table as of now; its items are copied in the background. */
  create(name: string, table: TableRecord): Promise<BackupRecord> {
    return this.#change((tx) => {
      const current = tx.current(table)
      const ids = new Ids(tx)
      const createdAt = this.#clock.now()
      const id = ids.take()
      const log: LogRecord = {
        kind: 'copy',
        view: 'OLD_IMAGE',
        keepMs: Number.MAX_SAFE_INTEGER,
        id: ids.take(),
        createdAt,
      }
      const backup: BackupRecord = {
        id,
        name,
        type: 'USER',
        status: 'CREATING',
        createdAt,
        items: 0,
        bytes: 0,
        table: current,
        space: spaceOf(id, current),
      }
      tx.putMeta(backupKey(id), backup)
      const logged: TableRecord = { ...current, logs: [...(current.logs ?? []), log] }
      tx.putMeta(tableKey(current.name), logged)
      const from = tx.position().sequence
      addJob(tx, ids.take(), copyJob(current.id, id, { log: log.id, from }))
      ids.save()
      return backup
    })
  }

  remove(backup: BackupRecord, refusal: Refusal): Promise<void> {
    return this.#change((tx) => {
      refuseUnusable(tx, backup, refusal)
      const ids = new Ids(tx)
      removeBackup(tx, backup.id, ids)
      ids.save()
    })
  }

  /** Creates a table from a backup; its items are copied in the background. */
  restore(backup: BackupRecord, table: NewTable, refusal: Refusal): Promise<TableRecord> {
    return this.#change((tx) => {
      refuseUnusable(tx, backup, refusal)
      return startRestore(tx, table, this.#clock.now(), (target) =>
        copyJob(backup.space.id, target, { from: 0 }),
      )
    })
  }

  /** Creates a table from another one as of `time`. `recoveryOf` returns the log for it, or throws. */
  restoreAt(
    source: TableRecord,
    time: number,
    table: NewTable,
    recoveryOf: (current: TableRecord) => LogRecord,
  ): Promise<TableRecord> {
    return this.#change((tx) => {
      const log = recoveryOf(tx.current(source))
      const from = sequenceAt(tx.env, log.id, time)
      return startRestore(tx, table, this.#clock.now(), (target) =>
        copyJob(source.id, target, { log: log.id, from }),
      )
    })
  }
}

function refuseUnusable({ env }: Transaction, { id }: BackupRecord, refusal: Refusal): void {
  const backup = env.meta.get(backupKey(id)) as BackupRecord | undefined
  if (backup === undefined) throw refusal('gone')
  if (backup.status === 'CREATING') throw refusal('being created')
  if (copiesOf(env, id).length > 0) throw refusal('being restored')
}

function copyJob(source: number, target: number, how: { log?: number; from: number }): CopyJob {
  return { kind: 'copy', source, target, ...how }
}

function startRestore(
  tx: Transaction,
  table: NewTable,
  now: number,
  job: (target: number) => CopyJob,
): TableRecord {
  if (tx.catalog.byName(table.name) !== undefined) throw tableAlreadyExists(table.name)
  const ids = new Ids(tx)
  const record: TableRecord = { ...newRecord(tx, table, now, ids), restoring: true }
  tx.putMeta(tableKey(record.name), record)
  addJob(tx, ids.take(), job(record.id))
  ids.save()
  return record
}

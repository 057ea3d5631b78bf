// Making and removing backups of tables within the data directory, and tables made of them or of a
// table's past.

import type { Clock } from '../clock.ts'
import { resourceNotFound, tableAlreadyExists } from '../errors.ts'
import {
  allBackups,
  backupKey,
  type BackupRecord,
  removeBackup,
  spaceOf,
} from './backup-records.ts'
import { tableKey } from './catalog.ts'
import { sequenceAt } from './changes.ts'
import { Ids } from './ids.ts'
import { addJob, copiesOf, type CopyJob } from './job-records.ts'
import type { Environment } from './lmdb.ts'
import type { LogRecord, NewTable, TableRecord } from './store.ts'
import { newRecord } from './tables.ts'
import type { Transaction } from './transaction.ts'

type Change = <T>(run: (tx: Transaction) => T) => Promise<T>

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

  /** The table as it is when this resolves; its items are copied in the background. */
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

  isBeingRestored(backup: BackupRecord): boolean {
    return copiesOf(this.#env, backup.space.id).length > 0
  }

  remove(backup: BackupRecord): Promise<void> {
    return this.#change((tx) => removeBackup(tx, backup.id))
  }

  /** A new table of a backup's items, filled in the background. */
  restore(backup: BackupRecord, table: NewTable): Promise<TableRecord> {
    return this.#change((tx) => {
      if (tx.env.meta.get(backupKey(backup.id)) === undefined) throw resourceNotFound()
      return startRestore(tx, table, this.#clock.now(), (target) =>
        copyJob(backup.space.id, target, { from: 0 }),
      )
    })
  }

  /** A new table of the items that a table with a log for recovery had at a time. */
  restoreAt(source: TableRecord, time: number, table: NewTable): Promise<TableRecord> {
    return this.#change((tx) => {
      const log = tx.current(source).logs?.find(({ kind }) => kind === 'recovery')
      if (log === undefined) throw resourceNotFound()
      const from = sequenceAt(tx.env, log.id, time)
      return startRestore(tx, table, this.#clock.now(), (target) =>
        copyJob(source.id, target, { log: log.id, from }),
      )
    })
  }
}

function copyJob(source: number, target: number, how: { log?: number; from: number }): CopyJob {
  return { kind: 'copy', source, target, ...how, items: 0, bytes: 0 }
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

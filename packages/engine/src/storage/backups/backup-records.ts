// Records of the backups within the data directory. The items of a backup are stored like those of a
// table, under an id of their own.

import type { Ids } from '../catalog.ts'
import { addJob, type CopyJob } from '../jobs/jobs.ts'
import type { Environment } from '../lmdb/lmdb.ts'
import type { DropOptions, TableRecord } from '../storage.ts'
import type { Transaction } from '../transaction.ts'

export interface BackupRecord {
  id: number
  name: string
  /** SYSTEM is the backup of a dropped table. */
  type: 'USER' | 'SYSTEM'
  status: 'CREATING' | 'AVAILABLE'
  /** Milliseconds since the epoch. */
  createdAt: number
  expiresAt?: number
  items: number
  bytes: number
  /** The table at the time of the backup. */
  table: TableRecord
  /** Has the id under which the items are stored; a table without name, indexes and logs. */
  space: TableRecord
}

const ALL_BACKUPS = { start: ['backup'], end: ['backup!'] }

export function backupKey(id: number): (string | number)[] {
  return ['backup', id]
}

export function* allBackups(env: Environment): Iterable<BackupRecord> {
  for (const { value } of env.meta.getRange(ALL_BACKUPS)) yield value as BackupRecord
}

export function spaceOf(id: number, { keys, createdAt, encrypted }: TableRecord): TableRecord {
  const space = { id, name: '', keys, indexes: [], version: 1, createdAt }
  return encrypted ? { ...space, encrypted } : space
}

/** Turns the items of a table that is being dropped into a backup. */
export function keepDropped(
  tx: Transaction,
  table: TableRecord,
  { name, keepMs }: NonNullable<DropOptions['keepAs']>,
  now: number,
): void {
  const backup: BackupRecord = {
    id: table.id,
    name,
    type: 'SYSTEM',
    status: 'AVAILABLE',
    createdAt: now,
    expiresAt: now + keepMs,
    ...tx.counts.of(table.id),
    table,
    space: spaceOf(table.id, table),
  }
  tx.putMeta(backupKey(table.id), backup)
}

export function removeBackup(tx: Transaction, id: number, ids: Ids): void {
  addJob(tx, ids.take(), { kind: 'remove', space: 'items', id })
  tx.counts.remove(id)
  tx.putMeta(backupKey(id), undefined)
}

/** A finished backup never changes, so its record has the count. */
export function finishBackup(tx: Transaction, { target }: CopyJob): void {
  const backup = tx.env.meta.get(backupKey(target)) as BackupRecord
  tx.putMeta(backupKey(target), {
    ...backup,
    status: 'AVAILABLE',
    ...tx.counts.of(target),
  } satisfies BackupRecord)
  tx.counts.remove(target)
}

/** The public API of the published package. */
import { backup as backUpStorage, type Progress, restore as restoreBackup } from './backup.ts'
import type { Engine } from './engine.ts'

export { openEngine } from './engine.ts'
export { DynamoError } from './errors.ts'
export { DataError } from './storage/lmdb/failures.ts'
export { NumberValue } from './values/types.ts'
export { embedded } from './wire/sdk.ts'
export { serve } from './wire/server.ts'

export interface BackupOptions {
  file: string
  /** Names of tables to leave out. */
  exclude?: string[]
  onProgress?: (progress: Progress) => void
}

export interface RestoreOptions {
  file: string
  /** Must be empty or not exist. */
  directory: string
  onProgress?: (progress: Progress) => void
}

export interface BackedUpTable {
  name: string
  items: number
}

/** Writes one snapshot of all tables while others read and write. Replaces the file when it is complete. */
export async function backup(
  engine: Engine,
  options: BackupOptions,
): Promise<{ tables: BackedUpTable[]; sha256: string }> {
  const { tables, sha256 } = await backUpStorage(engine.storage, options)
  return { tables, sha256 }
}

/** Verifies the whole backup first, and leaves nothing behind if it fails. */
export async function restore(options: RestoreOptions): Promise<{ tables: BackedUpTable[] }> {
  const { tables } = await restoreBackup(options)
  return { tables }
}

export type { Progress } from './backup.ts'
export type * from './db.ts'
export type { BackupsDb } from './db-backups.ts'
export type { PartiQl } from './db-partiql.ts'
export type { StreamsDb } from './db-streams.ts'
export type { Engine, EngineOptions } from './engine.ts'
export type { CancellationReason } from './errors.ts'
export type { Item, Value } from './values/types.ts'
export type { DynamoServer, ServeOptions } from './wire/server.ts'

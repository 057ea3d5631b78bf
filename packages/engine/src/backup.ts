// Backup and restore. A backup contains the tables and items of one snapshot, taken while others read and
// write. It does not contain indexes, which a restore rebuilds, idempotency tokens, which expire after
// ten minutes, logged changes, and backups within the directory. Streams and point-in-time recovery are
// enabled again by a restore, but without their history. Because tables can be left out, a backup copies
// items instead of LMDB's file, whose pages would still contain the excluded tables.

import { mkdtemp, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { makeDirectory, syncDirectory } from '@strongroom/platform/durable-directory'
import { createPrivateFile } from '@strongroom/platform/private-file'
import {
  BACKUP_VERSION,
  BackupWriter,
  cannotBackUp,
  cannotRestore,
  HEADER_FRAME,
  ITEM_FRAME,
  MANIFEST_FRAME,
  parse,
  readFrames,
  TABLE_FRAME,
  verifyBackup,
  type BackupAttachment,
  type BackupHeader,
  type BackupManifest,
  type BackupTable,
} from './storage/backups/backup-file.ts'
import { boundsOfId } from './storage/bounds.ts'
import { checkStorage } from './storage/check.ts'
import { decodeItem, ItemWriter } from './storage/codec.ts'
import { FORMAT_FILE } from './storage/lmdb/format.ts'
import { openStorage, type OpenStorage } from './storage/open-storage.ts'
import {
  removeKilledBackups,
  removeKilledRestores,
  stagingPrefix,
  withTemporary,
} from './storage/backups/leftovers.ts'
import { ERASED } from './storage/item-keys/encrypted-value.ts'
import { keyOf, lmdbRange, readCurrent } from './storage/reads.ts'
import type { NewLog, TableRecord } from './storage/storage.ts'
import type { Item } from './values/types.ts'

export interface Progress {
  table: string
  items: number
  /** The table is complete; reported once for every table, even an empty one. */
  isWhole: boolean
}

/** @internal */
export interface BackupOptions {
  file: string
  /** Names of tables to leave out. */
  exclude?: string[]
  /** Data that is not a table, such as the master key. */
  attachments?: BackupAttachment[]
  clock?: Clock
  onProgress?: (progress: Progress) => void
}

/** @internal */
export interface RestoreOptions {
  file: string
  /** Must be empty or not exist. */
  directory: string
  /** Files that may already exist in the directory; they are not changed. */
  beside?: readonly string[]
  /** Called after the backup was verified and before anything is written; throw to stop. */
  onVerified?: () => Promise<void>
  /** Called with the complete data, which becomes the directory afterwards; throw to restore nothing. */
  onRestored?: (staging: string, manifest: BackupManifest) => Promise<void>
  onProgress?: (progress: Progress) => void
}

/** @internal Replaces the file atomically when the backup is complete and flushed. */
export async function backup(
  storage: OpenStorage,
  options: BackupOptions,
): Promise<BackupManifest & { sha256: string }> {
  const file = resolve(options.file)
  await removeKilledBackups(file)
  return withTemporary(file, (temporary) => backupThrough(temporary, file, storage, options))
}

async function backupThrough(
  temporary: string,
  file: string,
  storage: OpenStorage,
  options: BackupOptions,
): Promise<BackupManifest & { sha256: string }> {
  storage.refresh()
  const all = storage.tables().filter(({ restoring }) => !restoring)
  const snapshot = storage.environment.snapshot()
  try {
    const handle = await createPrivateFile(temporary).catch((error: unknown) => {
      throw cannotWrite(file, error)
    })
    try {
      const exclude = new Set(options.exclude)
      const { attachments = [], clock = systemClock } = options
      const header: BackupHeader = { format: BACKUP_VERSION, createdAt: clock.now() }
      const manifest: BackupManifest = {
        ...header,
        tables: [],
        excluded: [],
        attachments: attachments.map(({ name }) => name),
      }
      const writer = new BackupWriter(handle)
      writer.json(HEADER_FRAME, header)
      for (const attachment of attachments) writer.attachment(attachment)
      for (const table of all) {
        if (exclude.has(table.name)) manifest.excluded.push(table.name)
        else {
          const items = await writeTable(writer, storage, table, snapshot, options)
          manifest.tables.push({ name: table.name, items })
        }
      }
      writer.json(MANIFEST_FRAME, manifest)
      const sha256 = await writer.finish()
      await handle.close()
      await rename(temporary, file)
      syncDirectory(dirname(file))
      return { ...manifest, sha256 }
    } catch (error) {
      await handle.close().catch(() => undefined)
      await rm(temporary, { force: true })
      throw cannotWrite(file, error)
    }
  } finally {
    snapshot.done()
  }
}

/** Advice for a full disk, or for a directory at the path of the file; other errors are rethrown. */
function cannotWrite(file: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error
  return cannotBackUp(file, error.message, error)
}

async function writeTable(
  writer: BackupWriter,
  storage: OpenStorage,
  table: TableRecord,
  transaction: { done(): void },
  options: BackupOptions,
): Promise<number> {
  writer.json(TABLE_FRAME, definition(table))
  const encoder = new ItemWriter()
  const range = { ...lmdbRange(boundsOfId(table.id), false), transaction }
  let items = 0
  const { environment } = storage
  for (const { key, value } of environment.items.getRange(range)) {
    // It was replaced or deleted after the snapshot began, so that its state then cannot be read.
    const item =
      value === ERASED ? readCurrent(environment, environment.items, keyOf(key, 0)) : value
    if (item === undefined) continue
    encoder.reset()
    encoder.item(item)
    writer.frame(ITEM_FRAME, encoder.bytes.subarray(0, encoder.position))
    items++
    if (writer.isFull) {
      await writer.drain()
      options.onProgress?.({ table: table.name, items, isWhole: false })
    }
  }
  options.onProgress?.({ table: table.name, items, isWhole: true })
  return items
}

/** The table without its ids, which are only valid in this directory. */
function definition(table: TableRecord): BackupTable {
  const {
    id: _id,
    version: _version,
    streamLabel: _label,
    encrypting: _encrypting,
    ...kept
  } = table
  const { indexes, ttl, logs, ...rest } = kept
  const open = logs?.filter(({ kind }) => kind !== 'copy') ?? []
  return {
    ...rest,
    indexes: indexes.map(({ id: _indexId, status: _status, ...index }) => index),
    ...(ttl && { ttl: { attribute: ttl.attribute } }),
    ...(open.length > 0 && {
      logs: open.map(({ kind, view, keepMs }) => ({ kind, view, keepMs })),
    }),
  }
}

/** @internal Builds in a sibling of the directory and renames it after all checks; a failure leaves nothing. */
export async function restore(options: RestoreOptions): Promise<BackupManifest> {
  const { file, beside = [] } = options
  const directory = resolve(options.directory)
  await assertEmpty(file, directory, beside)
  const manifest = await verifyBackup(file)
  await options.onVerified?.()
  await removeKilledRestores(file, directory)
  const staging = await createStaging(file, directory)
  try {
    await restoreInto(staging, manifest, options)
    await options.onRestored?.(staging, manifest)
    await moveTo(directory, staging, () => assertEmpty(file, directory, beside))
    return manifest
  } catch (error) {
    await rm(staging, { recursive: true, force: true })
    throw error
  }
}

/** New, private and with a name that cannot be guessed, because others may write to the parent. */
async function createStaging(file: string, directory: string): Promise<string> {
  try {
    makeDirectory(dirname(directory))
    return await mkdtemp(stagingPrefix(directory))
  } catch (error) {
    throw cannotRestore(file, `"${dirname(directory)}" cannot be written`, error)
  }
}

/** Returns the existing files that are allowed. */
async function assertEmpty(
  file: string,
  directory: string,
  beside: readonly string[],
): Promise<string[]> {
  const names = await namesIn(directory).catch((error: unknown) => {
    throw cannotRestore(file, `the directory "${directory}" cannot be read`, error)
  })
  if (names.some((name) => !beside.includes(name))) {
    throw cannotRestore(file, `the directory "${directory}" is not empty: choose another one`)
  }
  return names
}

/** Checks again, because another process may have written to the directory. */
async function moveTo(
  directory: string,
  staging: string,
  look: () => Promise<string[]>,
): Promise<void> {
  if ((await look()).length === 0) {
    await rmdir(directory).catch(() => undefined)
    await rename(staging, directory).catch(async (error: unknown) => {
      await look()
      throw error
    })
    syncDirectory(dirname(directory))
    return
  }
  // Existing files are kept. The format file is last, because a directory without it cannot be opened.
  const names = (await readdir(staging)).filter((name) => name !== FORMAT_FILE)
  for (const name of [...names, FORMAT_FILE]) {
    await rename(join(staging, name), join(directory, name))
  }
  syncDirectory(directory)
  await rmdir(staging)
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
}

const BATCH_ITEMS = 500
const BATCH_BYTES = 4 << 20

async function restoreInto(
  staging: string,
  manifest: BackupManifest,
  { file, onProgress }: RestoreOptions,
): Promise<void> {
  let createdAt = 0
  const clock = { now: () => createdAt }
  const storage = openStorage({ directory: staging, clock, sweepIntervalMs: 0 })
  try {
    let table: TableRecord | undefined
    const logged: { name: string; logs: NewLog[] }[] = []
    let items: Item[] = []
    let bytes = 0
    let total = 0
    const flush = async (): Promise<void> => {
      const [target, batch] = [table, items]
      if (target === undefined || batch.length === 0) return
      items = []
      bytes = 0
      await storage.write((tx) => {
        for (const item of batch) tx.put(target, item, undefined)
      })
      total += batch.length
    }
    const tell = (isWhole: boolean): void => {
      if (table) onProgress?.({ table: table.name, items: total, isWhole })
    }
    for await (const frame of readFrames(file)) {
      if (frame.type === TABLE_FRAME) {
        await flush()
        tell(true)
        total = 0
        const { createdAt: created, logs, ...wanted } = parse<BackupTable>(frame)
        createdAt = created
        if (logs) logged.push({ name: wanted.name, logs })
        table = await storage.createTable(wanted)
      } else if (frame.type === ITEM_FRAME) {
        items.push(decodeItem(frame.payload))
        bytes += frame.payload.length
        if (items.length < BATCH_ITEMS && bytes < BATCH_BYTES) continue
        await flush()
        tell(false)
      }
    }
    await flush()
    tell(true)
    createdAt = systemClock.now()
    for (const { name, logs } of logged) {
      await storage.replaceTable({ ...storage.table(name)!, logs })
    }
    await assertRestored(file, storage, manifest)
  } finally {
    await storage.close()
  }
}

async function assertRestored(
  file: string,
  storage: OpenStorage,
  manifest: BackupManifest,
): Promise<void> {
  for (const { name, items } of manifest.tables) {
    const table = storage.table(name)
    const found = table === undefined ? 0 : storage.count(table)
    if (table === undefined || found !== items) {
      throw cannotRestore(file, `table "${name}" has ${found} items instead of ${items}`)
    }
  }
  const { problems } = await checkStorage(storage)
  if (problems.length > 0) throw cannotRestore(file, `the result is not sound: ${problems[0]}`)
}

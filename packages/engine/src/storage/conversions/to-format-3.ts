import { itemSize } from '../../values/size.ts'
import type { Item } from '../../values/types.ts'
import { allBackups, backupKey } from '../backups/backup-records.ts'
import { ALL_TABLES } from '../catalog.ts'
import { decodeItem } from '../codec.ts'
import { ALL_COUNTS, countKey, readCount } from '../counts.ts'
import { requireKey } from '../item-keys/encrypted-value.ts'
import { hasEntry, projectedSize, writeEntryKey } from '../indexes.ts'
import { rewriteHash } from '../keys.ts'
import { allocate, type FastBuffer } from '../lmdb/bytes.ts'
import { type Environment, KeySource } from '../lmdb/lmdb.ts'
import { lmdbRange } from '../reads.ts'
import type { IndexRecord, TableRecord } from '../storage.ts'
import { type Conversion, MAX_BATCH, type Position } from './conversion.ts'

/**
 * Format 3 added stored counts of tables and indexes, and the size of backups of dropped tables. Items are
 * read and not rewritten. Programs that do not keep the counts must not write to the directory any more.
 */
export const toFormat3: Conversion = {
  to: 3,
  summary: 'counts the items of tables and indexes',
  growth: 0,
  total: (env) =>
    (env.stored as unknown as { getStats(): { entryCount: number } }).getStats().entryCount,
  step,
}

const LAST_KEY = allocate(16).fill(255)
/** Up to format 4, the hash of a key was of the whole partition key. */
const HASHED_BYTES = Number.POSITIVE_INFINITY
const source = new KeySource()
const entry = allocate(16_384)

function step(env: Environment, position: Position | undefined): Position | undefined {
  if (position === undefined) removeCounts(env)
  const counts = new Counts(env)
  const tables = tablesById(env)
  const low = Buffer.concat([
    Buffer.from((position?.['after'] as string | undefined) ?? '', 'base64'),
    Buffer.of(0),
  ])
  const range = lmdbRange({ low: low as FastBuffer, high: LAST_KEY }, false)
  let read = 0
  let last: Buffer = low
  for (const { key, value } of env.stored.getRange({ ...range, limit: MAX_BATCH })) {
    read++
    last = Buffer.from(key.bytes.subarray(0, key.length))
    const table = tables.get(last.readUInt32BE(0))
    // Items of a dropped table are counted no more, even if they have not been removed yet.
    if (table) countItem(env, table, last, decodeItem(requireKey(value)), counts)
  }
  counts.save()
  if (read === MAX_BATCH) {
    return { done: (position?.done ?? 0) + read, after: last.toString('base64') }
  }
  moveBackupCounts(env)
  return undefined
}

/** A directory may have some if its format file was set back by hand. */
function removeCounts(env: Environment): void {
  const keys = Array.from(env.meta.getKeys({ ...ALL_COUNTS }))
  for (const key of keys) env.meta.removeSync(key)
}

function tablesById(env: Environment): Map<number, TableRecord> {
  const tables = new Map<number, TableRecord>()
  for (const { value } of env.meta.getRange(ALL_TABLES)) {
    const table = value as TableRecord
    tables.set(table.id, table)
  }
  for (const { space } of allBackups(env)) tables.set(space.id, space)
  return tables
}

function countItem(
  env: Environment,
  table: TableRecord,
  key: Buffer,
  item: Item,
  counts: Counts,
): void {
  const size = itemSize(item)
  counts.add(table.id, size)
  for (const index of table.indexes) {
    if (isInIndex(env, index, key, item)) {
      counts.add(index.id, projectedSize(table, index, item, size))
    }
  }
}

/** An index that is being filled has the entries of some items only. */
function isInIndex(env: Environment, index: IndexRecord, key: Buffer, item: Item): boolean {
  if (!hasEntry(index, item)) return false
  if (index.status === 'ACTIVE') return true
  const { end } = writeEntryKey(index, item, { bytes: key, start: 0, end: key.length }, entry, 0)
  rewriteHash(entry, 0, HASHED_BYTES)
  return env.entries.get(source.ofBytes(entry, 0, end)) !== undefined
}

/** The count of a finished backup is in its record. */
function moveBackupCounts(env: Environment): void {
  const backups = Array.from(allBackups(env))
  for (const backup of backups) {
    if (backup.status !== 'AVAILABLE') continue
    env.meta.putSync(backupKey(backup.id), { ...backup, ...readCount(env, backup.space.id) })
    env.meta.removeSync(countKey(backup.space.id))
  }
}

/** The counts of one batch, added to those of the batches before it. */
class Counts {
  readonly #env: Environment
  readonly #found = new Map<number, { items: number; bytes: number }>()

  constructor(env: Environment) {
    this.#env = env
  }

  add(id: number, size: number): void {
    const found = this.#found.get(id) ?? { ...readCount(this.#env, id) }
    found.items++
    found.bytes += size
    this.#found.set(id, found)
  }

  save(): void {
    for (const [id, found] of this.#found) this.#env.meta.putSync(countKey(id), found)
  }
}

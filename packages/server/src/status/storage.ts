/** What the tables need, how much room is left, and how far back they can be restored. */
import type { Db, DescribeContinuousBackupsOutput, Item, Value } from '@strongroom/kit/db'
import { isNamed } from '@strongroom/kit/db-errors'
import { serverTable } from '@strongroom/kit/server-table'
import type { Table } from '@strongroom/kit/table'
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { DiskUsage, Store } from '../store.ts'

/** The embedded engine counts items by reading their keys. */
const CACHE_MS = 600_000
const SAMPLED_ITEMS = 100

export interface TableUsage {
  name: string
  items: number
  /** Estimated from a few items where the store does not know it. */
  bytes: number
}

export interface StorageStatus {
  tables: TableUsage[]
  disk: DiskUsage | undefined
  /** Undefined if tables cannot be restored to a moment. */
  recovery: { days: number; earliest: number | undefined } | undefined
}

export function createStorageStatus(deps: {
  store: Pick<Store, 'db' | 'usage'>
  tables: readonly Table[]
  clock: Clock
}): () => Promise<StorageStatus> {
  const { store, tables, clock } = deps
  let cached: { tables: Promise<TableUsage[]>; readAt: number } | undefined

  async function readTables(): Promise<TableUsage[]> {
    const found: TableUsage[] = []
    // One after the other: each may block the event loop for a moment.
    for (const { name } of tables) found.push(await readTable(store.db, name))
    return found.toSorted((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1))
  }

  return async () => {
    if (!cached || !isRecent(clock, cached.readAt, CACHE_MS)) {
      const read = readTables()
      cached = { tables: read, readAt: clock.now() }
      read.catch(() => (cached = undefined))
    }
    const [usage, disk, recovery] = await Promise.all([
      cached.tables,
      store.usage?.(),
      readRecovery(store.db),
    ])
    return { tables: usage, disk, recovery }
  }
}

async function readTable(db: Db, name: string): Promise<TableUsage> {
  const { Table: description } = await db.describeTable({ TableName: name })
  const { ItemCount: items = 0, TableSizeBytes: bytes = 0 } = description ?? {}
  if (bytes > 0 || items === 0) return { name, items, bytes }
  const { Items: sample = [] } = await db.scan({ TableName: name, Limit: SAMPLED_ITEMS })
  const sampled = sample.reduce((sum, item) => sum + sizeOf(item), 0)
  return { name, items, bytes: Math.round((sampled / Math.max(1, sample.length)) * items) }
}

/** Undefined where the store does not say or tables cannot be restored. */
async function readRecovery(db: Db): Promise<StorageStatus['recovery']> {
  const TableName = serverTable.name
  const { ContinuousBackupsDescription: found } = await db
    .describeContinuousBackups({ TableName })
    .catch((error: unknown): DescribeContinuousBackupsOutput => {
      // DynamoDB Local does not have it.
      if (isNamed(error, 'UnknownOperationException')) return {}
      throw error
    })
  const recovery = found?.PointInTimeRecoveryDescription
  if (recovery?.PointInTimeRecoveryStatus !== 'ENABLED') return undefined
  const { RecoveryPeriodInDays: days = 35, EarliestRestorableDateTime: at } = recovery
  const earliest = at instanceof Date ? at.getTime() : at === undefined ? undefined : at * 1000
  return { days, earliest }
}

/** About what DynamoDB counts. */
function sizeOf(item: Item): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + name.length + valueSize(value),
    0,
  )
}

const NUMBER_BYTES = 8

function valueSize(value: Value): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (value instanceof Uint8Array) return value.length
  if (value instanceof Set || Array.isArray(value)) {
    return [...value].reduce<number>((sum, each) => sum + valueSize(each), 0)
  }
  if (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype
  ) {
    return sizeOf(value as Item)
  }
  return NUMBER_BYTES
}

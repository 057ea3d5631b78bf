// The storage interface that operations use: tables with keys and indexes, items as plain values, one
// write transaction at a time, snapshots for reads. `open-storage.ts` implements these types on LMDB.
// Expressions, projections, item size limits and AWS's validation messages belong to the operations.

import type { Item, Value } from '../values/types.ts'
import type { Backups } from './backups/backups.ts'
import type { Streams } from './changes/streams.ts'
import type { TableSwap } from './table-swap.ts'

export type KeyType = 'S' | 'N' | 'B'

export interface KeyAttribute {
  name: string
  type: KeyType
}

export interface KeySchema {
  partition: KeyAttribute
  sort?: KeyAttribute
}

export interface IndexProjection {
  type: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'
  /** The non-key attributes of an INCLUDE projection. */
  attributes?: string[]
}

export interface NewIndex {
  name: string
  /** A local index has the table's partition key; storage treats both kinds the same. */
  kind: 'global' | 'local'
  keys: KeySchema
  projection: IndexProjection
  /** Data of the operations (throughput, …), stored without being read here. */
  details?: Record<string, unknown>
}

export interface IndexRecord extends NewIndex {
  /** Prefix of its entries; never reused. */
  id: number
  /** CREATING while existing items are being added; new writes add entries from the start. */
  status: 'CREATING' | 'ACTIVE'
}

export interface TtlRecord {
  attribute: string
  /** Prefix of its entries; never reused. */
  id: number
}

/** The images of an item that a log stores for each change, besides its key. */
export type ImageView = 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES'

export interface NewLog {
  /** For readers of a stream, for point-in-time recovery, or for a running copy. */
  kind: 'stream' | 'recovery' | 'copy'
  view: ImageView
  /** Older changes are removed in the background. */
  keepMs: number
}

/** A list of the changes of a table, written in the same transactions as the changes. */
export interface LogRecord extends NewLog {
  /** Prefix of its changes; never reused. */
  id: number
  /** Milliseconds since the epoch. */
  createdAt: number
}

export interface NewTable {
  name: string
  keys: KeySchema
  indexes: NewIndex[]
  /** Undefined if there are none, so that other tables have no overhead. */
  logs?: NewLog[]
  /** Items whose attribute holds a past time in epoch seconds are deleted in the background. */
  ttl?: { attribute: string }
  /**
   * Each item is encrypted with a key of its own. What a write replaces or deletes cannot be recovered
   * from the directory once the write is acknowledged.
   */
  encrypted?: true
  /** JSON data of the operations (billing, tags, PITR, …), stored without being read here. */
  details?: Record<string, unknown>
}

/** Frozen: to change a table, pass a changed copy to `replaceTable`. */
export interface TableRecord extends NewTable {
  /** Prefix of its items; never reused, not even by a table of the same name. */
  id: number
  /** Grows with every change of this record; a replacement must have the version that was read. */
  version: number
  /** Milliseconds since the epoch. */
  createdAt: number
  indexes: IndexRecord[]
  ttl?: TtlRecord
  logs?: LogRecord[]
  /** The label of its last stream, which may be closed. */
  streamLabel?: string
  /** Its items are still being copied, so it cannot be used yet. */
  restoring?: true
  /** Items from before it was `encrypted` are still being encrypted. */
  encrypting?: true
}

/** A changed copy of a record. Indexes without an id are new and will be filled; missing ones are dropped. */
export interface TableChange extends Omit<TableRecord, 'indexes' | 'ttl' | 'logs'> {
  indexes: (IndexRecord | NewIndex)[]
  /** Those without an id are new; missing ones are closed. Logs of copies are unaffected. */
  logs?: (LogRecord | NewLog)[]
  ttl?: { attribute: string }
}

export interface SortCondition {
  op: '=' | '<' | '<=' | '>' | '>=' | 'BETWEEN' | 'begins_with'
  values: Value[]
}

export interface RangeQuery {
  /** The partition key value; if undefined, all partitions are read one after the other. */
  partition?: Value
  sort?: SortCondition
  reverse?: boolean
  /** Exclusive start: the key attributes of the table (and of the index). The item may have been deleted. */
  startKey?: Item
  /** Segment `index` (from 0) of `total` disjoint segments. */
  segment?: { index: number; total: number }
  /** Includes writes of other processes that were acknowledged before this call. */
  consistent?: boolean
}

export interface DropOptions {
  /** Keeps the items as a backup with this name and retention. */
  keepAs?: { name: string; keepMs: number }
}

export interface ReadOptions {
  /** Includes writes of other processes that were acknowledged before this call. */
  consistent?: boolean
}

/** A stored idempotency token. */
export interface TokenRecord {
  hash: string
  /** Milliseconds since the epoch. */
  expiresAt: number
}

/**
 * Valid only inside `run`. Nothing is written before `run` returns, and nothing if it throws. Each call
 * checks that the table still exists and updates index and TTL entries.
 */
export interface WriteTx {
  /**
   * Sees the puts and deletes of this and of earlier `run`s. With `only`, other attributes are missing,
   * except those that are keys or in the projection of an index.
   */
  get(table: TableRecord, key: Item, only?: readonly string[]): Item | undefined
  /** The size of the attributes that `get` left out of this item. */
  omittedSize(item: Item): number
  /** `old` must be the result of `get` for this key. */
  put(table: TableRecord, item: Item, old: Item | undefined): void
  /** A put of a changed copy of the old item, which keeps what `get` has left out. */
  update(table: TableRecord, item: Item, old: Item): void
  /** A put without the old item. */
  overwrite(table: TableRecord, item: Item): void
  delete(table: TableRecord, old: Item): void
  /** The record of an unexpired token. */
  token(token: string): TokenRecord | undefined
  rememberToken(token: string, hash: string, expiresAt: number): void
}

export interface Storage {
  readonly directory: string
  /** Includes tables that another process created before this turn of the event loop. */
  table(name: string): TableRecord | undefined
  /** Sorted by name. */
  tables(): TableRecord[]
  createTable(table: NewTable): Promise<TableRecord>
  /** Rejects with ResourceInUseException if the record was changed after it was read. */
  replaceTable(table: TableChange): Promise<TableRecord>
  /** The table is deleted when this resolves; its items and entries are removed in the background. */
  dropTable(name: string, options?: DropOptions): Promise<void>
  /** Puts tables in place of others, all in one commit. */
  swapTables(swaps: readonly TableSwap[]): Promise<void>
  get(table: TableRecord, key: Item, options?: ReadOptions): Item | undefined
  /** Several items as of one moment, which includes everything committed by now. */
  getTogether(keys: readonly { table: TableRecord; key: Item }[]): (Item | undefined)[]
  /**
   * Items in key order, read lazily from one snapshot; whole items even through an index. Leave the loop
   * normally (break, return, throw), so that the snapshot is released.
   */
  range(table: TableRecord, index: IndexRecord | undefined, query: RangeQuery): Iterable<Item>
  /** The same for a table, as stored bytes that the next item overwrites. */
  storedRange(table: TableRecord, query: RangeQuery): Iterable<Uint8Array>
  /** The number of items in the table or index; exact. */
  count(table: TableRecord, index?: IndexRecord): number
  /** The size of these items in bytes, in an index of what it projects; exact. */
  size(table: TableRecord, index?: IndexRecord): number
  /** Later reads of this turn see everything committed by now. Reads between two calls share a snapshot. */
  refresh(): void
  /** Runs inside the write transaction; resolves when the commit is on disk. */
  write<T>(run: (tx: WriteTx) => T): Promise<T>
  /** A write transaction with a single `overwrite`. */
  overwrite(table: TableRecord, item: Item): Promise<void>
  /** Deletes expired items and tokens, and data past its retention; resolves to the number of items. */
  sweep(): Promise<number>
  /** Resolves when no index is being filled and no dropped table is being removed. */
  settled(): Promise<void>
  readonly streams: Streams
  readonly backups: Backups
  /** Waits for queued writes. Later calls are rejected. */
  close(): Promise<void>
}

// The storage API that operations are written against: tables with keys and indexes, items as plain
// values, one write transaction at a time, snapshots for reads. Only types live here;
// `open.ts` implements them on LMDB. Left out on purpose: expressions, projections, item size limits
// and AWS's validation texts, which belong to the operations.

import type { Item, Value } from '../values/types.ts'
import type { Backups } from './backups/backups.ts'
import type { Streams } from './changes/streams.ts'

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
  /** A local index shares the table's partition key; storage treats both kinds alike. */
  kind: 'global' | 'local'
  keys: KeySchema
  projection: IndexProjection
  /** What the operations record with an index (throughput, …): stored, never read here. */
  details?: Record<string, unknown>
}

export interface IndexRecord extends NewIndex {
  /** Prefix of its entries; never reused. */
  id: number
  /** CREATING while existing items are being added; entries of new writes are there from the start. */
  status: 'CREATING' | 'ACTIVE'
}

export interface TtlRecord {
  attribute: string
  /** Prefix of its entries; never reused. */
  id: number
}

/** Which images of an item a log keeps of each change, besides its key. */
export type ImageView = 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES'

export interface NewLog {
  /** For readers of a stream, for recovery to a point in time, or while a copy is being made. */
  kind: 'stream' | 'recovery' | 'copy'
  view: ImageView
  /** Older changes are removed in the background. */
  keepMs: number
}

/** A list of the changes of a table, written in the same transaction as they are. */
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
  /** Left out if there are none, so that other tables pay nothing for them. */
  logs?: NewLog[]
  /** Items whose attribute holds a past time in epoch seconds are deleted in the background. */
  ttl?: { attribute: string }
  /** What the operations record with a table (billing, tags, PITR, …): JSON, stored, never read here. */
  details?: Record<string, unknown>
}

/** Frozen: to change a table, pass a changed copy to `replaceTable`. */
export interface TableRecord extends NewTable {
  /** Prefix of its items; never reused, also not by a table of the same name. */
  id: number
  /** Grows with every change of this record; a replacement must carry the version it was read with. */
  version: number
  /** Milliseconds since the epoch. */
  createdAt: number
  indexes: IndexRecord[]
  ttl?: TtlRecord
  logs?: LogRecord[]
  /** The label of its last stream, which may be closed. */
  streamLabel?: string
  /** It is being filled from a copy, and is not there yet for items. */
  restoring?: true
}

/** A changed copy of a record. Indexes without an id are new and will be filled; missing ones are dropped. */
export interface TableChange extends Omit<TableRecord, 'indexes' | 'ttl' | 'logs'> {
  indexes: (IndexRecord | NewIndex)[]
  /** Those without an id are new; missing ones are closed. Logs of copies stay as they are. */
  logs?: (LogRecord | NewLog)[]
  ttl?: { attribute: string }
}

export interface SortCondition {
  op: '=' | '<' | '<=' | '>' | '>=' | 'BETWEEN' | 'begins_with'
  values: Value[]
}

export interface RangeQuery {
  /** The partition key value; without it every item of the table or index, partition by partition. */
  partition?: Value
  sort?: SortCondition
  reverse?: boolean
  /** Exclusive start: the key attributes of the table (and of the index). The item may have been deleted. */
  startKey?: Item
  /** Part `index` (from 0) of `total` disjoint parts that together are the whole. */
  segment?: { index: number; total: number }
  /** See writes of other processes that were acknowledged before this call. */
  consistent?: boolean
}

export interface DropOptions {
  /** Keeps its items as a backup of this name for so long. */
  keepAs?: { name: string; keepMs: number; items: number }
}

export interface ReadOptions {
  /** See writes of other processes that were acknowledged before this call. */
  consistent?: boolean
}

/** A remembered idempotency token. */
export interface TokenRecord {
  hash: string
  /** Milliseconds since the epoch. */
  expiresAt: number
}

/**
 * Valid only inside `run`. Nothing is written before `run` returns; if it throws, nothing of it is.
 * Each call checks that the table still exists and keeps index and TTL entries in step.
 */
export interface WriteTx {
  /** Sees the puts and deletes of this and of earlier `run`s. */
  get(table: TableRecord, key: Item): Item | undefined
  /** `old` is what `get` returned for this key; index entries change only where key attributes do. */
  put(table: TableRecord, item: Item, old: Item | undefined): void
  /** A put without knowing the old item, which is read only if there are entries to keep in step. */
  overwrite(table: TableRecord, item: Item): void
  delete(table: TableRecord, old: Item): void
  /** The record of an unexpired token. */
  token(token: string): TokenRecord | undefined
  rememberToken(token: string, hash: string, expiresAt: number): void
}

export interface Storage {
  readonly directory: string
  /** Knows tables that another process created before this turn of the event loop. */
  table(name: string): TableRecord | undefined
  /** By name. */
  tables(): TableRecord[]
  createTable(table: NewTable): Promise<TableRecord>
  /** Refused with ResourceInUseException if the record was changed since it was read. */
  replaceTable(table: TableChange): Promise<TableRecord>
  /** The table is deleted when this resolves; its items and entries are removed in the background. */
  dropTable(name: string, options?: DropOptions): Promise<void>
  get(table: TableRecord, key: Item, options?: ReadOptions): Item | undefined
  /**
   * Items in key order, lazily, from one snapshot; full items also through an index. Leave the loop
   * normally (break, return, throw) so that the snapshot is released.
   */
  range(table: TableRecord, index: IndexRecord | undefined, query: RangeQuery): Iterable<Item>
  /** The same for a table, as stored bytes that the next one overwrites. */
  storedRange(table: TableRecord, query: RangeQuery): Iterable<Uint8Array>
  /** Items in the table or index; of a large one, a moment ago. */
  count(table: TableRecord, index?: IndexRecord): number
  /** Later reads of this turn see everything committed by now. Reads between two calls share a snapshot. */
  refresh(): void
  /** Runs inside the write transaction and resolves once its commit is on disk. */
  write<T>(run: (tx: WriteTx) => T): Promise<T>
  /** One `overwrite`. */
  overwrite(table: TableRecord, item: Item): Promise<void>
  /** Deletes items whose time to live has passed and forgets expired tokens; resolves to the items deleted. */
  sweep(): Promise<number>
  /** Resolves when no index is being filled and no dropped table is being removed. */
  settled(): Promise<void>
  readonly streams: Streams
  readonly backups: Backups
  /** Waits for queued writes. Everything afterwards is rejected. */
  close(): Promise<void>
}

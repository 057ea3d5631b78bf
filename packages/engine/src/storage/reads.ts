// Reads one item by key, or a range of items from one snapshot. A range through an index reads each
// entry and then its item in the same snapshot. Ranges are lazy, so the caller decides where a page ends.

import type { Item } from '../values/types.ts'
import { boundsOf, type Bounds } from './bounds.ts'
import { KeySource, type Environment } from './lmdb/lmdb.ts'
import type { IndexRecord, RangeQuery, TableRecord } from './storage.ts'

const source = new KeySource()

export function readItem(env: Environment, table: TableRecord, key: Item): Item | undefined {
  return env.items.get(source.ofItem(table.id, table.keys, key))
}

export function readRange(
  env: Environment,
  table: TableRecord,
  index: IndexRecord | undefined,
  query: RangeQuery,
): Iterable<Item> {
  const bounds = boundsOf(table, index, query)
  const reverse = query.reverse === true
  if (Buffer.compare(bounds.low, bounds.high) >= 0) return []
  return index === undefined ? itemsIn(env, bounds, reverse) : itemsThrough(env, bounds, reverse)
}

/** The bytes of the items of a table; each is overwritten by the next. */
export function readStoredRange(
  env: Environment,
  table: TableRecord,
  query: RangeQuery,
): Iterable<Uint8Array> {
  const bounds = boundsOf(table, undefined, query)
  if (Buffer.compare(bounds.low, bounds.high) >= 0) return []
  return storedIn(env, bounds, query.reverse === true)
}

function* storedIn(env: Environment, bounds: Bounds, reverse: boolean): Iterable<Uint8Array> {
  for (const { value } of env.stored.getRange(lmdbRange(bounds, reverse))) yield value
}

/** The start of an lmdb range is inclusive; in reverse, ours excludes it and includes the end. */
export function lmdbRange(
  { low, high }: Bounds,
  reverse: boolean,
): {
  start: KeySource
  end: KeySource
  reverse: boolean
  exclusiveStart: boolean
  inclusiveEnd: boolean
} {
  const lowest = new KeySource().ofBytes(low, 0, low.length)
  const highest = new KeySource().ofBytes(high, 0, high.length)
  return {
    start: reverse ? highest : lowest,
    end: reverse ? lowest : highest,
    reverse,
    exclusiveStart: reverse,
    inclusiveEnd: reverse,
  }
}

function* itemsIn(env: Environment, bounds: Bounds, reverse: boolean): Iterable<Item> {
  // A range keeps its own snapshot, so lmdb can reuse one cursor.
  for (const { value } of env.items.getRange(lmdbRange(bounds, reverse))) yield value
}

function* itemsThrough(env: Environment, bounds: Bounds, reverse: boolean): Iterable<Item> {
  const transaction = env.snapshot()
  const snapshot = { transaction }
  try {
    const entries = env.entries.getRange({ ...lmdbRange(bounds, reverse), transaction })
    for (const { key, value: offset } of entries) {
      const item = env.items.get(source.ofBytes(key.bytes, offset, key.length), snapshot)
      if (item !== undefined) yield item
    }
  } finally {
    transaction.done()
  }
}

// Reads one item by key, or a range of items from one snapshot. A range through an index reads each
// entry and then its item in the same snapshot. Ranges are lazy, so the caller decides where a page ends.

import type { Item } from '../values/types.ts'
import { boundsOf, type Bounds } from './bounds.ts'
import { hasEntry, writeEntryPrefix } from './indexes.ts'
import { ERASED, requireKey, type Erased } from './item-keys/encrypted-value.ts'
import { allocate, type FastBuffer } from './lmdb/bytes.ts'
import { KeySource, type EntryKey, type Environment, type Table } from './lmdb/lmdb.ts'
import type { IndexRecord, RangeQuery, TableRecord } from './storage.ts'

const source = new KeySource()

export function readItem(env: Environment, table: TableRecord, key: Item): Item | undefined {
  source.ofItem(table.id, table.keys, key)
  const item = env.items.get(source)
  return item === ERASED ? readCurrent(env, env.items, source) : item
}

/** Each attempt needs another write to the same item in the microseconds before it. */
const MAX_ATTEMPTS = 100

/**
 * Reads a value whose key was overwritten after the snapshot began: the item has been replaced or
 * deleted since, which a newer snapshot shows.
 */
export function readCurrent<T>(
  env: Environment,
  table: Table<T | Erased>,
  key: KeySource,
): T | undefined {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    env.refresh()
    const value = table.get(key)
    if (value !== ERASED) return value
  }
  return requireKey<T>(ERASED)
}

/** Items of one snapshot, which is a newer one if an item was replaced meanwhile. */
export function readTogether(
  env: Environment,
  keys: readonly { table: TableRecord; key: Item }[],
): (Item | undefined)[] {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    env.refresh()
    const items = keys.map(({ table, key }) =>
      env.items.get(source.ofItem(table.id, table.keys, key)),
    )
    if (!items.includes(ERASED)) return items as (Item | undefined)[]
  }
  return requireKey<(Item | undefined)[]>(ERASED)
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
  return index === undefined
    ? valuesIn(env, env.items, bounds, reverse)
    : itemsThrough(env, index, bounds, reverse)
}

/** The bytes of the items of a table; each is overwritten by the next. */
export function readStoredRange(
  env: Environment,
  table: TableRecord,
  query: RangeQuery,
): Iterable<Uint8Array> {
  const bounds = boundsOf(table, undefined, query)
  if (Buffer.compare(bounds.low, bounds.high) >= 0) return []
  return valuesIn(env, env.stored, bounds, query.reverse === true)
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

function* valuesIn<T>(
  env: Environment,
  table: Table<T | Erased>,
  bounds: Bounds,
  reverse: boolean,
): Iterable<T> {
  // A range keeps its own snapshot, so lmdb can reuse one cursor.
  for (const { key, value } of table.getRange(lmdbRange(bounds, reverse))) {
    if (value !== ERASED) yield value
    else {
      const found = readCurrent(env, table, keyOf(key, 0))
      if (found !== undefined) yield found
    }
  }
}

function* itemsThrough(
  env: Environment,
  index: IndexRecord,
  bounds: Bounds,
  reverse: boolean,
): Iterable<Item> {
  const transaction = env.snapshot()
  const snapshot = { transaction }
  try {
    const entries = env.entries.getRange({ ...lmdbRange(bounds, reverse), transaction })
    for (const { key, value: offset } of entries) {
      const item = env.items.get(source.ofBytes(key.bytes, offset, key.length), snapshot)
      if (item === ERASED) {
        const entry = Buffer.from(key.bytes.subarray(0, offset))
        const found = readCurrent(env, env.items, keyOf(key, offset))
        if (found !== undefined && isEntryOf(index, found, entry)) yield found
      } else if (item !== undefined) yield item
    }
  } finally {
    transaction.done()
  }
}

/** A copy, because the next read overwrites the bytes of a key. */
export function keyOf({ bytes, length }: EntryKey, start: number): KeySource {
  const copy = Buffer.from(bytes.subarray(start, length)) as FastBuffer
  return new KeySource().ofBytes(copy, 0, copy.length)
}

const scratch = allocate(8192)

/** Whether an item that was replaced still has this entry. */
function isEntryOf(index: IndexRecord, item: Item, entry: Uint8Array): boolean {
  if (!hasEntry(index, item)) return false
  const end = writeEntryPrefix(index, item, scratch, 0)
  return scratch.compare(entry, 0, entry.length, 0, end) === 0
}

// The byte range of a query or scan, from `low` (inclusive) to `high` (exclusive). Item keys end with
// the raw sort key. Index entries have it escaped and followed by the item key, so "just after this sort
// key" is a different byte string in each.

import type { Item, Value } from '../values/types.ts'
import { allocate, type FastBuffer } from './lmdb/bytes.ts'
import {
  writeEscapedSort,
  writeId,
  writeIndexPrefix,
  writeItemKey,
  writePartition,
  writeSort,
} from './keys.ts'
import type { IndexRecord, KeySchema, KeyType, RangeQuery, TableRecord } from './storage.ts'

export interface Bounds {
  low: FastBuffer
  high: FastBuffer
}

const scratch = allocate(16384)

function bytesTo(end: number): FastBuffer {
  return Buffer.from(scratch.subarray(0, end)) as FastBuffer
}

/** The first byte string after all those that start with the first `end` bytes of the scratch. */
function pastPrefix(end: number): FastBuffer {
  let last = end
  while (last > 0 && scratch[last - 1] === 0xff) last--
  scratch[last - 1]!++
  const bytes = bytesTo(last)
  scratch[last - 1]!--
  return bytes
}

/** Everything under one id, for removing and counting. */
export function boundsOfId(id: number): Bounds {
  const end = writeId(id, scratch, 0)
  return { low: bytesTo(end), high: pastPrefix(end) }
}

export function boundsOf(
  table: TableRecord,
  index: IndexRecord | undefined,
  query: RangeQuery,
): Bounds {
  const id = index?.id ?? table.id
  const keys = index?.keys ?? table.keys
  const bounds =
    query.partition === undefined
      ? segmentBounds(id, query.segment)
      : partitionBounds(id, keys, index !== undefined, query.partition, query)
  if (query.startKey !== undefined) skipTo(bounds, table, index, query.startKey, query.reverse)
  return bounds
}

function segmentBounds(id: number, segment: RangeQuery['segment']): Bounds {
  if (segment === undefined) return boundsOfId(id)
  const { index, total } = segment
  return {
    low: hashBound(id, Math.floor((65536 * index) / total)),
    high: hashBound(id, Math.floor((65536 * (index + 1)) / total)),
  }
}

function hashBound(id: number, hash: number): FastBuffer {
  const end = writeId(id, scratch, 0)
  if (hash > 65535) return pastPrefix(end)
  scratch[end] = hash >>> 8
  scratch[end + 1] = hash
  return bytesTo(end + 2)
}

function partitionBounds(
  id: number,
  keys: KeySchema,
  escaped: boolean,
  partition: Value,
  query: RangeQuery,
): Bounds {
  const end = writePartition(id, partition, keys.partition.type, scratch, 0)
  const { sort } = query
  if (sort === undefined) return { low: bytesTo(end), high: pastPrefix(end) }
  const type = keys.sort?.type
  if (type === undefined) throw new TypeError('Cannot query by a sort key that does not exist')
  const [first, second] = sort.values as [Value, Value]
  const before = (value: Value) => sortBound(end, value, type, escaped, 0)
  const after = (value: Value) => sortBound(end, value, type, escaped, 1)
  switch (sort.op) {
    case '=':
      return { low: before(first), high: after(first) }
    case '<':
      return { low: bytesTo(end), high: before(first) }
    case '<=':
      return { low: bytesTo(end), high: after(first) }
    case '>':
      return { low: after(first), high: pastPrefix(end) }
    case '>=':
      return { low: before(first), high: pastPrefix(end) }
    case 'BETWEEN':
      return { low: before(first), high: after(second) }
    case 'begins_with': {
      const prefix = escaped
        ? writeEscapedSort(first, type, scratch, end)
        : writeSort(first, type, scratch, end)
      return { low: bytesTo(prefix), high: pastPrefix(prefix) }
    }
  }
}

/** The bound just before (0) or just after (1) everything with this sort key. */
function sortBound(
  start: number,
  value: Value,
  type: KeyType,
  escaped: boolean,
  after: 0 | 1,
): FastBuffer {
  if (escaped) {
    const end = writeEscapedSort(value, type, scratch, start)
    scratch[end] = 0
    scratch[end + 1] = after
    return bytesTo(end + 2)
  }
  const end = writeSort(value, type, scratch, start)
  scratch[end] = 0
  return bytesTo(end + after)
}

function skipTo(
  bounds: Bounds,
  table: TableRecord,
  index: IndexRecord | undefined,
  startKey: Item,
  reverse: boolean | undefined,
): void {
  const prefix =
    index === undefined ? 0 : writeIndexPrefix(index.id, index.keys, startKey, scratch, 0)
  const end = writeItemKey(table.id, table.keys, startKey, scratch, prefix)
  if (reverse === true) {
    const key = bytesTo(end)
    if (Buffer.compare(key, bounds.high) < 0) bounds.high = key
  } else {
    scratch[end] = 0
    const key = bytesTo(end + 1)
    if (Buffer.compare(key, bounds.low) > 0) bounds.low = key
  }
}

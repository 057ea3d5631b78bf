// Encodes keys so that their byte order is DynamoDB's order.
//
//   item:        table id (4) | hash (2) | partition key | sort key, raw, to the end
//   index entry: index id (4) | hash (2) | partition key | sort key, escaped | item key
//   TTL entry:   ttl id (4) | expiry in epoch seconds (6) | item key
//
// The hash is of the first four bytes of the partition key: it divides a table into scan segments, and
// partitions whose keys begin alike, with the same kind or about the same time, still share pages, so that
// a commit that writes several of them writes few pages.
//
// A partition key is its length (1) and its bytes, or if it is longer than 255 bytes, a zero and its
// SHA-256, because partitions have no order. Escaping turns 00 into 00 FF and ends with 00 00, which
// keeps the order of sort keys of different lengths. The longest entry (a local index on 1,024 zero
// bytes) has 3,598 bytes, below LMDB's limit of 4,026.

import { createHash } from 'node:crypto'
import { orderedNumberBytes } from '../values/numbers.ts'
import { attribute, NumberValue, type Item, type Value } from '../values/types.ts'
import { allocate, copyBytes, writeText, type FastBuffer } from './lmdb/bytes.ts'
import type { KeyAttribute, KeySchema, KeyType } from './storage.ts'

const MAX_PARTITION_BYTES = 2048
const MAX_SORT_BYTES = 1024
const MAX_RAW_PARTITION_BYTES = 255
const HASHED_BYTES = 4
/** Where the bytes of the partition key begin, after id, hash and length. */
const PARTITION_AT = 7
const DIGEST_BYTES = 32

// Long texts are measured before they are written, so this never overflows.
const scratch = allocate(3 * 2048 + 64)

export function writeId(id: number, target: FastBuffer, start: number): number {
  target[start] = id >>> 24
  target[start + 1] = id >>> 16
  target[start + 2] = id >>> 8
  target[start + 3] = id
  return start + 4
}

/** Writes a key attribute's value without any framing. */
function writeRaw(value: Value, type: KeyType, target: FastBuffer, start: number): number {
  if (type === 'S' && typeof value === 'string') return writeText(value, target, start)
  if (type === 'N' && (typeof value === 'number' || value instanceof NumberValue)) {
    const bytes = orderedNumberBytes(value)
    return copyBytes(bytes, 0, bytes.length, target, start)
  }
  if (type === 'B' && value instanceof Uint8Array) {
    target.set(value, start)
    return start + value.length
  }
  throw new TypeError(`Cannot use a value as a key attribute of type ${type}`)
}

/** Whether a value can be a key of that type. */
export function isKeyValue(value: Value | undefined, key: KeyAttribute, maxBytes: number): boolean {
  switch (key.type) {
    case 'S':
      return typeof value === 'string' && value.length > 0 && fits(value, maxBytes)
    case 'N':
      return typeof value === 'number' || value instanceof NumberValue
    case 'B':
      return value instanceof Uint8Array && value.length > 0 && value.length <= maxBytes
  }
}

function fits(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes
}

function requiredAttribute(item: Item, name: string): Value {
  const value = attribute(item, name)
  if (value === undefined) throw new TypeError(`Cannot build a key without the attribute "${name}"`)
  return value
}

function assertFits(value: Value, maxBytes: number): void {
  const fitting =
    typeof value === 'string'
      ? fits(value, maxBytes)
      : !(value instanceof Uint8Array) || value.length <= maxBytes
  if (!fitting) throw new TypeError(`Cannot use a key value of more than ${maxBytes} bytes`)
}

/** Writes the hash of the partition key's bytes up to `end`: FNV-1a, folded. */
function writeHash(target: FastBuffer, start: number, end: number): void {
  let hash = 0x811c9dc5
  for (let i = start + PARTITION_AT; i < end; i++) hash = Math.imul(hash ^ target[i]!, 0x01000193)
  hash ^= hash >>> 16
  target[start + 4] = hash >>> 8
  target[start + 5] = hash
}

/** Replaces the hash in an encoded key by that of the first bytes of the partition key. */
export function rewriteHash(key: FastBuffer, start: number, hashedBytes: number): void {
  const size = key[start + PARTITION_AT - 1]! || DIGEST_BYTES
  writeHash(key, start, start + PARTITION_AT + Math.min(size, hashedBytes))
}

/** Writes id, hash and partition key. */
export function writePartition(
  id: number,
  value: Value,
  type: KeyType,
  target: FastBuffer,
  start: number,
): number {
  writeId(id, target, start)
  const begin = start + PARTITION_AT
  let end: number
  if (typeof value === 'string' && value.length * 3 <= MAX_RAW_PARTITION_BYTES && type === 'S') {
    end = writeText(value, target, begin)
    target[begin - 1] = end - begin
  } else {
    assertFits(value, MAX_PARTITION_BYTES)
    const size = writeRaw(value, type, scratch, 0)
    if (size <= MAX_RAW_PARTITION_BYTES) {
      target[begin - 1] = size
      end = copyBytes(scratch, 0, size, target, begin)
    } else {
      target[begin - 1] = 0
      const digest = createHash('sha256').update(scratch.subarray(0, size)).digest()
      end = copyBytes(digest, 0, digest.length, target, begin)
    }
  }
  writeHash(target, start, Math.min(begin + HASHED_BYTES, end))
  return end
}

export function writeSort(value: Value, type: KeyType, target: FastBuffer, start: number): number {
  assertFits(value, MAX_SORT_BYTES)
  return writeRaw(value, type, target, start)
}

/** Escapes without the terminator, so that the result can also be the prefix of a range. */
export function writeEscapedSort(
  value: Value,
  type: KeyType,
  target: FastBuffer,
  start: number,
): number {
  assertFits(value, MAX_SORT_BYTES)
  const size = writeRaw(value, type, scratch, 0)
  for (let i = 0; i < size; i++) {
    const byte = scratch[i]!
    target[start++] = byte
    if (byte === 0) target[start++] = 0xff
  }
  return start
}

export function writeItemKey(
  id: number,
  keys: KeySchema,
  item: Item,
  target: FastBuffer,
  start: number,
): number {
  const { partition, sort } = keys
  const end = writePartition(
    id,
    requiredAttribute(item, partition.name),
    partition.type,
    target,
    start,
  )
  return sort === undefined
    ? end
    : writeSort(requiredAttribute(item, sort.name), sort.type, target, end)
}

/** Whether the item has an entry in an index with these keys. */
export function isIndexed(keys: KeySchema, item: Item): boolean {
  const { partition, sort } = keys
  return (
    isKeyValue(attribute(item, partition.name), partition, MAX_PARTITION_BYTES) &&
    (sort === undefined || isKeyValue(attribute(item, sort.name), sort, MAX_SORT_BYTES))
  )
}

/** Writes the part of an index entry that precedes the item key. */
export function writeIndexPrefix(
  id: number,
  keys: KeySchema,
  item: Item,
  target: FastBuffer,
  start: number,
): number {
  const { partition, sort } = keys
  let end = writePartition(
    id,
    requiredAttribute(item, partition.name),
    partition.type,
    target,
    start,
  )
  if (sort !== undefined) {
    end = writeEscapedSort(requiredAttribute(item, sort.name), sort.type, target, end)
    target[end++] = 0
    target[end++] = 0
  }
  return end
}

export const TTL_PREFIX_BYTES = 10
const MAX_EXPIRY = 2 ** 48 - 1

/** The epoch second at which an item expires; undefined if it is not a number, negative or too large. */
export function expiryOf(value: Value | undefined): number | undefined {
  if (typeof value !== 'number' || value < 0 || value > MAX_EXPIRY) return undefined
  return Math.floor(value)
}

export function writeTtlPrefix(
  id: number,
  seconds: number,
  target: FastBuffer,
  start: number,
): number {
  writeId(id, target, start)
  target.writeUIntBE(seconds, start + 4, 6)
  return start + TTL_PREFIX_BYTES
}

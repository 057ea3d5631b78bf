import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allocate } from '../../src/storage/lmdb/bytes.ts'
import { writeEntryKey } from '../../src/storage/indexes.ts'
import { writeItemKey, writePartition } from '../../src/storage/keys.ts'
import type { IndexRecord, KeySchema, KeyType } from '../../src/storage/storage.ts'
import type { Item, Value } from '../../src/values/types.ts'

/** The limit of LMDB with pages of 8 KB. */
const MAX_KEY_BYTES = 4026

const target = allocate(16384)

function schema(type: KeyType): KeySchema {
  return { partition: { name: 'p', type: 'S' }, sort: { name: 's', type } }
}

function itemKey(item: Item, type: KeyType): Buffer {
  return Buffer.from(target.subarray(0, writeItemKey(7, schema(type), item, target, 0)))
}

function entry(item: Item, type: KeyType): Buffer {
  const index: IndexRecord = {
    id: 9,
    name: 'i',
    kind: 'global',
    status: 'ACTIVE',
    projection: { type: 'ALL' },
    keys: schema(type),
  }
  const base = { partition: { name: 'p', type: 'S' } } as const
  const key = Buffer.from(target.subarray(0, writeItemKey(7, base, item, target, 0)))
  const place = { bytes: key, start: 0, end: key.length }
  return Buffer.from(target.subarray(0, writeEntryKey(index, item, place, target, 0).end))
}

const texts = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })
const bytes = fc.uint8Array({ minLength: 1, maxLength: 12, max: 3 })
const numbers = fc.oneof(
  fc.integer(),
  fc.integer({ min: -20, max: 20 }),
  fc
    .double({ noNaN: true, noDefaultInfinity: true, min: -1e120, max: 1e120 })
    .map((n) => (Math.abs(n) < 1e-120 ? 0 : n)),
)

/** A pair whose keys, in the table or in the index, lie in another order than the values. */
function misplaced<T extends Value>(
  values: fc.Arbitrary<T>,
  type: KeyType,
  order: (a: T, b: T) => number,
): unknown {
  const inOrder = fc.property(values, values, (a, b) => {
    const expected = Math.sign(order(a, b))
    const [first, second] = [
      { p: 'x', s: a },
      { p: 'x', s: b },
    ]
    return (
      Math.sign(Buffer.compare(itemKey(first, type), itemKey(second, type))) === expected &&
      Math.sign(Buffer.compare(entry(first, type), entry(second, type))) === expected
    )
  })
  return fc.check(inOrder, { numRuns: 500 }).counterexample
}

function partitionKey(value: string): Buffer {
  return Buffer.from(target.subarray(0, writePartition(1, value, 'S', target, 0)))
}

describe('the byte order of keys', () => {
  test('texts lie in the order of their UTF-8 bytes, in tables and in indexes', () => {
    expect(
      misplaced(texts, 'S', (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    ).toBeNull()
  })

  test('binaries lie in the order of their bytes, zeros and prefixes included', () => {
    expect(misplaced(bytes, 'B', (a, b) => Buffer.compare(a, b))).toBeNull()
  })

  test('numbers lie in the order of their values', () => {
    expect(misplaced(numbers, 'N', (a, b) => (a === b ? 0 : a - b))).toBeNull()
  })
})

describe('partitions', () => {
  test('two partition keys never share a prefix, short or hashed', () => {
    const lengths = [1, 2, 84, 85, 86, 254, 255, 256, 257, 2047, 2048]
    const keys = lengths.flatMap((length) => [
      partitionKey('a'.repeat(length)),
      partitionKey('b'.repeat(length)),
    ])
    const sharing = keys.filter((a) =>
      keys.some((b) => a !== b && b.subarray(0, a.length).equals(a)),
    )
    expect(sharing).toEqual([])
  })

  test('that begin with the same four bytes are neighbours, in the order of their bytes', () => {
    const names = [
      'EVT#0001',
      'EVT#0002',
      'EVT#0003',
      'DUE#0001',
      'DUE#0002',
      'SRC#0001',
      '0001-EVT',
    ]
    const sorted = names.toSorted((a, b) => Buffer.compare(partitionKey(a), partitionKey(b)))
    const at = (name: string) => sorted.indexOf(name)
    expect([at('EVT#0002') - at('EVT#0001'), at('EVT#0003') - at('EVT#0002')]).toEqual([1, 1])
    expect(at('DUE#0002') - at('DUE#0001')).toBe(1)
  })

  test('the longest keys that DynamoDB allows fit into an index entry', () => {
    const worst = { p: 'é'.repeat(1024), s: new Uint8Array(1024) }
    const index: IndexRecord = {
      id: 9,
      name: 'i',
      kind: 'global',
      status: 'ACTIVE',
      projection: { type: 'ALL' },
      keys: schema('B'),
    }
    const key = itemKey(worst, 'B')
    const { end } = writeEntryKey(
      index,
      worst,
      { bytes: key, start: 0, end: key.length },
      target,
      0,
    )
    expect(end).toBeLessThan(MAX_KEY_BYTES)
    const longest = { p: 'a'.repeat(255), s: new Uint8Array(1024) }
    const longestKey = itemKey(longest, 'B')
    const place = { bytes: longestKey, start: 0, end: longestKey.length }
    expect(writeEntryKey(index, longest, place, target, 0).end).toBe(3598)
  })

  test('a key value beyond the limits is refused and not cut', () => {
    expect(() => itemKey({ p: 'a'.repeat(2049), s: 'x' }, 'S')).toThrow('2048 bytes')
    expect(() => itemKey({ p: 'a', s: 'x'.repeat(1025) }, 'S')).toThrow('1024 bytes')
  })
})

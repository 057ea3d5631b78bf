/**
 * ExclusiveStartKey must be a key that a page of the request could end with. As in AWS, Query and Scan
 * have different messages for the same mistake.
 */
import { validationError } from '../errors.ts'
import type { KeyCondition } from '../expressions/key-condition.ts'
import { boundsOf } from '../storage/bounds.ts'
import { hasEntry } from '../storage/indexes.ts'
import type { IndexRecord, KeySchema, RangeQuery, TableRecord } from '../storage/storage.ts'
import {
  checkKeySchema,
  keyAttributes,
  keyOf,
  rejectEmptyIndexKeys,
  rejectEmptyKeys,
} from '../validation/keys.ts'
import { equal } from '../values/compare.ts'
import { compare } from '../values/order.ts'
import { attribute, type Item, typeOf, type Value } from '../values/types.ts'
import { pageKeyNames } from './page.ts'

const INVALID = 'The provided starting key is invalid'

export function checkScanStart(
  table: TableRecord,
  index: IndexRecord | undefined,
  startKey: Item,
  segment: RangeQuery['segment'],
): void {
  const names = pageKeyNames(table, index)
  const complete =
    Object.keys(startKey).length === names.length &&
    names.every((name) => attribute(startKey, name) !== undefined)
  if (!complete) {
    throw validationError(
      index ? INVALID : `${INVALID}: The provided key element does not match the schema`,
    )
  }
  if (index) checkIndexPart(table, index, startKey)
  checkTablePart(table, startKey)
  if (segment && !liesIn(table, index, startKey, segment)) {
    throw validationError(
      `${INVALID}: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: ${segment.total} Segment: ${segment.index}`,
    )
  }
}

function liesIn(
  table: TableRecord,
  index: IndexRecord | undefined,
  startKey: Item,
  segment: NonNullable<RangeQuery['segment']>,
): boolean {
  const part = boundsOf(table, index, { segment })
  const { low } = boundsOf(table, index, { startKey })
  return Buffer.compare(part.low, low) < 0 && Buffer.compare(low, part.high) <= 0
}

export function checkQueryStart(
  table: TableRecord,
  index: IndexRecord | undefined,
  startKey: Item,
  condition: KeyCondition,
): void {
  const names = pageKeyNames(table, index)
  const complete =
    Object.keys(startKey).length === names.length &&
    names.every((name) => attribute(startKey, name) !== undefined)
  if (!complete) throw validationError(INVALID)
  const keys = index?.keys ?? table.keys
  checkTypes(table.keys, startKey)
  if (index) checkIndexPart(table, index, startKey)
  checkTablePart(table, startKey)

  const partition = attribute(startKey, keys.partition.name)
  const sort = keys.sort && attribute(startKey, keys.sort.name)
  const samePartition = partition !== undefined && equal(partition, condition.partition)
  if (!condition.sort) {
    if (samePartition) return
    throw validationError(
      'The provided starting key is outside query boundaries based on provided conditions',
    )
  }
  if (sort === undefined || !satisfies(sort, condition.sort)) {
    throw validationError('The provided starting key does not match the range key predicate')
  }
  if (!samePartition) {
    throw validationError(
      'The provided starting key is outside query boundaries based on provided conditions',
    )
  }
}

function checkTypes(keys: KeySchema, startKey: Item): void {
  for (const { name, type } of keyAttributes(keys)) {
    const value = attribute(startKey, name)
    if (value === undefined || typeOf(value) !== type) throw validationError(INVALID)
  }
}

/** Storage decides what an entry of an index can have as its key. */
function checkIndexPart(table: TableRecord, index: IndexRecord, startKey: Item): void {
  if (hasEntry(index, startKey)) return
  checkTypes(index.keys, startKey)
  withPrefix(() => rejectEmptyIndexKeys({ ...table, indexes: [index] }, startKey))
  throw validationError(INVALID)
}

function checkTablePart(table: TableRecord, startKey: Item): void {
  const key = keyOf(table, startKey)
  rejectEmptyKeys(table, key)
  withPrefix(() => checkKeySchema(table, key))
}

function withPrefix(check: () => void): void {
  try {
    check()
  } catch (error) {
    throw validationError(`${INVALID}: ${(error as Error).message}`)
  }
}

function satisfies(value: Value, { op, values }: NonNullable<KeyCondition['sort']>): boolean {
  const [first, second] = values
  if (first === undefined || typeOf(first) !== typeOf(value)) return false
  switch (op) {
    case '=':
      return compare(value, first) === 0
    case '<':
      return compare(value, first) < 0
    case '<=':
      return compare(value, first) <= 0
    case '>':
      return compare(value, first) > 0
    case '>=':
      return compare(value, first) >= 0
    case 'BETWEEN':
      return compare(value, first) >= 0 && second !== undefined && compare(value, second) <= 0
    case 'begins_with':
      return startsWith(value, first)
  }
}

function startsWith(value: Value, prefix: Value): boolean {
  if (typeof value === 'string' && typeof prefix === 'string') return value.startsWith(prefix)
  return (
    value instanceof Uint8Array &&
    prefix instanceof Uint8Array &&
    Buffer.compare(value.subarray(0, prefix.length), prefix) === 0
  )
}

/**
 * Checks keys and items against the key schema of a table and its indexes, with AWS's messages.
 *
 * Empty key values have their own check: AWS rejects the whole request of a transaction for them, but
 * cancels the transaction with a reason per action for other mistakes.
 */
import { validationError } from '../errors.ts'
import type { IndexRecord, KeyAttribute, KeySchema, TableRecord } from '../storage/storage.ts'
import { attribute, type Item, typeOf, type Value } from '../values/types.ts'

const PARTITION_KEY_BYTES = 2048
const SORT_KEY_BYTES = 1024

export function keyAttributes(keys: KeySchema): KeyAttribute[] {
  return keys.sort ? [keys.partition, keys.sort] : [keys.partition]
}

/** The table key in an item, or in a key that also has index attributes. */
export function keyOf(table: TableRecord, item: Item): Item {
  const { partition, sort } = table.keys
  const key: Item = onlyAttribute(partition.name, item)
  return sort ? Object.assign(key, onlyAttribute(sort.name, item)) : key
}

/** Computed keys define own properties, even for the name `__proto__`. */
function onlyAttribute(name: string, item: Item): Item {
  return { [name]: attribute(item, name) as Value }
}

/** The Key of a request: exactly the key attributes, of the right types. */
export function checkKey(table: TableRecord, key: Item): void {
  rejectEmptyKeys(table, key)
  checkKeySchema(table, key)
}

export function checkKeySchema(table: TableRecord, key: Item): void {
  const { partition, sort } = table.keys
  const partitionValue = attribute(key, partition.name)
  const sortValue = sort && attribute(key, sort.name)
  if (
    Object.keys(key).length !== (sort ? 2 : 1) ||
    partitionValue === undefined ||
    typeOf(partitionValue) !== partition.type ||
    (sort && (sortValue === undefined || typeOf(sortValue) !== sort.type))
  ) {
    throw validationError('The provided key element does not match the schema')
  }
  checkKeySizes(partitionValue, sortValue)
}

/** A zero-length string or binary cannot be a key. */
export function rejectEmptyKeys(table: TableRecord, attributes: Item): void {
  refuseEmptyKey(attributes, table.keys.partition.name)
  if (table.keys.sort) refuseEmptyKey(attributes, table.keys.sort.name)
}

function refuseEmptyKey(attributes: Item, name: string): void {
  const value = attribute(attributes, name)
  if (value === '' || (value instanceof Uint8Array && value.length === 0)) {
    throw validationError(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${value === '' ? 'string' : 'binary'} value. Key: ${name}`,
    )
  }
}

/** Checks that an item has the table's keys, and that its index keys have the right types. */
export function checkItem(table: TableRecord, item: Item): void {
  rejectEmptyKeys(table, item)
  rejectEmptyIndexKeys(table, item)
  checkItemKeys(table, item)
  checkIndexKeys(table, item)
}

export function checkItemKeys(table: TableRecord, item: Item): void {
  const { partition, sort } = table.keys
  const partitionValue = requiredKey(partition, item)
  checkKeySizes(partitionValue, sort && requiredKey(sort, item))
}

function requiredKey({ name, type }: KeyAttribute, item: Item): Value {
  const value = attribute(item, name)
  if (value === undefined) throw invalid(`Missing the key ${name} in the item`)
  const actual = typeOf(value)
  if (actual !== type) {
    throw invalid(`Type mismatch for key ${name} expected: ${type} actual: ${actual}`)
  }
  return value
}

function checkKeySizes(partition: Value, sort: Value | undefined): void {
  if (byteLength(partition) > PARTITION_KEY_BYTES) {
    throw invalid(
      `Size of hashkey has exceeded the maximum size limit of${PARTITION_KEY_BYTES} bytes`,
    )
  }
  if (sort !== undefined && byteLength(sort) > SORT_KEY_BYTES) {
    throw invalid(
      `Aggregated size of all range keys has exceeded the size limit of ${SORT_KEY_BYTES} bytes`,
    )
  }
}

/** Numbers are never too long to be a key. */
function byteLength(value: Value): number {
  if (typeof value === 'string') {
    // A UTF-16 unit has at most three bytes, so short keys need not be measured.
    return value.length * 3 <= SORT_KEY_BYTES ? value.length : Buffer.byteLength(value)
  }
  return value instanceof Uint8Array ? value.length : 0
}

/** Indexes in the order in which AWS names them in errors. */
function byName(indexes: readonly IndexRecord[]): readonly IndexRecord[] {
  return indexes.length < 2
    ? indexes
    : indexes.toSorted((left, right) => (left.name < right.name ? -1 : 1))
}

export function rejectEmptyIndexKeys(table: TableRecord, item: Item): void {
  const found = emptyIndexKey(table, item)
  if (!found) return
  throw validationError(
    `One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty ${found.kind} value. IndexName: ${found.index}, IndexKey: ${found.name}`,
  )
}

/** The same for an update, for which AWS's message names neither index nor key. */
export function rejectEmptyUpdatedIndexKeys(table: TableRecord, item: Item): void {
  const found = emptyIndexKey(table, item)
  if (!found) return
  throw validationError(
    `One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty ${found.kind} value.`,
  )
}

function emptyIndexKey(table: TableRecord, item: Item) {
  for (const { name: index, keys } of byName(table.indexes)) {
    for (const { name } of keyAttributes(keys)) {
      const value = attribute(item, name)
      if (value === '') return { index, name, kind: 'string' }
      if (value instanceof Uint8Array && value.length === 0) return { index, name, kind: 'binary' }
    }
  }
  return undefined
}

export function checkIndexKeys(table: TableRecord, item: Item): void {
  for (const index of byName(table.indexes)) {
    for (const { name, type } of keyAttributes(index.keys)) {
      const value = attribute(item, name)
      if (value === undefined) continue
      const actual = typeOf(value)
      if (actual !== type) {
        throw invalid(
          `Type mismatch for Index Key ${name} Expected: ${type} Actual: ${actual} IndexName: ${index.name}`,
        )
      }
      const limit = name === index.keys.partition.name ? PARTITION_KEY_BYTES : SORT_KEY_BYTES
      if (byteLength(value) > limit) {
        throw invalid(
          `Size of ${limit === PARTITION_KEY_BYTES ? 'hashkey' : 'rangekey'} has exceeded the maximum size limit of ${limit} bytes IndexName: ${index.name}`,
        )
      }
    }
  }
}

function invalid(reason: string): Error {
  return validationError(`One or more parameter values were invalid: ${reason}`)
}

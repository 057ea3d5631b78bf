/** A text that identifies an item of a table, to find duplicates in a request. */
import type { TableRecord } from '../storage/storage.ts'
import { numberText } from '../values/numbers.ts'
import { attribute, type Item, NumberValue, type Value } from '../values/types.ts'

/** The key must be valid; other attributes of `item` are ignored. */
export function keyIdentity(table: TableRecord, item: Item): string {
  const { partition, sort } = table.keys
  const first = text(attribute(item, partition.name))
  const second = sort ? text(attribute(item, sort.name)) : ''
  return `${table.id}:${first.length}:${first}:${second}`
}

function text(value: Value | undefined): string {
  if (typeof value === 'string') return SURROGATE.test(value) ? asStored(value) : value
  if (typeof value === 'number' || value instanceof NumberValue) return numberText(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : ''
}

const SURROGATE = /[\uD800-\uDFFF]/

/** UTF-8 has no lone surrogates: all of them are stored as the same replacement character. */
function asStored(value: string): string {
  return Buffer.from(value).toString()
}

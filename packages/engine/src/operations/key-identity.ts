/** One text per item of a table, to find the same item twice in one request. */
import type { TableRecord } from '../storage/storage.ts'
import { numberText } from '../values/numbers.ts'
import { attribute, type Item, NumberValue, type Value } from '../values/types.ts'

/** The key must have been checked; other attributes of `item` do not count. */
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

/** UTF-8 has no half of a surrogate pair: all halves are stored as the same character. */
function asStored(value: string): string {
  return Buffer.from(value).toString()
}

/**
 * What an index shows of an item: its projection. Storage keeps only keys in an index and hands out
 * whole items, so projection, its size and its cost are worked out here.
 */
import type { IndexRecord, KeyType, TableRecord } from '../storage/storage.ts'
import { attribute, type Item, setAttribute, typeOf } from '../values/types.ts'
import { keyAttributes } from '../validation/keys.ts'

/** The attributes an index can show, or undefined if that is all of them. */
export function projectedNames(
  table: TableRecord,
  index: IndexRecord | undefined,
): readonly string[] | undefined {
  if (!index || index.projection.type === 'ALL') return undefined
  const names = new Set<string>()
  for (const { name } of keyAttributes(table.keys)) names.add(name)
  for (const { name } of keyAttributes(index.keys)) names.add(name)
  if (index.projection.type === 'INCLUDE') {
    for (const name of index.projection.attributes ?? []) names.add(name)
  }
  return [...names]
}

export function pick(names: readonly string[] | undefined, item: Item): Item {
  if (!names) return item
  const view: Item = {}
  for (const name of names) {
    const value = attribute(item, name)
    if (value !== undefined) setAttribute(view, name, value)
  }
  return view
}

/** Whether an item has an entry in an index: all its key attributes, of the right types. */
export function isIndexed(index: IndexRecord, item: Item): boolean {
  const { partition, sort } = index.keys
  return has(item, partition.name, partition.type) && (!sort || has(item, sort.name, sort.type))
}

function has(item: Item, name: string, type: KeyType): boolean {
  const value = attribute(item, name)
  return value !== undefined && typeOf(value) === type
}

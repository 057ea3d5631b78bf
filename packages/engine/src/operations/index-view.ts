/**
 * The projection of an index. Storage keeps only keys in an index and returns whole items, so the
 * projected attributes are selected here.
 */
import type { IndexRecord, TableRecord } from '../storage/storage.ts'
import { attribute, type Item, setAttribute } from '../values/types.ts'
import { keyAttributes } from '../validation/keys.ts'

/** The attributes that an index projects; undefined if it projects all. */
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

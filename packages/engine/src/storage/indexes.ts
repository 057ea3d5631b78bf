// The entries of an item in the indexes and the TTL list of its table. An entry consists of the index
// key followed by the item key. Items without a key attribute of the right type have no entry.

import { attributeSize } from '../values/size.ts'
import { attribute, NumberValue, type Item, type Value } from '../values/types.ts'
import { copyBytes, type FastBuffer } from './lmdb/bytes.ts'
import type { EntryOwner } from './catalog.ts'
import { expiryOf, isIndexed, writeIndexPrefix, writeTtlPrefix } from './keys.ts'
import type { IndexRecord, KeySchema, TableRecord } from './storage.ts'

export function hasEntry(owner: EntryOwner, item: Item): boolean {
  return 'keys' in owner
    ? isIndexed(owner.keys, item)
    : expiryOf(attribute(item, owner.attribute)) !== undefined
}

/** Writes the part of the item's entry that precedes the item key; the item must have an entry. */
export function writeEntryPrefix(
  owner: EntryOwner,
  item: Item,
  target: FastBuffer,
  start: number,
): number {
  return 'keys' in owner
    ? writeIndexPrefix(owner.id, owner.keys, item, target, start)
    : writeTtlPrefix(owner.id, expiryOf(attribute(item, owner.attribute))!, target, start)
}

/** Writes a whole entry key; returns its end and the offset of the item key in it. */
export function writeEntryKey(
  owner: EntryOwner,
  item: Item,
  itemKey: { bytes: Uint8Array; start: number; end: number },
  target: FastBuffer,
  start: number,
): { end: number; offset: number } {
  const prefixEnd = writeEntryPrefix(owner, item, target, start)
  const end = copyBytes(itemKey.bytes, itemKey.start, itemKey.end, target, prefixEnd)
  return { end, offset: prefixEnd - start }
}

/** Whether two versions of an item have the same entry; both must have one. */
export function sameEntry(owner: EntryOwner, a: Item, b: Item): boolean {
  if ('keys' in owner) return sameKeys(owner.keys, a, b)
  return expiryOf(attribute(a, owner.attribute)) === expiryOf(attribute(b, owner.attribute))
}

function sameKeys(keys: KeySchema, a: Item, b: Item): boolean {
  return (
    sameValue(a[keys.partition.name], b[keys.partition.name]) &&
    (keys.sort === undefined || sameValue(a[keys.sort.name], b[keys.sort.name]))
  )
}

function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  return a instanceof NumberValue && b instanceof NumberValue && a.value === b.value
}

/** By index, because its projection and the keys of its table never change. */
const projections = new WeakMap<IndexRecord, readonly string[]>()

/** The attributes that an index projects; undefined if it projects all. */
export function projectedNames(
  { keys }: TableRecord,
  index: IndexRecord | undefined,
): readonly string[] | undefined {
  if (!index || index.projection.type === 'ALL') return undefined
  const known = projections.get(index)
  if (known) return known
  const names = new Set([keys.partition.name])
  if (keys.sort) names.add(keys.sort.name)
  names.add(index.keys.partition.name)
  if (index.keys.sort) names.add(index.keys.sort.name)
  if (index.projection.type === 'INCLUDE') {
    for (const name of index.projection.attributes ?? []) names.add(name)
  }
  const projected = [...names]
  projections.set(index, projected)
  return projected
}

/** The size of what an index projects of an item. */
export function projectedSize(
  table: TableRecord,
  index: IndexRecord,
  item: Item,
  itemSize: number,
): number {
  const names = projectedNames(table, index)
  if (!names) return itemSize
  let size = 0
  for (const name of names) size += attributeSize(item, name)
  return size
}

/** By table, because a changed table has a new record. */
const entryNames = new WeakMap<TableRecord, ReadonlySet<string>>()

/** The attributes that a write needs of the old item: its keys, and what its entries depend on. */
export function namesForEntries(table: TableRecord): ReadonlySet<string> {
  const known = entryNames.get(table)
  if (known) return known
  const names = new Set<string>()
  for (const { keys } of [table, ...table.indexes]) {
    names.add(keys.partition.name)
    if (keys.sort) names.add(keys.sort.name)
  }
  for (const index of table.indexes) {
    for (const name of projectedNames(table, index) ?? []) names.add(name)
  }
  if (table.ttl) names.add(table.ttl.attribute)
  entryNames.set(table, names)
  return names
}

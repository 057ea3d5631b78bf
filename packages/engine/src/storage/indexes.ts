// The entries of an item in the indexes and the TTL list of its table. An entry consists of the index
// key followed by the item key. Items without a key attribute of the right type have no entry.

import { attribute, NumberValue, type Item, type Value } from '../values/types.ts'
import { copyBytes, type FastBuffer } from './lmdb/bytes.ts'
import type { EntryOwner } from './catalog.ts'
import { expiryOf, isIndexed, writeIndexPrefix, writeTtlPrefix } from './keys.ts'
import type { KeySchema } from './storage.ts'

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

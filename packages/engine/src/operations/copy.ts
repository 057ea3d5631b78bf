/**
 * Copies of a caller's values. A write happens in a later turn of the event loop, and the caller may
 * change its objects until then; what was checked must be what is stored.
 */
import { type Item, isMap, setAttribute, type SetValue, type Value } from '../values/types.ts'

/** Depth is bounded because the values have been checked. */
export function copiedItem(item: Item): Item {
  const copy: Item = {}
  for (const name of Object.keys(item)) setAttribute(copy, name, copiedValue(item[name] as Value))
  return copy
}

export function copiedValue(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copiedValue)
  if (value instanceof Uint8Array) return value.slice()
  if (value instanceof Set) return copiedSet(value)
  return isMap(value) ? copiedItem(value) : value
}

function copiedSet(set: SetValue): SetValue {
  const members: unknown[] = []
  for (const member of set) members.push(member instanceof Uint8Array ? member.slice() : member)
  return new Set(members) as SetValue
}

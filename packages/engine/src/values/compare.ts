/**
 * DynamoDB's equality: types are never converted, and the order of sets and maps does not matter. Values
 * have at most 32 levels, so recursion is safe.
 */
import { equalSets } from './sets.ts'
import { isMap, NumberValue, typeOf, type Value } from './types.ts'

export function equal(a: Value, b: Value): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof NumberValue) return b instanceof NumberValue && a.value === b.value
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b)
  if (a instanceof Set) {
    return b instanceof Set && typeOf(a) === typeOf(b) && equalSets(a, b)
  }
  return isMap(b) && equalMaps(a, b)
}

function equalLists(a: Value[], b: Value[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) {
    if (!equal(a[index] as Value, b[index] as Value)) return false
  }
  return true
}

function equalMaps(a: { [name: string]: Value }, b: { [name: string]: Value }): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  for (const name of names) {
    if (!Object.hasOwn(b, name) || !equal(a[name] as Value, b[name] as Value)) return false
  }
  return true
}

/**
 * DynamoDB's equality and order: types are never converted, sets and maps have no order, strings sort by
 * their UTF-8 bytes. Values have at most 32 levels, so recursion is safe.
 */
import { compareNumbers } from './numbers.ts'
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

/** Negative, zero or positive; both values must be S, N or B and of the same type. */
export function compare(a: Value, b: Value): number {
  if (typeof a === 'string') return compareStrings(a, b as string)
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array)
  return compareNumbers(a as number | NumberValue, b as number | NumberValue)
}

/** Compares by UTF-8 bytes, which is the order of code points and not of UTF-16 units. */
function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left !== right) return codePointRank(left) - codePointRank(right)
  }
  return a.length - b.length
}

/** Surrogates encode code points above those of all single units. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

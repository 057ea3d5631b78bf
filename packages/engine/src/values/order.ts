/** DynamoDB's order: numbers by value, strings and binaries by their bytes. */
import { compareNumbers } from './numbers.ts'
import type { NumberValue, Value } from './types.ts'

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

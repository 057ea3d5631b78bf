/**
 * How many bytes DynamoDB counts for a value: names and strings in UTF-8, a byte for two digits of
 * a number, three bytes for a list or a map and one for each of its entries. Amazon documents the
 * size of a number as approximate; that digits are paired from the decimal point was measured.
 */
import { numberText } from './numbers.ts'
import type { Member } from './sets.ts'
import { NumberValue, type Item, type Value } from './types.ts'

/** 400 KB, names included. */
export const MAX_ITEM_BYTES = 400 * 1024

const CONTAINER_BYTES = 3
const ENTRY_BYTES = 1
/** 38 digits in pairs from the decimal point, the exponent and the sign. */
const NUMBER_BYTES = 22

const ZERO = 48
const NINE = 57
const MINUS = 45

/** Whether an item has at most this many bytes; most items are decided without a full count. */
export function isWithin(item: Item, bytes: number): boolean {
  return sizeBound(item) <= bytes || itemSize(item) <= bytes
}

/** Not less than the size: a UTF-16 unit is three bytes at most. */
function sizeBound(value: Value): number {
  if (typeof value === 'string') return 3 * value.length
  if (typeof value !== 'object' || value === null) return NUMBER_BYTES
  if (value instanceof Uint8Array) return value.byteLength
  if (value instanceof NumberValue) return NUMBER_BYTES
  if (value instanceof Set || Array.isArray(value)) return CONTAINER_BYTES + valueSize(value)
  let size = CONTAINER_BYTES
  for (const name of Object.keys(value)) {
    size += ENTRY_BYTES + 3 * name.length + sizeBound(value[name] as Value)
  }
  return size
}

export function itemSize(item: Item): number {
  let size = 0
  for (const name of Object.keys(item)) {
    size += utf8Length(name) + valueSize(item[name] as Value)
  }
  return size
}

export function valueSize(value: Value): number {
  if (typeof value === 'string') return utf8Length(value)
  if (typeof value === 'number') return numberSize(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Uint8Array) return value.byteLength
  if (value instanceof NumberValue) return numberSize(value)
  if (value instanceof Set) {
    let size = 0
    for (const member of value as Set<Member>) size += valueSize(member)
    return size
  }
  let size = CONTAINER_BYTES
  if (Array.isArray(value)) {
    for (const element of value) size += ENTRY_BYTES + valueSize(element)
    return size
  }
  for (const name of Object.keys(value)) {
    size += ENTRY_BYTES + utf8Length(name) + valueSize(value[name] as Value)
  }
  return size
}

function numberSize(number: number | NumberValue): number {
  if (number === 0) return 1
  if (typeof number === 'number' && Number.isSafeInteger(number)) return integerSize(number)
  return numberTextSize(numberText(number))
}

/** Of a number as plain digits; only the places from the first to the last that is not 0 count. */
export function numberTextSize(text: string): number {
  const point = text.indexOf('.')
  const units = point < 0 ? text.length - 1 : point - 1
  let first = Number.NaN
  let last = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= ZERO || code > NINE) continue
    // The power of ten: behind the point the places go on from -1.
    last = at <= units ? units - at : units + 1 - at
    if (Number.isNaN(first)) first = last
  }
  if (Number.isNaN(first)) return 1
  return 2 + Math.floor(first / 2) - Math.floor(last / 2) + (text.charCodeAt(0) === MINUS ? 1 : 0)
}

function integerSize(integer: number): number {
  let rest = Math.abs(integer)
  while (rest % 100 === 0) rest /= 100
  let pairs = 0
  for (; rest >= 1; rest /= 100) pairs++
  return 1 + pairs + (integer < 0 ? 1 : 0)
}

const SHORT = 64

/** Short text, such as most names, is counted here faster than a call into Node takes. */
function utf8Length(text: string): number {
  if (text.length > SHORT) return Buffer.byteLength(text)
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 127) return Buffer.byteLength(text)
  }
  return text.length
}

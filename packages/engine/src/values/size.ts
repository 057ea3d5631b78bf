/**
 * The size of values as DynamoDB counts it: names and strings in UTF-8, one byte per two digits of a
 * number, three bytes for a list or map and one for each of its entries. Amazon documents the size of a
 * number as approximate; measurements show that digits are paired from the decimal point.
 */
import { numberText } from './numbers.ts'
import type { Member } from './sets.ts'
import { attribute, NumberValue, type Item, type Value } from './types.ts'

/** Includes attribute names. */
export const MAX_ITEM_BYTES = 400 * 1024

export const CONTAINER_BYTES = 3
export const ENTRY_BYTES = 1
/** 38 digits in pairs from the decimal point, the exponent and the sign. */
const NUMBER_BYTES = 22

const ZERO = 48
const NINE = 57
const MINUS = 45

/** Whether an item has at most this many bytes; an estimate is enough for most items. */
export function isWithin(item: Item, bytes: number): boolean {
  return sizeBound(item) <= bytes || itemSize(item) <= bytes
}

/** An upper bound of the size: a UTF-16 unit has at most three bytes. */
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

/** The size of an attribute with its name; zero if the item does not have it. */
export function attributeSize(item: Item, name: string): number {
  const value = attribute(item, name)
  return value === undefined ? 0 : utf8Length(name) + valueSize(value)
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

export function numberSize(number: number | NumberValue): number {
  if (number === 0) return 1
  if (typeof number === 'number' && Number.isSafeInteger(number)) return integerSize(number)
  return numberTextSize(numberText(number))
}

/** The size of a number given as plain digits; leading and trailing zeros do not count. */
export function numberTextSize(text: string): number {
  const point = text.indexOf('.')
  const units = point < 0 ? text.length - 1 : point - 1
  let first = Number.NaN
  let last = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= ZERO || code > NINE) continue
    // The power of ten; digits after the decimal point start with -1.
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

/** For short texts, such as most names, this loop is faster than a call into Node. */
function utf8Length(text: string): number {
  if (text.length > SHORT) return Buffer.byteLength(text)
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 127) return Buffer.byteLength(text)
  }
  return text.length
}

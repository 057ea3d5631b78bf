/**
 * DynamoDB's numbers: parsing, exact addition, order, and keys that sort like the numbers.
 *
 * Every function has a fast path for safe integers, because nearly all numbers are.
 */
import { validationError } from '../errors.ts'
import {
  type Decimal,
  decimalFromText,
  decimalOf,
  normalised,
  plainText,
  storable,
} from './decimal.ts'
import type { NumberValue } from './types.ts'

const SHORT_INTEGER = /^(?:0|-?[1-9]\d{0,14})$/

/** Parses a number into canonical form. */
export function parseNumber(text: string): number | NumberValue {
  if (SHORT_INTEGER.test(text)) return Number(text)
  const decimal = decimalFromText(text)
  if (!decimal) {
    throw validationError(
      text === ''
        ? 'The parameter cannot be converted to a numeric value'
        : `The parameter cannot be converted to a numeric value: ${text}`,
    )
  }
  return storable(decimal)
}

/** A JavaScript number in canonical form; it must be finite. */
export function canonicalNumber(number: number): number {
  if (number === 0) return 0
  const magnitude = Math.abs(number)
  // Numbers in this range have at most 17 digits; `storable` rejects invalid ones.
  if (magnitude < 1e-130 || magnitude >= 1e126) storable(decimalOf(number))
  return number
}

export function addNumbers(a: number | NumberValue, b: number | NumberValue): number | NumberValue {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) {
    const sum = (a as number) + (b as number)
    if (Number.isSafeInteger(sum)) return sum
  }
  return storable(sumOf(decimalOf(a), decimalOf(b)))
}

export function subtractNumbers(
  a: number | NumberValue,
  b: number | NumberValue,
): number | NumberValue {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) {
    const difference = (a as number) - (b as number)
    if (Number.isSafeInteger(difference)) return difference
  }
  const subtrahend = decimalOf(b)
  return storable(sumOf(decimalOf(a), { ...subtrahend, negative: !subtrahend.negative }))
}

function sumOf(a: Decimal, b: Decimal): Decimal {
  if (a.digits === '') return b
  if (b.digits === '') return a
  const scale = Math.min(lastPlace(a), lastPlace(b))
  const total = scaled(a, scale) + scaled(b, scale)
  const digits = (total < 0n ? -total : total).toString()
  return normalised(total < 0n, digits, scale + digits.length - 1)
}

/** The power of ten of the last digit. */
function lastPlace(decimal: Decimal): number {
  return decimal.exponent - decimal.digits.length + 1
}

function scaled(decimal: Decimal, scale: number): bigint {
  const magnitude = BigInt(decimal.digits) * 10n ** BigInt(lastPlace(decimal) - scale)
  return decimal.negative ? -magnitude : magnitude
}

export function compareNumbers(a: number | NumberValue, b: number | NumberValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0
  return compareDecimals(decimalOf(a), decimalOf(b))
}

function compareDecimals(a: Decimal, b: Decimal): number {
  const sign = signOf(a)
  if (sign !== signOf(b)) return sign < signOf(b) ? -1 : 1
  if (a.exponent !== b.exponent) return a.exponent < b.exponent ? -sign : sign
  if (a.digits === b.digits) return 0
  return a.digits < b.digits ? -sign : sign
}

function signOf(decimal: Decimal): number {
  return decimal.digits === '' ? 0 : decimal.negative ? -1 : 1
}

/** The number as DynamoDB returns it: plain digits, never an exponent. */
export function numberText(number: number | NumberValue): string {
  if (typeof number !== 'number') return number.value
  const text = String(number)
  return text.includes('e') ? plainText(decimalOf(number)) : text
}

const NEGATIVE = 1
const ZERO_KEY = Uint8Array.of(2)
const POSITIVE = 3
const EXPONENT_BIAS = 130
// Higher than any byte of digits, because of two negative numbers the one with more digits is smaller.
const END_OF_NEGATIVE = 102

/**
 * Bytes whose order is the order of the numbers.
 *
 * One byte for the sign, one for the exponent, then two digits per byte; all but the sign are inverted
 * for negative numbers. Equal numbers have equal bytes, at most 22.
 */
export function orderedNumberBytes(number: number | NumberValue): Uint8Array {
  const { negative, digits, exponent } = decimalOf(number)
  if (digits === '') return ZERO_KEY.slice()
  const pairs = (digits.length + 1) >> 1
  const bytes = new Uint8Array(2 + pairs + (negative ? 1 : 0))
  bytes[0] = negative ? NEGATIVE : POSITIVE
  const biased = exponent + EXPONENT_BIAS
  bytes[1] = negative ? 255 - biased : biased
  for (let pair = 0; pair < pairs; pair++) {
    const tens = digits.charCodeAt(2 * pair) - 48
    const ones = 2 * pair + 1 < digits.length ? digits.charCodeAt(2 * pair + 1) - 48 : 0
    const value = 10 * tens + ones
    bytes[2 + pair] = negative ? 100 - value : value + 1
  }
  if (negative) bytes[2 + pairs] = END_OF_NEGATIVE
  return bytes
}

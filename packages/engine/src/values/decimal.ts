/**
 * Exact decimals: converts numbers to sign, digits and exponent, and back to canonical form. DynamoDB
 * stores 38 significant digits and magnitudes from 1e-130 to 9.99…e125; numbers outside that range are
 * rejected in AWS's order.
 */
import { validationError } from '../errors.ts'
import { NumberValue } from './types.ts'

/** ±d.ddd × 10^exponent. `digits` has no leading or trailing zero; zero has no digits at all. */
export interface Decimal {
  readonly negative: boolean
  readonly digits: string
  readonly exponent: number
}

const MAX_EXPONENT = 125
const MIN_EXPONENT = -130
const MAX_DIGITS = 38
const ZERO: Decimal = { negative: false, digits: '', exponent: 0 }

// No two parts match the same characters, so a long text fails in linear time.
const DECIMAL_TEXT = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d{1,10}))?$/

/** Parses a decimal text; undefined if it is not a number. */
export function decimalFromText(text: string): Decimal | undefined {
  const match = DECIMAL_TEXT.exec(text)
  if (!match) return undefined
  const whole = match[2] ?? ''
  const digits = whole + (match[3] ?? match[4] ?? '')
  return normalised(match[1] === '-', digits, whole.length - 1 + Number(match[5] ?? 0))
}

export function decimalOf(number: number | NumberValue): Decimal {
  if (typeof number !== 'number') return decimalFromText(number.value) ?? ZERO
  if (number === 0) return ZERO
  // Without an argument, toExponential prints the fewest digits that identify the number.
  const text = Math.abs(number).toExponential()
  const split = text.indexOf('e')
  const digits = split === 1 ? text.slice(0, 1) : text.charAt(0) + text.slice(2, split)
  return { negative: number < 0, digits, exponent: Number(text.slice(split + 1)) }
}

/** `exponent` is that of the first digit, which may be a zero. */
export function normalised(negative: boolean, digits: string, exponent: number): Decimal {
  let start = 0
  let end = digits.length
  while (start < end && digits.charCodeAt(start) === 48) start++
  while (end > start && digits.charCodeAt(end - 1) === 48) end--
  if (start === end) return ZERO
  return { negative, digits: digits.slice(start, end), exponent: exponent - start }
}

/** The canonical value of a decimal; throws AWS's error if DynamoDB cannot store it. */
export function storable(decimal: Decimal): number | NumberValue {
  const { negative, digits, exponent } = decimal
  if (digits === '') return 0
  if (exponent > MAX_EXPONENT) {
    throw validationError(
      'Number overflow. Attempting to store a number with magnitude larger than supported range',
    )
  }
  if (exponent < MIN_EXPONENT) {
    throw validationError(
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    )
  }
  if (digits.length > MAX_DIGITS) {
    throw validationError('Attempting to store more than 38 significant digits in a Number')
  }
  // A double holds any 15 digits, some numbers with 16 or 17, and never prints more than 17.
  if (digits.length <= 17) {
    const number = Number(`${negative ? '-' : ''}${digits}e${exponent - digits.length + 1}`)
    if (digits.length <= 15 || decimalOf(number).digits === digits) return number
  }
  return new NumberValue(plainText(decimal))
}

/** Digits without an exponent, as DynamoDB writes all numbers. */
export function plainText({ negative, digits, exponent }: Decimal): string {
  if (digits === '') return '0'
  const sign = negative ? '-' : ''
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  if (digits.length <= exponent + 1) return sign + digits.padEnd(exponent + 1, '0')
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`
}

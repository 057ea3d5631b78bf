/**
 * A number that a JavaScript number cannot represent exactly, as decimal text.
 *
 * Stores return one only where a plain number would lose digits. When written, any object of a class
 * (a plain object is a map) with a string `value` counts as one.
 */
export class NumberValue {
  readonly value: string

  constructor(value: string) {
    this.value = value
  }

  toString(): string {
    return this.value
  }
}

/** Parses decimal text: a plain number if that is exact, else a NumberValue. */
export function numberFromText(text: string): number | NumberValue {
  const number = Number(text)
  if (Number.isSafeInteger(number) && String(number) === text) return number
  return Number.isFinite(number) && isSameDecimal(text, String(number))
    ? number
    : new NumberValue(text)
}

/** Whether two decimal texts are the same number, in whatever notation. */
function isSameDecimal(left: string, right: string): boolean {
  return normalizeDecimal(left) === normalizeDecimal(right)
}

/** One text for each number: stores return the same number in different notations. */
export function normalizeDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const scale = Number(exponent) - fraction.length + (digits.length - significant.length)
  return `${sign === '-' ? '-' : ''}${significant}e${scale}`
}

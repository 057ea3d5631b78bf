/**
 * A number that JavaScript cannot hold exactly, kept as its decimal text.
 *
 * Stores hand one out only where a plain number would lose digits. Any object of a class (that is,
 * not a plain object, which is a map) with a string `value` counts as one when it is written.
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

/** The number a decimal text names: a plain number if that is exact, else a NumberValue. */
export function numberFromText(text: string): number | NumberValue {
  const number = Number(text)
  if (Number.isSafeInteger(number) && String(number) === text) return number
  return Number.isFinite(number) && sameDecimal(text, String(number))
    ? number
    : new NumberValue(text)
}

/** Whether two decimal texts name the same number, whatever their notation. */
function sameDecimal(left: string, right: string): boolean {
  return normalised(left) === normalised(right)
}

function normalised(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const scale = Number(exponent) - fraction.length + (digits.length - significant.length)
  return `${sign === '-' ? '-' : ''}${significant}e${scale}`
}

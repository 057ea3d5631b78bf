import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addNumbers,
  compareNumbers,
  numberText,
  orderedNumberBytes,
  parseNumber,
  subtractNumbers,
} from '../../src/values/numbers.ts'
import { NumberValue } from '../../src/values/types.ts'

/** An exact decimal to check against: digits × 10^scale. */
interface Exact {
  digits: bigint
  scale: number
}

const storable = fc
  .record({
    negative: fc.boolean(),
    digits: fc.bigInt({ min: 1n, max: 10n ** 38n - 1n }),
    length: fc.integer({ min: 1, max: 38 }),
    exponent: fc.integer({ min: -130, max: 125 }),
  })
  .map(({ negative, digits, length, exponent }) => {
    const text = digits.toString().slice(0, length)
    return `${negative ? '-' : ''}${text}e${exponent - text.length + 1}`
  })

const everyday = fc.oneof(
  fc.integer().map(String),
  fc.tuple(fc.integer(), fc.nat(999_999)).map(([whole, part]) => `${whole}.${part}`),
)
const anyNumber = fc.oneof(storable, everyday, fc.constant('0'))

function exact(text: string): Exact {
  const [mantissa = '', exponent = '0'] = text.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), scale: Number(exponent) - fraction.length }
}

function aligned(a: Exact, b: Exact): [bigint, bigint, number] {
  const scale = Math.min(a.scale, b.scale)
  const lift = (n: Exact) => n.digits * 10n ** BigInt(n.scale - scale)
  return [lift(a), lift(b), scale]
}

function sign(n: bigint | number): number {
  return n < 0 ? -1 : n > 0 ? 1 : 0
}

describe('reading a number', () => {
  test.each([
    ['1.0', 1],
    ['1e2', 100],
    ['-0', 0],
    ['0.00', 0],
    ['+5', 5],
    ['.5', 0.5],
    ['5.', 5],
    ['000123', 123],
    ['0.1', 0.1],
    ['9007199254740991', 9007199254740991],
    ['1e125', 1e125],
    ['1e-130', 1e-130],
  ])('%s is the JavaScript number %d', (text, number) => {
    expect(parseNumber(text)).toBe(number)
  })

  test('a number that JavaScript cannot hold keeps all its digits', () => {
    const text = '12345678901234567890.123456789012345678'
    expect(parseNumber(text)).toEqual(new NumberValue(text))
    expect(parseNumber('9007199254740993')).toEqual(new NumberValue('9007199254740993'))
    expect(parseNumber('0.30000000000000004')).toBe(0.30000000000000004)
  })

  test.each([
    ['', 'The parameter cannot be converted to a numeric value'],
    ['b', 'The parameter cannot be converted to a numeric value: b'],
    [' 1', 'The parameter cannot be converted to a numeric value:  1'],
    ['0x1', 'The parameter cannot be converted to a numeric value: 0x1'],
    ['1e', 'The parameter cannot be converted to a numeric value: 1e'],
    ['.', 'The parameter cannot be converted to a numeric value: .'],
    ['NaN', 'The parameter cannot be converted to a numeric value: NaN'],
    ['Infinity', 'The parameter cannot be converted to a numeric value: Infinity'],
    [
      '1e126',
      'Number overflow. Attempting to store a number with magnitude larger than supported range',
    ],
    [
      '-1e126',
      'Number overflow. Attempting to store a number with magnitude larger than supported range',
    ],
    [
      '1e-131',
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    ],
    ['1'.repeat(39), 'Attempting to store more than 38 significant digits in a Number'],
    [`0.${'1'.repeat(39)}`, 'Attempting to store more than 38 significant digits in a Number'],
  ])('refuses %j', (text, message) => {
    expect(() => parseNumber(text)).toThrow(
      expect.objectContaining({ name: 'ValidationException', message }),
    )
  })

  test('zeros that carry no meaning do not count as digits', () => {
    expect(numberText(parseNumber(`1${'0'.repeat(60)}`))).toBe(`1${'0'.repeat(60)}`)
    expect(parseNumber(`${'0'.repeat(100)}7`)).toBe(7)
  })

  test('the written form is plain digits, as DynamoDB returns them', () => {
    expect(numberText(parseNumber('1.5e21'))).toBe('1500000000000000000000')
    expect(numberText(parseNumber('-1.5e-10'))).toBe('-0.00000000015')
    expect(numberText(1e21)).toBe('1000000000000000000000')
    expect(numberText(1e-7)).toBe('0.0000001')
  })

  test('writing and reading again gives the same canonical number', () => {
    fc.assert(
      fc.property(anyNumber, (text) => {
        const number = parseNumber(text)
        expect(parseNumber(numberText(number))).toEqual(number)
        const [a, b] = aligned(exact(text), exact(numberText(number)))
        expect(a).toBe(b)
      }),
    )
  })

  test('every double within range keeps its shortest text', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e125, max: 1e125, noNaN: true }), (double) => {
        fc.pre(double === 0 || Math.abs(double) >= 1e-130)
        expect(parseNumber(String(double))).toBe(double === 0 ? 0 : double)
      }),
    )
  })

  test('text of any length is read in one pass', () => {
    expect(() => parseNumber(`${'1'.repeat(300_000)}x`)).toThrow('cannot be converted')
    expect(() => parseNumber('1'.repeat(300_000))).toThrow('Number overflow')
    expect(() => parseNumber(`${'0'.repeat(300_000)}.${'0'.repeat(300_000)}e`)).toThrow(
      'cannot be converted',
    )
  })
})

describe('arithmetic', () => {
  test('is decimal: a tenth and two tenths are three tenths', () => {
    expect(addNumbers(0.1, 0.2)).toBe(0.3)
    expect(subtractNumbers(0.3, 0.1)).toBe(0.2)
  })

  test('leaves the range of safe integers without losing a digit', () => {
    expect(addNumbers(9007199254740991, 2)).toEqual(new NumberValue('9007199254740993'))
    expect(subtractNumbers(new NumberValue('9007199254740993'), 2)).toBe(9007199254740991)
  })

  test('sums are exact, or refused as AWS refuses them', () => {
    fc.assert(
      fc.property(anyNumber, anyNumber, fc.boolean(), (left, right, isSum) => {
        const [a, b, scale] = aligned(exact(left), exact(right))
        const operation = isSum ? addNumbers : subtractNumbers
        const outcome = outcomeOf(() => operation(parseNumber(left), parseNumber(right)))
        expect(outcome).toBe(expectedOutcome({ digits: isSum ? a + b : a - b, scale }))
      }),
      { numRuns: 1000 },
    )
  })
})

function outcomeOf(calculate: () => number | NumberValue): string {
  try {
    return scientific(exact(numberText(calculate())))
  } catch (error) {
    return (error as Error).message.slice(0, 'Number overflow'.length)
  }
}

function expectedOutcome(number: Exact): string {
  const [digits = '', exponent = '0'] = scientific(number).replace(/^-/, '').split('e')
  if (digits === '0') return '0e0'
  if (Number(exponent) > 125) return 'Number overflow'
  if (Number(exponent) < -130) return 'Number underflo'
  return digits.length > 38 ? 'Attempting to s' : scientific(number)
}

/** Significant digits and the exponent of the first of them. */
function scientific({ digits, scale }: Exact): string {
  const all = (digits < 0n ? -digits : digits).toString()
  const significant = all.replace(/0+$/, '')
  if (significant === '') return '0e0'
  return `${digits < 0n ? '-' : ''}${significant}e${all.length - 1 + scale}`
}

describe('order', () => {
  test('two numbers compare as their exact values do', () => {
    fc.assert(
      fc.property(anyNumber, anyNumber, (left, right) => {
        const [a, b] = aligned(exact(left), exact(right))
        expect(sign(compareNumbers(parseNumber(left), parseNumber(right)))).toBe(sign(a - b))
      }),
    )
  })

  test('key bytes sort as the numbers do, and are equal only for equal numbers', () => {
    fc.assert(
      fc.property(anyNumber, anyNumber, (left, right) => {
        const [a, b] = [parseNumber(left), parseNumber(right)]
        const order = Buffer.compare(orderedNumberBytes(a), orderedNumberBytes(b))
        expect(sign(order)).toBe(sign(compareNumbers(a, b)))
      }),
      { numRuns: 1000 },
    )
  })

  test('key bytes sort neighbours that share their first digits', () => {
    const sorted = [
      '-1e125',
      '-101',
      '-100.5',
      '-100',
      '-99',
      '-10.01',
      '-10',
      '-1.1',
      '-1',
      '-1e-130',
      '0',
      '1e-130',
      '1',
      '1.1',
      '1.11',
      '9',
      '10',
      '10.01',
      '99',
      '100',
      '100.5',
      '101',
      '1e125',
    ]
    const keys = sorted.map((text) => orderedNumberBytes(parseNumber(text)))
    expect(keys.toSorted((a, b) => Buffer.compare(a, b))).toEqual(keys)
    expect(Math.max(...keys.map((key) => key.length))).toBeLessThanOrEqual(22)
  })
})

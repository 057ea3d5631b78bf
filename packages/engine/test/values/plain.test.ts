import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DynamoError } from '../../src/errors.ts'
import { equal } from '../../src/values/compare.ts'
import { parseNumber } from '../../src/values/numbers.ts'
import { validateItem, validateValue } from '../../src/values/plain.ts'
import { NumberValue } from '../../src/values/types.ts'
import { anyValue } from '../support/arbitrary-values.ts'

/** The class another library might use for long numbers. */
class ForeignNumber {
  readonly value: string
  constructor(value: string) {
    this.value = value
  }
}

describe('values from this process', () => {
  test('a value that is already canonical is returned itself', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const canonical = validateValue(value)
        expect(validateValue(canonical)).toBe(canonical)
        expect(equal(canonical, value)).toBe(true)
      }),
    )
  })

  test('the members of a set are sorted, in a copy', () => {
    const item = { set: new Set([10, 9, parseNumber('9.00000000000000000001')]) }
    const [least, middle] = validateItem(item)['set'] as Set<unknown>
    expect([least, String(middle)]).toEqual([9, '9.00000000000000000001'])
    expect([...item.set][0]).toBe(10)
  })

  test('minus zero becomes zero, in a copy', () => {
    const item = { list: [1, -0] }
    expect(Object.is((validateItem(item)['list'] as number[])[1], 0)).toBe(true)
    expect(Object.is(item.list[1], -0)).toBe(true)
  })

  test('long numbers of any class become canonical', () => {
    expect(validateValue(new ForeignNumber('1.50'))).toBe(1.5)
    expect(validateValue(new NumberValue('0012345678901234567890'))).toEqual(
      new NumberValue('12345678901234567890'),
    )
    expect(equal(validateValue(new Set([new ForeignNumber('7'), 8])), new Set([7, 8]))).toBe(true)
  })

  test('a copy keeps attributes that are called __proto__', () => {
    const item = JSON.parse('{"__proto__": [-0], "a": 1}') as object
    const checked = validateItem(item)
    expect(Object.keys(checked)).toEqual(['__proto__', 'a'])
    expect(Object.getPrototypeOf(checked)).toBe(Object.prototype)
  })

  test('objects without a prototype are maps', () => {
    const map = Object.assign(Object.create(null) as object, { a: 1 })
    expect(validateValue(map)).toBe(map)
  })
})

describe('what DynamoDB has no type for', () => {
  test.each([
    ['undefined', undefined, 'Cannot use undefined as an attribute value'],
    ['a function', () => 1, 'Cannot use function as an attribute value'],
    ['a symbol', Symbol('s'), 'Cannot use symbol as an attribute value'],
    ['a bigint', 1n, 'Cannot use bigint as an attribute value'],
    ['a date', new Date(0), 'Cannot use a value of class Date as an attribute value'],
    ['a Map', new Map(), 'Cannot use a value of class Map as an attribute value'],
    ['a hole in a list', Array(1), 'Cannot use undefined as an attribute value'],
    ['NaN', Number.NaN, 'The parameter cannot be converted to a numeric value: NaN'],
    ['infinity', Infinity, 'The parameter cannot be converted to a numeric value: Infinity'],
    [
      'too large a number',
      1e126,
      'Number overflow. Attempting to store a number with magnitude larger than supported range',
    ],
    [
      'too small a number',
      1e-131,
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    ],
    [
      'an empty set',
      new Set(),
      'One or more parameter values were invalid: An string set  may not be empty',
    ],
    ['a mixed set', new Set(['a', 1]), 'Cannot use number as a member of this set'],
    ['a set of lists', new Set([['a']]), 'Nesting Levels have exceeded supported limits'],
    ['a set of booleans', new Set([true]), 'Cannot use boolean as a member of this set'],
    [
      'a number twice',
      new Set([1, new ForeignNumber('1.0')]),
      'Input collection contains duplicates',
    ],
    [
      'bytes twice',
      new Set([Uint8Array.of(97), Uint8Array.of(97)]),
      'One or more parameter values were invalid: Input collection [YQ==, YQ==]of type BS contains duplicates.',
    ],
    [
      'a class with a bad number',
      new ForeignNumber('x'),
      'The parameter cannot be converted to a numeric value: x',
    ],
  ])('%s is refused', (_, value, message) => {
    expect(() => validateValue(value)).toThrow(message)
    expect(() => validateValue({ a: [value] })).toThrow(DynamoError)
  })

  test.each([[undefined], [null], ['x'], [[]], [new Date(0)]])('%j is no item', (value) => {
    expect(() => validateItem(value)).toThrow(DynamoError)
  })

  test('a value that contains itself is refused', () => {
    const list: unknown[] = []
    list.push({ list })
    expect(() => validateValue(list)).toThrow('Nesting Levels have exceeded supported limits')
  })

  test('a small value that unfolds into billions of parts is refused', () => {
    let value: unknown = 'x'
    for (let level = 0; level < 31; level++) value = [value, value]
    expect(() => validateValue(value)).toThrow('Item size has exceeded the maximum allowed size')
  })
})

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { equal } from '../../src/values/compare.ts'
import { compare } from '../../src/values/order.ts'
import { itemSize, valueSize } from '../../src/values/size.ts'
import { NumberValue, typeOf, type Value } from '../../src/values/types.ts'
import { anyValue, copyOf } from '../support/arbitrary-values.ts'

describe('equality', () => {
  test('a copy of a value equals it, whatever the order of its members', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(equal(value, copyOf(value))).toBe(true)
      }),
    )
  })

  test('values of different types are never equal', () => {
    fc.assert(
      fc.property(anyValue, anyValue, (a, b) => {
        fc.pre(typeOf(a) !== typeOf(b))
        expect(equal(a, b)).toBe(false)
      }),
    )
  })

  const unequal: [Value, Value][] = [
    ['1', 1],
    [null, false],
    [1, new NumberValue('1.00000000000000000001')],
    [new Set(['a']), new Set(['b'])],
    [new Set(['a']), new Set(['a', 'b'])],
    [new Set([1, 2]), new Set(['1', '2'])],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 1]],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{}, { toString: 1 }],
    [Uint8Array.of(1), Uint8Array.of(1, 0)],
    [{}, []],
    [new Set([Uint8Array.of(1)]), new Set([Uint8Array.of(2)])],
  ]
  test.each(unequal)('%j is not %j', (a, b) => {
    expect(equal(a, b)).toBe(false)
    expect(equal(b, a)).toBe(false)
  })

  test('sets of bytes and of long numbers are equal by content', () => {
    const long = '12345678901234567890123'
    expect(equal(new Set([Uint8Array.of(1, 2)]), new Set([Uint8Array.of(1, 2)]))).toBe(true)
    expect(equal(new Set([new NumberValue(long), 1]), new Set([1, new NumberValue(long)]))).toBe(
      true,
    )
  })

  test('names that objects inherit do not count as attributes', () => {
    expect(equal({ constructor: 1 }, {})).toBe(false)
    const withProto = JSON.parse('{"__proto__": 1}') as Value
    expect(equal(withProto, {})).toBe(false)
    expect(equal(withProto, JSON.parse('{"__proto__": 1}') as Value)).toBe(true)
  })
})

describe('order', () => {
  test('strings sort by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b))
        expect(Math.sign(compare(a, b))).toBe(bytes)
      }),
    )
  })

  test('characters beyond the basic plane sort behind all others', () => {
    expect(compare('\uffff', '😀')).toBeLessThan(0)
    expect(compare('a😀', 'a\ue000')).toBeGreaterThan(0)
  })

  test('bytes sort as unsigned numbers, a prefix first', () => {
    expect(compare(Uint8Array.of(0x7f), Uint8Array.of(0x80))).toBeLessThan(0)
    expect(compare(Uint8Array.of(1), Uint8Array.of(1, 0))).toBeLessThan(0)
  })
})

describe('size', () => {
  const sizes: [Value, number][] = [
    ['', 0],
    ['é😀', 6],
    [0, 1],
    [5, 2],
    [-5, 3],
    [100, 2],
    [123, 3],
    [0.001, 2],
    [new NumberValue('12345678901234567890123456789012345678'), 20],
    [true, 1],
    [null, 1],
    [Uint8Array.of(1, 2, 3), 3],
    [new Set(['ab', 'c']), 3],
    [[], 3],
    [['a', 'b'], 7],
    [{}, 3],
    [{ ab: 'c' }, 7],
  ]
  test.each(sizes)('%j counts %d bytes', (value, bytes) => {
    expect(valueSize(value)).toBe(bytes)
  })

  test('an item is its names and its values', () => {
    expect(itemSize({ id: 'abc', n: 7, tags: new Set(['x', 'yz']) })).toBe(2 + 3 + 1 + 2 + 4 + 3)
  })
})

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DynamoError } from '../../src/errors.ts'
import { equal } from '../../src/values/compare.ts'
import {
  fromWire,
  itemFromWire,
  itemToWire,
  placeholderValuesFromWire,
  toWire,
} from '../../src/values/wire.ts'
import { NumberValue, type Value } from '../../src/values/types.ts'
import { anyItem, anyValue } from '../support/arbitrary-values.ts'

const INVALID = 'One or more parameter values were invalid:'

function nested(levels: number): unknown {
  let value: unknown = { S: 'x' }
  for (let level = 0; level < levels; level++) value = { M: { a: value } }
  return value
}

function isReadOrRefused(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    return error instanceof DynamoError
  }
}

describe('between JSON and plain values', () => {
  const pairs: [unknown, Value][] = [
    [{ S: '' }, ''],
    [{ N: '1.50' }, 1.5],
    [{ B: '' }, new Uint8Array()],
    [{ B: 'YWI=' }, Uint8Array.of(97, 98)],
    [{ BOOL: false }, false],
    [{ NULL: true }, null],
    [{ SS: ['a', ''] }, new Set(['a', ''])],
    [{ NS: ['1', '2.0'] }, new Set([1, 2])],
    [{ BS: ['YQ=='] }, new Set([Uint8Array.of(97)])],
    [{ L: [{ S: 'a' }, { L: [] }] }, ['a', []]],
    [{ M: { a: { N: '12345678901234567890' } } }, { a: new NumberValue('12345678901234567890') }],
    [{ S: 'a', N: null, X: 'ignored' }, 'a'],
  ]
  test.each(pairs)('%j is read', (json, value) => {
    expect(equal(fromWire(json), value)).toBe(true)
  })

  test('what is written is read back the same, through JSON', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(equal(fromWire(JSON.parse(JSON.stringify(toWire(value)))), value)).toBe(true)
      }),
    )
    fc.assert(
      fc.property(anyItem, (item) => {
        expect(equal(itemFromWire(JSON.parse(JSON.stringify(itemToWire(item)))), item)).toBe(true)
      }),
    )
  })

  test('an attribute may be called __proto__, and no prototype changes', () => {
    const item = itemFromWire(JSON.parse('{"__proto__": {"M": {"__proto__": {"S": "x"}}}}'))
    expect(Object.keys(item)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(item)).toBe(Object.prototype)
    expect(JSON.stringify(itemToWire(item))).toBe('{"__proto__":{"M":{"__proto__":{"S":"x"}}}}')
  })
})

describe('values that AWS refuses', () => {
  test.each([
    [{}, 'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes'],
    [
      { X: 'a' },
      'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
    ],
    [
      { S: null },
      'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
    ],
    [
      { L: [{}] },
      'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
    ],
    [
      { S: 'a', N: '1' },
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    ],
    [{ SS: [] }, `${INVALID} An string set  may not be empty`],
    [{ NS: [] }, `${INVALID} An number set  may not be empty`],
    [{ BS: [] }, `${INVALID} Binary sets should not be empty`],
    [{ SS: ['b', 'a', 'b'] }, `${INVALID} Input collection [b, a, b] contains duplicates.`],
    [{ NS: ['1', '1.0'] }, 'Input collection contains duplicates'],
    [
      { BS: ['YQ==', 'YQ=='] },
      `${INVALID} Input collection [YQ==, YQ==]of type BS contains duplicates.`,
    ],
    [{ NULL: false }, `${INVALID} Null attribute value types must have the value of true`],
    [{ NULL: false, S: 'a' }, `${INVALID} Null attribute value types must have the value of true`],
    [{ N: 'x', S: 'a' }, 'The parameter cannot be converted to a numeric value: x'],
  ])('%j', (json, message) => {
    expect(() => fromWire(json)).toThrow(
      expect.objectContaining({ name: 'ValidationException', message }),
    )
  })

  test.each([
    ['x', 'Unexpected value type in payload'],
    [[], 'Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue'],
    [{ S: 1 }, 'NUMBER_VALUE cannot be converted to String'],
    [{ S: true }, 'TRUE_VALUE cannot be converted to String'],
    [{ S: [] }, 'Unrecognized collection type class java.lang.String'],
    [{ N: {} }, 'Start of structure or map found where not expected'],
    [{ BOOL: 'maybe' }, 'Unexpected token received from parser'],
    [{ NULL: 1 }, 'NUMBER_VALUE cannot be converted to Boolean'],
    [{ N: 1.5 }, 'DECIMAL_VALUE cannot be converted to String'],
    [{ B: 1 }, 'only base-64-encoded strings are convertible to bytes'],
    [{ B: 'YQ' }, 'Base64 encoded length is expected a multiple of 4 bytes but found: 2'],
    [{ B: 'Y?==' }, "Invalid Base64 character: '?'"],
    [{ B: 'YR==' }, 'Invalid last non-pad Base64 character dectected'],
    [{ SS: 'a' }, 'Unexpected field type'],
    [{ L: {} }, 'Start of structure or map found where not expected'],
    [
      { M: [] },
      'Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>',
    ],
    [{ B: [] }, 'Unrecognized collection type class java.nio.ByteBuffer'],
    [{ B: '=+/=' }, 'Invalid last non-pad Base64 character dectected'],
  ])('%j does not have the shape of a value', (json, message) => {
    expect(() => fromWire(json)).toThrow(
      expect.objectContaining({ name: 'SerializationException', message }),
    )
  })

  test('values nest 32 levels and no deeper', () => {
    expect(() => itemFromWire({ a: nested(31) })).not.toThrow()
    const message =
      'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit'
    expect(() => itemFromWire({ a: nested(32) })).toThrow(message)
    expect(() => itemFromWire({ a: nested(100_000) })).toThrow(message)
  })

  test('a bad expression value is named by its key', () => {
    expect(() => placeholderValuesFromWire({ ':a': { S: 'x' }, ':b': {} })).toThrow(
      'ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes for key :b',
    )
  })

  test('any JSON is read or refused with an AWS error', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(isReadOrRefused(() => fromWire({ L: [json] }))).toBe(true)
        expect(isReadOrRefused(() => itemFromWire({ a: json }))).toBe(true)
      }),
    )
  })
})

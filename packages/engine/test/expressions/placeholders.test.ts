import { describe, expect, test } from 'vitest'
import { parseCondition } from '../../src/expressions/condition.ts'
import { createPlaceholders } from '../../src/expressions/placeholders.ts'
import { isReserved } from '../../src/expressions/reserved-words.ts'
import { parseUpdate } from '../../src/expressions/update.ts'

describe('placeholders of a request', () => {
  test('are shared by all its expressions', () => {
    const placeholders = createPlaceholders({ '#a': 'a', '#b': 'b' }, { ':v': 1, ':w': 2 })
    parseUpdate('SET #a = :v', placeholders)
    expect(() => placeholders.assertAllUsed()).toThrow(
      'Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}',
    )
    parseCondition('#b = :v', 'ConditionExpression', placeholders)
    expect(() => placeholders.assertAllUsed()).toThrow(
      'Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}',
    )
    parseCondition('#b = :w', 'ConditionExpression', placeholders)
    placeholders.assertAllUsed()
  })

  test.each([
    [['#a', '#b', '#c'], '{#c, #a, #b}'],
    [['#z', '#b', '#a'], '{#z, #a, #b}'],
    [
      Array.from({ length: 14 }, (_, index) => `#k${index}`),
      '{#k0, #k1, #k2, #k3, #k4, #k5, #k6, #k7, #k8, #k9, #k10, #k12, #k11, #k13}',
    ],
  ])('%j unused are listed in the order of AWS', (keys, listed) => {
    const names = Object.fromEntries(keys.map((key) => [key, 'x']))
    expect(() => createPlaceholders(names).assertAllUsed()).toThrow(
      `Value provided in ExpressionAttributeNames unused in expressions: keys: ${listed}`,
    )
  })

  test.each([
    [{}, 'ExpressionAttributeNames must not be empty'],
    [{ a: 'a' }, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"'],
    [{ '#': 'a' }, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#"'],
    [{ '#a-b': 'a' }, 'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"'],
    [
      { '#a': '' },
      'ExpressionAttributeNames contains invalid value: Empty attribute name for key #a',
    ],
    [
      { '#a': 'x'.repeat(65536) },
      'ExpressionAttributeNames contains invalid value: Attribute name is too large, must be less than 65536 bytes for key #a',
    ],
    [
      { [`#${'a'.repeat(255)}`]: 'x' },
      'ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 256',
    ],
  ])('names %# are refused', (names: Record<string, string>, message) => {
    expect(() => createPlaceholders(names)).toThrow(message)
  })

  test('values are refused for bad keys and for more than two megabytes', () => {
    expect(() => createPlaceholders(undefined, {})).toThrow(
      'ExpressionAttributeValues must not be empty',
    )
    expect(() => createPlaceholders(undefined, { v: 1 })).toThrow(
      'ExpressionAttributeValues contains invalid key: Syntax error; key: "v"',
    )
    expect(() => createPlaceholders(undefined, { ':v': 'x'.repeat(2 * 1024 * 1024 + 1) })).toThrow(
      'ExpressionAttributeValues exceeds max size',
    )
  })

  test('names that objects inherit are not defined by inheritance', () => {
    const placeholders = createPlaceholders({ '#a': 'a' }, { ':v': 1 })
    expect(() => parseCondition('#constructor = :v', 'FilterExpression', placeholders)).toThrow(
      'Invalid FilterExpression: An expression attribute name used in the document path is not defined; attribute name: #constructor',
    )
  })
})

describe('reserved words', () => {
  test.each(['name', 'STATUS', 'Size', 'ttl', 'LOCALTIMESTAMP', 'abort', 'zone', 'varint'])(
    '%s is one',
    (word) => {
      expect(isReserved(word)).toBe(true)
    },
  )

  test.each(['id', 'pk', 'expires', 'names_', 'toString', '__proto__', ''])(
    '%s is none',
    (word) => {
      expect(isReserved(word)).toBe(false)
    },
  )
})

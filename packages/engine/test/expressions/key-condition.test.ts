import { describe, expect, test } from 'vitest'
import { parseCondition } from '../../src/expressions/condition.ts'
import { keyConditionsIn, planKeys, type KeySchema } from '../../src/expressions/key-condition.ts'
import { createPlaceholders } from '../../src/expressions/placeholders.ts'
import { parseUpdate } from '../../src/expressions/update.ts'
import { rejectPathsIntoKeys } from '../../src/operations/expressions.ts'
import type { TableRecord } from '../../src/storage/storage.ts'
import type { Value } from '../../src/values/types.ts'

const values: Record<string, Value> = {
  ':p': 'a',
  ':s': 'x',
  ':z': 'z',
  ':e': '',
  ':eb': new Uint8Array(),
  ':n': 5,
  ':m': 1,
  ':t': true,
  ':b': Uint8Array.of(1),
}
const strings: KeySchema = { partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type: 'S' } }
const numbers: KeySchema = { partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type: 'N' } }
const bytes: KeySchema = { partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type: 'B' } }
const partitionOnly: KeySchema = { partition: { name: 'pk', type: 'S' } }

function plan(text: string, schema = strings) {
  const placeholders = createPlaceholders({ '#p': 'pk', '#s': 'sk' }, values)
  const condition = parseCondition(text, 'KeyConditionExpression', placeholders)
  return planKeys(keyConditionsIn(condition), schema)
}

describe('a key condition', () => {
  test.each([
    ['pk = :p', undefined],
    [':p = #p', undefined],
    ['pk = :p AND sk = :s', { op: '=', values: ['x'] }],
    ['sk = :s AND pk = :p', { op: '=', values: ['x'] }],
    ['(pk = :p) and (#s < :s)', { op: '<', values: ['x'] }],
    ['(pk = :p AND sk >= :s)', { op: '>=', values: ['x'] }],
    ['pk = :p AND :s > sk', { op: '<', values: ['x'] }],
    [':s <= sk AND :p = pk', { op: '>=', values: ['x'] }],
    ['sk BETWEEN :s AND :z AND pk = :p', { op: 'BETWEEN', values: ['x', 'z'] }],
    ['pk = :p AND begins_with(sk, :s)', { op: 'begins_with', values: ['x'] }],
  ])('%s', (text, sort) => {
    expect(plan(text)).toEqual(sort ? { partition: 'a', sort } : { partition: 'a' })
  })
})

describe('a key condition that AWS refuses', () => {
  const type =
    'One or more parameter values were invalid: Condition parameter type does not match schema type'
  const unsupported = 'Query key condition not supported'
  const severalNames =
    'Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition'
  test.each([
    ['pk', 'Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "pk"'],
    ['pk <> :p', 'Invalid operator used in KeyConditionExpression: <>'],
    ['pk IN (:p)', 'Invalid operator used in KeyConditionExpression: IN'],
    ['NOT pk = :p', 'Invalid operator used in KeyConditionExpression: NOT'],
    ['pk = :p OR sk = :s', 'Invalid operator used in KeyConditionExpression: OR'],
    ['pk = :p AND contains(sk, :s)', 'Invalid operator used in KeyConditionExpression: contains'],
    ['attribute_exists(pk)', 'Invalid operator used in KeyConditionExpression: attribute_exists'],
    ['pk = :p AND size(sk) = :n', 'KeyConditionExpressions cannot contain nested operations'],
    ['pk = sk', severalNames],
    ['pk = :p AND begins_with(sk, pk)', severalNames],
    [':p = :p', 'Invalid condition in KeyConditionExpression: No key attribute specified'],
    [
      'pk = :p AND begins_with(:s, sk)',
      'Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its first operand',
    ],
    [
      'pk = :p AND :s BETWEEN sk AND :z',
      'Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand',
    ],
    ['pk.a = :p', 'KeyConditionExpressions cannot have conditions on nested attributes'],
    ['pk = :p AND i.j = :s', 'KeyConditionExpressions cannot have conditions on nested attributes'],
    ['pk = :p AND pk = :s', 'KeyConditionExpressions must only contain one condition per key'],
    [
      'pk = :p AND sk > :s AND sk < :z',
      'KeyConditionExpressions must only contain one condition per key',
    ],
    ['pk = :p AND sk = :s AND a = :s', 'Conditions can be of length 1 or 2 only'],
    ['sk = :s', 'Query condition missed key schema element: pk'],
    ['pk = :p AND a = :s', 'Query condition missed key schema element: sk'],
    ['pk < :p', unsupported],
    ['begins_with(pk, :p)', unsupported],
    ['pk = :n', type],
    ['pk = :p AND sk = :n', type],
    [
      'pk = :e',
      'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
    ],
    [
      'pk = :p AND begins_with(sk, :e)',
      'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk',
    ],
    [
      'pk = :p AND sk BETWEEN :z AND :s',
      'Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {S:z}, upper bound operand: AttributeValue: {S:x}',
    ],
  ])('%s', (text, message) => {
    expect(() => plan(text)).toThrow(
      expect.objectContaining({ name: 'ValidationException', message }),
    )
  })

  test('begins_with has no meaning on a number key', () => {
    expect(() => plan('pk = :p AND begins_with(sk, :s)', numbers)).toThrow(type)
    expect(() => plan('pk = :p AND begins_with(sk, :n)', numbers)).toThrow(
      'Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N',
    )
    expect(plan('pk = :p AND begins_with(sk, :b)', bytes).sort?.op).toBe('begins_with')
  })

  test('an empty binary is no key', () => {
    expect(() => plan('pk = :p AND sk = :eb', bytes)).toThrow(
      'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty binary value. Key: sk',
    )
  })

  test('a table without a sort key takes one condition only', () => {
    expect(plan('pk = :p', partitionOnly)).toEqual({ partition: 'a' })
    expect(() => plan('pk = :p AND sk = :s', partitionOnly)).toThrow(unsupported)
  })
})

describe('a path into a key', () => {
  const placeholders = createPlaceholders({ '#p': 'pk' }, values)
  const table: TableRecord = {
    id: 1,
    name: 'table',
    version: 1,
    createdAt: 0,
    keys: { partition: { name: 'pk', type: 'S' } },
    indexes: [],
  }
  const scalars =
    "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk"

  test.each([
    'attribute_exists(pk.x)',
    'a = :s OR NOT #p[0] = :s',
    'size(pk.x) > :n',
    'a IN (:s, pk[0])',
    'a BETWEEN :s AND pk.x',
  ])('is refused in the condition %s', (text) => {
    const condition = parseCondition(text, 'ConditionExpression', placeholders)
    expect(() => rejectPathsIntoKeys(table, { condition })).toThrow(scalars)
  })

  test.each([
    'SET a = pk[0]',
    'SET a = if_not_exists(pk.x, :s)',
    'SET a = n + pk.x',
    'SET a = list_append(if_not_exists(a, #p[0]), l)',
  ])('is refused in the update %s', (text) => {
    const update = parseUpdate(text, placeholders)
    expect(() => rejectPathsIntoKeys(table, { update })).toThrow(scalars)
  })

  test('is no matter where the key is taken whole', () => {
    const condition = parseCondition('pk = :s AND a.pk = :s', 'ConditionExpression', placeholders)
    expect(() => rejectPathsIntoKeys(table, { condition })).not.toThrow()
  })
})

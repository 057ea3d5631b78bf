import { describe, expect, test } from 'vitest'
import { parseCondition } from '../../src/expressions/condition.ts'
import { evaluate } from '../../src/expressions/evaluate.ts'
import { createPlaceholders } from '../../src/expressions/placeholders.ts'
import { NumberValue, type Item, type Value } from '../../src/values/types.ts'

const values: Record<string, Value> = {
  ':x': 'x',
  ':str': 'str',
  ':st': 'st',
  ':tr': 'tr',
  ':zero': 0,
  ':one': 1,
  ':three': 3,
  ':five': 5,
  ':ten': 10,
  ':true': true,
  ':null': null,
  ':a': 'a',
  ':ab': new Set(['b', 'a']),
  ':list': ['a'],
  ':bytes': Uint8Array.of(97),
  ':N': 'N',
  ':S': 'S',
  ':SS': 'SS',
  ':NULL': 'NULL',
  ':long': new NumberValue('12345678901234567890'),
}
const names = { '#status': 'status', '#m': 'm', '#proto': '__proto__', '#ctor': 'constructor' }

const item: Item = {
  s: 'str',
  n: 5,
  wide: new NumberValue('12345678901234567890'),
  t: true,
  nothing: null,
  b: Uint8Array.of(97, 98, 99),
  l: ['a', 1, ['x']],
  m: { x: 1, deep: { q: 'x' } },
  ss: new Set(['a', 'b']),
  ns: new Set([1, 3]),
  bs: new Set([Uint8Array.of(97)]),
  status: 'open',
}

function meets(text: string, subject: Item | undefined = item): boolean {
  const condition = parseCondition(text, 'ConditionExpression', createPlaceholders(names, values))
  return evaluate(condition, subject)
}

describe('a condition that holds', () => {
  test.each([
    's = :str',
    ':str = s',
    's <> :x',
    'n = :five',
    'n > :one',
    'n >= :five AND n <= :five',
    'wide = :long',
    'wide > :ten',
    's > :st',
    'b > :bytes',
    'n BETWEEN :one AND :ten',
    'n between :five and :five',
    's IN (:x, :str)',
    'n IN (:x, m.x, :five)',
    'm.x = :one',
    '#m.deep.q = :x',
    'l[0] = :a',
    'l[2][0] = :x',
    '#status <> :x',
    'ss = :ab',
    'nothing = :null',
    'attribute_exists(m.deep.q)',
    'attribute_exists(nothing)',
    'attribute_not_exists(m.absent)',
    'attribute_not_exists(l[7])',
    'attribute_not_exists(s.part)',
    'attribute_type(s, :S)',
    'attribute_type(nothing, :NULL)',
    'attribute_type(ss, :SS)',
    'begins_with(s, :st)',
    'begins_with(b, :bytes)',
    'contains(s, :tr)',
    'contains(ss, :a)',
    'contains(ns, :three)',
    'contains(bs, :bytes)',
    'contains(l, :a)',
    'contains(l, l[2]) OR s = :str',
    'contains(b, :bytes)',
    'size(s) = :three',
    'size(b) = :three',
    'size(l) = :three',
    'size(m) > :one',
    'size(ss) < :three',
    'size(s) = size(l)',
    ':five < :ten',
    'NOT s = :x',
    'not not s = :str',
    '(s = :x OR n = :five) AND t = :true',
    's = :x AND n = :zero OR t = :true',
    't = :true OR s = :x AND n = :zero',
    'NOT s = :x AND n = :five',
    '(s) = (:str)',
    's=:str AND\n\tn<>:one',
  ])('%s', (text) => {
    expect(meets(text)).toBe(true)
  })
})

describe('a condition that does not hold', () => {
  test.each([
    's = :x',
    'n <> :five',
    'n < :five',
    'n BETWEEN :ten AND wide',
    's IN (:x, :st)',
    'NOT (s = :str OR n = :one)',
    'attribute_exists(absent)',
    'attribute_not_exists(s)',
    'contains(s, :x)',
    'contains(ss, :x)',
    'begins_with(s, :tr)',
    'size(s) > :three',
  ])('%s', (text) => {
    expect(meets(text)).toBe(false)
  })
})

describe('a comparison that the item does not allow is false, not an error', () => {
  test.each([
    's = n',
    's < n',
    's < :ten',
    'n > :str',
    't < s',
    'absent = :x',
    'absent < :ten',
    'n = absent',
    'absent = gone',
    'absent < gone',
    'n BETWEEN s AND :ten',
    's BETWEEN :one AND :ten',
    'absent BETWEEN :one AND :ten',
    'absent IN (:x, gone)',
    'begins_with(n, :st)',
    'begins_with(absent, :st)',
    'begins_with(s, n)',
    'contains(n, :five)',
    'contains(absent, :x)',
    'contains(ss, :five)',
    'contains(ns, :a)',
    'contains(s, n)',
    'size(n) = :one',
    'size(absent) = :zero',
    'attribute_type(absent, :S)',
    'l.x = :one',
    'm[0] = :one',
    's.part = :x',
  ])('%s', (text) => {
    expect(meets(text)).toBe(false)
  })

  test.each([
    's <> n',
    'absent <> :x',
    'absent <> gone',
    'NOT absent = :x',
    'NOT s < n',
    'size(n) <> :one',
  ])('%s is true', (text) => {
    expect(meets(text)).toBe(true)
  })
})

describe('a condition on an item that does not exist', () => {
  test('is evaluated as on one without attributes', () => {
    const condition = parseCondition(
      'attribute_not_exists(s) AND NOT s = :x',
      'ConditionExpression',
      createPlaceholders(undefined, { ':x': 'x' }),
    )
    expect(evaluate(condition, undefined)).toBe(true)
  })
})

describe('names that every object inherits', () => {
  test('are attributes only where the item has them', () => {
    expect(meets('attribute_exists(#proto)')).toBe(false)
    expect(meets('attribute_exists(#ctor)')).toBe(false)
    expect(meets('attribute_exists(toString)')).toBe(false)
    expect(meets('attribute_exists(m.#ctor.hasOwnProperty)')).toBe(false)
    expect(meets('#proto = :x', JSON.parse('{"__proto__": "x"}') as Item)).toBe(true)
    expect(meets('l.toString <> :x')).toBe(true)
  })
})

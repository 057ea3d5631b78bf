/** No text can crash or stall the parsers, and none can make them throw anything but an AWS error. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DynamoError } from '../../src/errors.ts'
import { parseCondition } from '../../src/expressions/condition.ts'
import { evaluate } from '../../src/expressions/evaluate.ts'
import { keyConditionsIn, planKeys } from '../../src/expressions/key-condition.ts'
import { createPlaceholders } from '../../src/expressions/placeholders.ts'
import { parseProjection, project } from '../../src/expressions/projection.ts'
import { applyUpdate, parseUpdate } from '../../src/expressions/update.ts'
import type { Item, Value } from '../../src/values/types.ts'
import { anyItem, anyValue } from '../support/arbitrary-values.ts'

const key = { partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type: 'N' } } as const

/** Whatever came out of the four languages that is not an AWS error. */
function surprises(text: string, names: Names, values: Values, item: Item = {}): unknown[] {
  const attempts = [
    () =>
      evaluate(parseCondition(text, 'FilterExpression', createPlaceholders(names, values)), item),
    () => applyUpdate(parseUpdate(text, createPlaceholders(names, values)), item),
    () => project(parseProjection(text, createPlaceholders(names)), item),
    () => {
      const placeholders = createPlaceholders(names, values)
      planKeys(keyConditionsIn(parseCondition(text, 'KeyConditionExpression', placeholders)), key)
    },
  ]
  return attempts.flatMap((attempt) => {
    try {
      attempt()
      return []
    } catch (error) {
      return error instanceof DynamoError ? [] : [error]
    }
  })
}

type Names = Record<string, string>
type Values = Record<string, Value>

const words =
  `a pk sk #n #x :v :w :x ( ) [ ] 0 12 . , = <> < >= + - AND OR NOT BETWEEN IN SET REMOVE
  ADD DELETE size contains begins_with attribute_exists attribute_type if_not_exists list_append
  __proto__ constructor`.split(/\s+/)
const almostExpression = fc
  .array(fc.tuple(fc.constantFrom(...words), fc.constantFrom('', ' ')), { maxLength: 25 })
  .map((pieces) => pieces.flat().join(''))

/** As much of it as an expression may hold. */
function full(unit: string): string {
  return unit.repeat(Math.floor(4000 / unit.length))
}

describe('random text', () => {
  test('of any characters is parsed or refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        expect(surprises(text, { '#n': 'a' }, { ':v': 1 })).toEqual([])
      }),
    )
  })

  test('made of the language itself is parsed or refused, on any item', () => {
    fc.assert(
      fc.property(almostExpression, anyValue, anyValue, anyItem, (text, v, w, item) => {
        expect(surprises(text, { '#n': '__proto__' }, { ':v': v, ':w': w }, item)).toEqual([])
      }),
      { numRuns: 2000 },
    )
  })
})

describe('text made to hurt', () => {
  test.each([
    ['opening parentheses', full('(')],
    ['parentheses around a condition', `${'('.repeat(2000)}a = b${')'.repeat(2000)}`],
    ['parentheses around an operand', `a = ${'('.repeat(2000)}b${')'.repeat(2000)}`],
    ['parentheses around a value', `SET a = ${'('.repeat(1900)}b${')'.repeat(1900)}`],
    ['NOT in a row', `${full('NOT ')}a = b`],
    ['NOT in parentheses', `${'NOT ('.repeat(650)}a = b${')'.repeat(650)}`],
    ['nested functions', `${'size('.repeat(600)}a${')'.repeat(600)} = b`],
    ['nested unknown functions', `${'f('.repeat(1300)}a${')'.repeat(1300)}`],
    ['open functions', full('size(')],
    ['a long path', `a${full('.a')} = b`],
    ['a long list path', `a${full('[0]')} = b`],
    ['AND without end', full('a = b AND ')],
    ['commas', full(',')],
    ['a long name', `${'a'.repeat(4000)} = b`],
    ['digits', `a[${'9'.repeat(4000)}] = b`],
    ['a megabyte', 'a = b OR '.repeat(120_000)],
    ['brackets', full('[')],
    ['many paths', full('a,')],
    [
      'many overlapping paths',
      `SET ${Array.from({ length: 300 }, (_, index) => `a[${index}] = b`).join()}`,
    ],
  ])('%s', (_, text) => {
    expect(surprises(text, { '#n': 'a' }, { ':v': 1 })).toEqual([])
  })

  test('unpaired parentheses are a syntax error however many there are', () => {
    const placeholders = createPlaceholders()
    const open = '('.repeat(4000)
    expect(() => parseCondition(open, 'ConditionExpression', placeholders)).toThrow(
      'Syntax error; token: "<EOF>", near: "("',
    )
    const paired = `${'('.repeat(2000)}a = b${')'.repeat(2000)}`
    expect(() => parseCondition(paired, 'ConditionExpression', placeholders)).toThrow(
      'redundant parentheses',
    )
  })

  test('an update that makes a large value many times over is refused before it has made them', () => {
    const actions = Array.from({ length: 150 }, (_, n) => `q${n} = list_append(:v, :v)`)
    const values = { ':v': Array<boolean>(200_000).fill(true) }
    const update = parseUpdate(`SET ${actions.join(', ')}`, createPlaceholders(undefined, values))
    expect(() => applyUpdate(update, {})).toThrow(
      'Item size to update has exceeded the maximum allowed size',
    )
  })

  test('more different expressions than the cache holds all keep working', () => {
    for (let index = 0; index < 1200; index++) {
      const condition = parseCondition(
        `a${index} = :v`,
        'ConditionExpression',
        createPlaceholders(undefined, { ':v': index }),
      )
      expect(evaluate(condition, { [`a${index}`]: index })).toBe(true)
    }
  })

  test('one text gives each request its own values', () => {
    const one = parseCondition(
      '#n = :v',
      'ConditionExpression',
      createPlaceholders({ '#n': 'a' }, { ':v': 1 }),
    )
    const two = parseCondition(
      '#n = :v',
      'ConditionExpression',
      createPlaceholders({ '#n': 'b' }, { ':v': 2 }),
    )
    expect(evaluate(one, { a: 1, b: 3 })).toBe(true)
    expect(evaluate(two, { a: 1, b: 3 })).toBe(false)
  })
})

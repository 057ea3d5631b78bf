import { issueDetails } from '@strongroom/kit/http/validation'
import { describe, expect, test } from 'vitest'
import { Filter } from '../../src/filters/filter.ts'
import { MAX_VALUE_DEPTH } from '../../src/filters/json.ts'
import { refusal } from '../support/received-events.ts'

const right = { path: '$.a', operator: 'equals', value: 1 }

function times(count: number): unknown[] {
  return Array.from({ length: count }, () => right)
}

function nested(groups: number): unknown {
  return groups === 0 ? right : { not: nested(groups - 1) }
}

describe('a filter is rejected with', () => {
  const cases: [what: string, rules: unknown, path: string, message: RegExp][] = [
    ['no list of conditions', { path: '$.a' }, '', /list of conditions/],
    ['a rule that is not an object', ['$.a'], '0', /object/],
    [
      'an unknown operator',
      [right, { ...right, operator: 'like' }],
      '1.operator',
      /Invalid option/,
    ],
    ['an unknown attribute', [{ ...right, flags: 'i' }], '0', /Unrecognized key/],
    ['two kinds of groups in one', [{ all: [right], any: [right] }], '0.path', /expected string/],
    ['an empty group', [{ any: [] }], '0.any', /at least one/],
    ['a group that is not a list', [{ all: right }], '0.all', /at least one/],
    [
      'an invalid nested rule',
      [right, { all: [{ not: { ...right, path: 'a' } }] }],
      '1.all.0.not.path',
      /Is not a path/,
    ],
    [
      'a path that cannot be parsed',
      [{ ...right, path: '$.a[?(@.b)]' }],
      '0.path',
      /from character 4/,
    ],
    ['an incomplete path', [{ ...right, path: '$.a.' }], '0.path', /from character 4/],
    ['recursive descent', [{ ...right, path: '$..a' }], '0.path', /from character 2/],
    ['a path without a header name', [{ ...right, path: '$headers' }], '0.path', /one value/],
    ['a path into a query value', [{ ...right, path: '$query.a.b' }], '0.path', /one value/],
    ['a part of the method', [{ ...right, path: '$method.a' }], '0.path', /no parts/],
    ['an unknown root', [{ ...right, path: '$body.a' }], '0.path', /Is not a path/],
    ['too many steps', [{ ...right, path: `$${'.a'.repeat(33)}` }], '0.path', /at most 32/],
    ['a long path', [{ ...right, path: `$.${'a'.repeat(500)}` }], '0.path', /500|long/i],
    ['no value', [{ path: '$.a', operator: 'equals' }], '0.value', /required/],
    [
      'an unused value',
      [{ ...right, operator: 'exists', value: false }],
      '0.value',
      /leave it out/,
    ],
    [
      'a deeply nested value',
      [{ ...right, value: JSON.parse('['.repeat(10_000) + ']'.repeat(10_000)) as unknown }],
      '0.value',
      /deeply/,
    ],
    ['in without a list', [{ ...right, operator: 'in', value: 'a' }], '0.value', /list/],
    [
      'in with a long list',
      [{ ...right, operator: 'in', value: Array(101).fill(1) }],
      '0.value',
      /100/,
    ],
    ['an infinite number', [{ ...right, operator: 'gt', value: Infinity }], '0.value', /too large/],
    ['an unsafe integer', [{ ...right, value: [{ id: 2 ** 53 }] }], '0.value', /neighbours/],
    ['a boolean for gt', [{ ...right, operator: 'gt', value: true }], '0.value', /number/],
    [
      'an empty starts_with',
      [{ ...right, operator: 'starts_with', value: '' }],
      '0.value',
      /not empty/,
    ],
    ['a pattern that is not text', [{ ...right, operator: 'regex', value: 1 }], '0.value', /text/],
    [
      'a pattern with an open bracket',
      [{ ...right, operator: 'regex', value: '(a' }],
      '0.value',
      /missing closing/,
    ],
    ['a lookahead', [{ ...right, operator: 'regex', value: '(?=a)b' }], '0.value', /RE2/],
    ['a backreference', [{ ...right, operator: 'regex', value: '(a)\\1' }], '0.value', /RE2/],
    [
      'a pattern with too many repetitions',
      [{ ...right, operator: 'regex', value: '(a{100}){9}' }],
      '0.value',
      /Repeats too much/,
    ],
    ['a long pattern', [{ ...right, operator: 'regex', value: 'a'.repeat(257) }], '0.value', /256/],
    ['too many conditions', [{ any: times(51) }], '0.any.50', /at most 50/],
    ['groups nested too deeply', [nested(6)], '0.not.not.not.not.not', /at most 5/],
    [
      'groups nested far too deeply',
      [JSON.parse('{"not":'.repeat(9_000) + '1' + '}'.repeat(9_000)) as unknown],
      '0.not.not.not.not.not',
      /at most 5/,
    ],
    ['a long filter', [{ ...right, value: 'a'.repeat(65_536) }], '', /65536/],
  ]
  test.each(cases)('%s', (_what, rules, path, message) => {
    const [[at, text] = []] = refusal(rules)
    expect(at).toBe(path)
    expect(text).toMatch(message)
  })

  test('the path of each problem, which the client gets', () => {
    const { error } = Filter.safeParse([{ any: [right, { path: '$.a', operater: 'equals' }] }])
    expect(issueDetails('body.filters', error?.issues ?? [])).toContainEqual({
      path: 'body.filters[0].any[1].operater',
      message: 'Is not a known field',
    })
  })
})

test('a filter with the maximum depth and number of conditions is accepted', () => {
  expect(Filter.safeParse([nested(5)]).success).toBe(true)
  expect(Filter.safeParse(times(50)).success).toBe(true)
})

test('a comparison accepts a number of any size, and equality every safe integer', () => {
  const bound = { path: '$.a', operator: 'gte', value: 1e300 }
  const least = { ...right, value: Number.MIN_SAFE_INTEGER }
  expect(Filter.safeParse([bound, least, { ...right, value: 0.1 }]).success).toBe(true)
})

test('a value may be nested as deep as MAX_VALUE_DEPTH, and no deeper', () => {
  const nestedValue = (depth: number): unknown =>
    JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`)
  expect(Filter.safeParse([{ ...right, value: nestedValue(MAX_VALUE_DEPTH) }]).success).toBe(true)
  expect(refusal([{ ...right, value: nestedValue(MAX_VALUE_DEPTH + 1) }])).toEqual([
    ['0.value', 'Is nested too deeply: use at most 16 levels'],
  ])
})

test('patterns that take long to compile are rejected before they are compiled', () => {
  const pattern = (value: string) => ({ path: '$.a', operator: 'regex', value })
  const tooMany = /Uses too many Unicode classes/
  const folded = pattern(`(?i)[${'a-\\x{10ffff}'.repeat(18)}]`)
  expect(refusal([folded])).toEqual([['0', expect.stringMatching(tooMany)]])
  const classes = Array.from({ length: 50 }, () => pattern('[^\\pL]'.repeat(42)))
  expect(refusal(classes)).toEqual([['4', expect.stringMatching(tooMany)]])
  const repeated = refusal([pattern('a{1000}'.repeat(36))])
  expect(repeated).toEqual([['0.value', expect.stringMatching(/Repeats too much/)]])
  expect(Filter.safeParse([pattern('(?i)[а-яё]+ \\p{Lu}'), pattern('^\\pL{2,40}$')]).success).toBe(
    true,
  )
})

import { issueDetails } from '@strongroom/kit/http/validation'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Filter } from '../../src/filters/filter.ts'
import { InvalidPath, parsePath } from '../../src/filters/path.ts'
import { compilePattern, InvalidPattern } from '../../src/filters/pattern.ts'
import { limitedWork } from '../../src/filters/work.ts'
import { match, received, refusal } from './events.ts'

const right = { path: '$.a', operator: 'equals', value: 1 }

function nested(groups: number): unknown {
  return groups === 0 ? right : { not: nested(groups - 1) }
}

describe('a filter that is refused', () => {
  const cases: [what: string, rules: unknown, path: string, message: RegExp][] = [
    ['no list', { path: '$.a' }, '', /list of conditions/],
    ['a rule that is no object', ['$.a'], '0', /object/],
    [
      'an unknown operator',
      [right, { ...right, operator: 'like' }],
      '1.operator',
      /Invalid option/,
    ],
    ['an unknown attribute', [{ ...right, flags: 'i' }], '0', /Unrecognized key/],
    ['two kinds of groups in one', [{ all: [right], any: [right] }], '0.path', /expected string/],
    ['an empty group', [{ any: [] }], '0.any', /at least one/],
    ['a group that is no list', [{ all: right }], '0.all', /at least one/],
    [
      'a wrong rule deep inside',
      [right, { all: [{ not: { ...right, path: 'a' } }] }],
      '1.all.0.not.path',
      /Is not a path/,
    ],
    [
      'a path that cannot be read',
      [{ ...right, path: '$.a[?(@.b)]' }],
      '0.path',
      /from character 4/,
    ],
    ['a path without an end', [{ ...right, path: '$.a.' }], '0.path', /from character 4/],
    ['recursive descent', [{ ...right, path: '$..a' }], '0.path', /from character 2/],
    ['a path to no header', [{ ...right, path: '$headers' }], '0.path', /one value/],
    ['a path into a query value', [{ ...right, path: '$query.a.b' }], '0.path', /one value/],
    ['a part of the method', [{ ...right, path: '$method.a' }], '0.path', /no parts/],
    ['an unknown root', [{ ...right, path: '$body.a' }], '0.path', /Is not a path/],
    ['too many steps', [{ ...right, path: `$${'.a'.repeat(33)}` }], '0.path', /more than 32/],
    ['a long path', [{ ...right, path: `$.${'a'.repeat(500)}` }], '0.path', /500|long/i],
    ['no value', [{ path: '$.a', operator: 'equals' }], '0.value', /required/],
    [
      'a value that is not used',
      [{ ...right, operator: 'exists', value: false }],
      '0.value',
      /leave it out/,
    ],
    [
      'a deep value',
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
    ['gt of a boolean', [{ ...right, operator: 'gt', value: true }], '0.value', /number/],
    [
      'starts_with of nothing',
      [{ ...right, operator: 'starts_with', value: '' }],
      '0.value',
      /not empty/,
    ],
    ['a pattern that is no text', [{ ...right, operator: 'regex', value: 1 }], '0.value', /text/],
    [
      'a pattern with an open bracket',
      [{ ...right, operator: 'regex', value: '(a' }],
      '0.value',
      /missing closing/,
    ],
    ['a lookahead', [{ ...right, operator: 'regex', value: '(?=a)b' }], '0.value', /RE2/],
    ['a backreference', [{ ...right, operator: 'regex', value: '(a)\\1' }], '0.value', /RE2/],
    [
      'a pattern that repeats much',
      [{ ...right, operator: 'regex', value: '(a{100}){9}' }],
      '0.value',
      /Repeats too much/,
    ],
    ['a long pattern', [{ ...right, operator: 'regex', value: 'a'.repeat(257) }], '0.value', /256/],
    ['too many conditions', [{ any: Array(51).fill(right) }], '0.any.50', /at most 50/],
    ['too deep groups', [nested(6)], '0.not.not.not.not.not', /at most 5/],
    [
      'far too deep groups',
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

  test('is told to the client by the path of what is wrong', () => {
    const { error } = Filter.safeParse([{ any: [right, { path: '$.a', operater: 'equals' }] }])
    expect(issueDetails('body.filters', error?.issues ?? [])).toContainEqual({
      path: 'body.filters[0].any[1].operater',
      message: 'Is not a known field',
    })
  })
})

test('a filter of the greatest depth and number is taken', () => {
  expect(Filter.safeParse([nested(5)]).success).toBe(true)
  expect(Filter.safeParse(Array(50).fill(right)).success).toBe(true)
})

test('whatever is sent as a filter, it is refused or it can be used', () => {
  const operator = fc.constantFrom('equals', 'contains', 'regex', 'gt', 'in', 'exists', 'bogus')
  const path = fc.oneof(fc.constantFrom('$.a', '$.b[0]', '$[*]', '$method'), fc.string())
  const { rule } = fc.letrec((tie) => ({
    rule: fc.oneof(
      { maxDepth: 4 },
      fc.record({ path, operator, value: fc.jsonValue() }, { requiredKeys: ['path', 'operator'] }),
      fc.record({ all: fc.array(tie('rule'), { maxLength: 3 }) }),
      fc.record({ any: fc.array(tie('rule'), { maxLength: 3 }) }),
      fc.record({ not: tie('rule') }),
      fc.jsonValue(),
    ),
  }))
  const event = fc.oneof(fc.jsonValue(), fc.string(), fc.uint8Array())
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 3 }), event, (rules, body) => {
      if (!Filter.safeParse(rules).success) return
      const { matched, reason } = match(rules, received(body))
      expect(matched).toBe(reason === undefined)
    }),
  )
})

test('"not" never holds together with what is under it', () => {
  const condition = fc.record({
    path: fc.constantFrom('$.a', '$.a[*]', '$'),
    operator: fc.constantFrom('equals', 'not_equals', 'contains', 'not_contains', 'gt', 'lte'),
    value: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('', '1')),
  })
  const a = fc.jsonValue({ maxDepth: 2 })
  fc.assert(
    fc.property(condition, fc.oneof(fc.record({ a }), fc.string()), (rule, body) => {
      const event = received(body)
      const [isSo, isNot] = [match([rule], event), match([{ not: rule }], event)]
      if (isSo.matched) expect(isNot.matched).toBe(false)
      if (typeof body !== 'string') expect(isNot.matched).toBe(!isSo.matched)
    }),
  )
})

test('any text is a path or refused as none', () => {
  const path = fc.oneof(
    fc.string(),
    fc
      .array(fc.constantFrom('$', '.a', '[0]', '[*]', "['b']", '[', '.', "'", '$headers'))
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(path, (text) => {
      try {
        expect(parsePath(text).steps.length).toBeLessThanOrEqual(32)
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidPath)
      }
    }),
  )
})

test('any name can be written in brackets', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100 }), (name) => {
      const quoted = name.replace(/['\\]/g, '\\$&')
      expect(parsePath(`$['${quoted}']`).steps).toEqual([name])
    }),
  )
})

test('any text is a pattern or refused as none, and finds what JavaScript finds', () => {
  const parts = fc.constantFrom(
    'a',
    'b',
    '.',
    '*',
    '+',
    '?',
    '(',
    ')',
    '|',
    '[ab]',
    '^',
    '$',
    '{2}',
  )
  const source = fc.array(parts, { maxLength: 8 }).map((all) => all.join(''))
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })
  fc.assert(
    fc.property(source, text, (pattern, input) => {
      try {
        const found = compilePattern(pattern).test(input, limitedWork())
        expect(found).toBe(new RegExp(pattern).test(input))
      } catch (error) {
        if (!(error instanceof SyntaxError)) expect(error).toBeInstanceOf(InvalidPattern)
      }
    }),
  )
})

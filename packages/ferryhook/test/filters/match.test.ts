import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Filter } from '../../src/filters/filter.ts'
import { FilterSyntaxError, parsePath } from '../../src/filters/path.ts'
import { compilePattern } from '../../src/filters/pattern.ts'
import { createBudget } from '../../src/filters/budget.ts'
import { match, received } from '../support/received-events.ts'

test('any input is either a filter that can be matched or rejected by the schema', () => {
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
      fc.pre(Filter.safeParse(rules).success)
      const { matched, reason } = match(rules, received(body))
      expect(matched).toBe(reason === undefined)
    }),
  )
})

const condition = fc.record({
  path: fc.constantFrom('$.a', '$.a[*]', '$'),
  operator: fc.constantFrom('equals', 'not_equals', 'contains', 'not_contains', 'gt', 'lte'),
  value: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('', '1')),
})

test('on JSON, exactly one of a condition and its "not" matches', () => {
  const document = fc.record({ a: fc.jsonValue({ maxDepth: 2 }) })
  fc.assert(
    fc.property(condition, document, (rule, body) => {
      const event = received(body)
      expect(match([{ not: rule }], event).matched).toBe(!match([rule], event).matched)
    }),
  )
})

test('on a body that is not JSON, neither a condition nor its "not" matches', () => {
  fc.assert(
    fc.property(condition, fc.string(), (rule, text) => {
      const event = received(`not JSON: ${text}`)
      const results = [match([rule], event), match([{ not: rule }], event)]
      expect(results.map(({ matched }) => matched)).toEqual([false, false])
    }),
  )
})

test('any text is either parsed as a path or rejected with a syntax error', () => {
  const parts = fc.constantFrom('$', '.a', '[0]', '[*]', "['b']", '[', '.', "'", '$headers')
  const path = fc.oneof(
    fc.string(),
    fc.array(parts).map((all) => all.join('')),
  )
  fc.assert(
    fc.property(path, (text) => {
      expect(thrownBy(() => parsePath(text)) ?? new FilterSyntaxError()).toBeInstanceOf(
        FilterSyntaxError,
      )
    }),
  )
})

test('any name can be quoted in brackets', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100 }), (name) => {
      const quoted = name.replace(/['\\]/g, '\\$&')
      expect(parsePath(`$['${quoted}']`).steps).toEqual([name])
    }),
  )
})

test('a pattern either matches what JavaScript matches or is rejected', () => {
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
      const refused = thrownBy(() => compilePattern(pattern))
      fc.pre(!(refused instanceof FilterSyntaxError) && !thrownBy(() => new RegExp(pattern)))
      const found = compilePattern(pattern).test(input, createBudget())
      expect(found).toBe(new RegExp(pattern).test(input))
    }),
  )
})

function thrownBy(act: () => unknown): unknown {
  try {
    act()
    return undefined
  } catch (error) {
    return error
  }
}

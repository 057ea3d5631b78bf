import { describe, expect, test } from 'vitest'
import { MAX_BODY_BYTES } from '../../src/events/values.ts'
import { createBudget } from '../../src/filters/budget.ts'
import { Filter } from '../../src/filters/filter.ts'
import { matchFilter } from '../../src/filters/match.ts'
import type { ReceivedEvent } from '../../src/filters/received-event.ts'
import { holds, match, received } from '../support/received-events.ts'

test('wildcards walk a document of 256 KB', () => {
  const event = received(`[${'{"a":1},'.repeat(29_000)}{"a":2}]`)
  expect(event.body.byteLength).toBeGreaterThan(230_000)
  expect(holds('$[*].a', 'equals', 2, event)).toBe(true)
  expect(holds('$[*].a', 'equals', 3, event)).toBe(false)
})

test.each([10_000, 100_000])('a document nested %i levels deep can be filtered', (depth) => {
  const lists = received('['.repeat(depth) + ']'.repeat(depth))
  expect(holds('$[0][0][0]', 'exists', undefined, lists)).toBe(true)
  expect(holds('$[0]', 'equals', [[[]]], lists)).toBe(false)
  expect(holds('$[*][*]', 'contains', [], lists)).toBe(false)
  const objects = received(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)
  expect(holds('$.a.a', 'equals', { a: 1 }, objects)).toBe(false)
})

describe('a regular expression', () => {
  test('with nested repetitions is matched in linear time', () => {
    const event = received({ text: `${'a'.repeat(5_000)}!` })
    expect(holds('$.text', 'regex', '^(a+)+$', event)).toBe(false)
    expect(holds('$.text', 'regex', '(a|a)*b', event)).toBe(false)
    expect(holds('$.text', 'regex', '^(a|aa)+!$', event)).toBe(true)
  })

  test('that exceeds the budget leaves the filter undecided, and the event does not pass', () => {
    const event = received({ text: 'ab'.repeat(MAX_BODY_BYTES / 4) })
    const rule = { path: '$.text', operator: 'regex', value: '(a|b)*a(a|b){50}z' }
    const reason = 'filters[0]: $.text takes too long to check for this event'
    expect(match([rule], event)).toEqual({ matched: false, reason })
    expect(match([{ not: rule }], event).matched).toBe(false)
  })
})

test('a large object is counted once, and not again for each comparison', () => {
  const names = Array.from({ length: 20_000 }, (_, index) => [`n${index}`, 1])
  const value = Array.from({ length: 100 }, (_, index) => ({ a: index }))
  const rules = Array.from({ length: 50 }, () => ({ not: { path: '$', operator: 'in', value } }))
  expect(match(rules, received(Object.fromEntries(names))).matched).toBe(true)
})

test('many comparisons of many values exceed the budget', () => {
  const event = received(`[${'1,'.repeat(100_000)}1]`)
  const value = Array.from({ length: 100 }, (_, index) => index + 2)
  const rule = { path: '$[*]', operator: 'in', value }
  const rules = Array.from({ length: 50 }, () => ({ not: rule }))
  expect(match(rules, event).reason).toMatch(/takes too long/)
})

describe('the budget is charged before the work', () => {
  const ones = () => received(`[${'1,'.repeat(131_000)}1]`)
  const spentBy = (rules: object[], event: ReceivedEvent) => {
    const budget = createBudget()
    matchFilter(Filter.parse(rules), event, budget)
    return budget.spent
  }
  const fifty = (condition: object) => Array.from({ length: 50 }, () => ({ not: condition }))

  test('so that conditions after the last that fits expand nothing', () => {
    const rules = fifty({ path: '$[*]', operator: 'not_exists' })
    const fits = rules.slice(0, 6)
    // Each of them spends two units to find out.
    expect(spentBy(rules, ones()) - spentBy(fits, ones())).toBeLessThanOrEqual(88)
    expect(match(rules, ones()).reason).toMatch(/takes too long/)
  })

  test('and a query string and headers are parsed once for all conditions', () => {
    const query = 'a&'.repeat(4_096)
    const names = Array.from({ length: 1_000 }, (_, index) => [`h${index}`, ''])
    const headers = Object.fromEntries(names) as Record<string, string>
    for (const path of ['$query.x', '$headers.x']) {
      const one = spentBy([{ path, operator: 'not_exists' }], received({}, { query, headers }))
      const event = received({}, { query, headers })
      const all = spentBy(fifty({ path, operator: 'exists' }), event)
      expect(all - one).toBe(49)
    }
  })

  test('and so is the body, also for the filters of other connections', () => {
    const event = received({ text: 'a'.repeat(200_000) })
    const filter = [{ path: '$.missing', operator: 'not_exists' }]
    expect(spentBy(filter, event)).toBeGreaterThan(50_000)
    expect(spentBy(filter, event)).toBeLessThan(10)
  })
})

test('a form that repeats one name many times is parsed quickly', () => {
  const contentType = 'application/x-www-form-urlencoded'
  const event = received('a=&'.repeat(MAX_BODY_BYTES / 3), { contentType })
  expect(holds('$.a[80000]', 'equals', '', event)).toBe(true)
})

test('a reason never contains half a surrogate pair, which no store accepts', () => {
  const paths = [`$.${'a'.repeat(77)}😀`, `$.${'a'.repeat(77)}😀b`, '$.\ud83d', '$.\ude00x']
  for (const path of paths) {
    const { reason = '' } = match([{ path, operator: 'exists' }], received({}))
    expect(reason).toContain(' does not exist')
    expect(Buffer.from(reason).toString()).toBe(reason)
  }
})

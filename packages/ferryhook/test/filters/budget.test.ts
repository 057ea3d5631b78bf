import { describe, expect, test } from 'vitest'
import { MAX_BODY_BYTES } from '../../src/events/item.ts'
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

test('many comparisons with a large object exceed the budget', () => {
  const names = Array.from({ length: 20_000 }, (_, index) => [`n${index}`, 1])
  const value = Array.from({ length: 100 }, (_, index) => ({ a: index }))
  const rule = { not: { path: '$', operator: 'in', value } }
  const { reason } = match([rule], received(Object.fromEntries(names)))
  expect(reason).toMatch(/takes too long/)
})

test('many comparisons of many values exceed the budget', () => {
  const event = received(`[${'1,'.repeat(100_000)}1]`)
  const value = Array.from({ length: 100 }, (_, index) => index + 2)
  const rule = { path: '$[*]', operator: 'in', value }
  const rules = Array.from({ length: 50 }, () => ({ not: rule }))
  expect(match(rules, event).reason).toMatch(/takes too long/)
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

import { describe, expect, test } from 'vitest'
import { longestBody } from '../../src/items/event.ts'
import { holds, match, received } from './events.ts'

test('a document of 256 KB is walked by wildcards', () => {
  const event = received(`[${'{"a":1},'.repeat(29_000)}{"a":2}]`)
  expect(event.body.byteLength).toBeGreaterThan(230_000)
  expect(holds('$[*].a', 'equals', 2, event)).toBe(true)
  expect(holds('$[*].a', 'equals', 3, event)).toBe(false)
})

test.each([10_000, 100_000])(
  'a document nested %i levels deep does not break anything',
  (depth) => {
    const lists = received('['.repeat(depth) + ']'.repeat(depth))
    expect(holds('$[0][0][0]', 'exists', undefined, lists)).toBe(true)
    expect(holds('$[0]', 'equals', [[[]]], lists)).toBe(false)
    expect(holds('$[*][*]', 'contains', [], lists)).toBe(false)
    const objects = received(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)
    expect(holds('$.a.a', 'equals', { a: 1 }, objects)).toBe(false)
  },
)

describe('a regular expression', () => {
  test('that others take ages for is quick', () => {
    const event = received({ text: `${'a'.repeat(5_000)}!` })
    expect(holds('$.text', 'regex', '^(a+)+$', event)).toBe(false)
    expect(holds('$.text', 'regex', '(a|a)*b', event)).toBe(false)
    expect(holds('$.text', 'regex', '^(a|aa)+!$', event)).toBe(true)
  })

  test('that has too much to read leaves the filter undecided, and the event does not pass', () => {
    const event = received({ text: 'ab'.repeat(longestBody / 4) })
    const rule = { path: '$.text', operator: 'regex', value: '(a|b)*a(a|b){50}z' }
    const reason = 'filters[0]: $.text regex takes too long to check on this event'
    expect(match([rule], event)).toEqual({ matched: false, reason })
    expect(match([{ not: rule }], event).matched).toBe(false)
  })
})

test('many comparisons with a large object end', () => {
  const names = Array.from({ length: 20_000 }, (_, index) => [`n${index}`, 1])
  const value = Array.from({ length: 100 }, (_, index) => ({ a: index }))
  const rule = { not: { path: '$', operator: 'in', value } }
  const { reason } = match([rule], received(Object.fromEntries(names)))
  expect(reason).toMatch(/takes too long/)
})

test('many comparisons of many values end', () => {
  const event = received(`[${'1,'.repeat(100_000)}1]`)
  const value = Array.from({ length: 100 }, (_, index) => index + 2)
  const rule = { path: '$[*]', operator: 'in', value }
  const rules = Array.from({ length: 50 }, () => ({ not: rule }))
  expect(match(rules, event).reason).toMatch(/takes too long/)
})

test('a form with one name many times is read in a moment', () => {
  const contentType = 'application/x-www-form-urlencoded'
  const event = received('a=&'.repeat(longestBody / 3), { contentType })
  expect(holds('$.a[80000]', 'equals', '', event)).toBe(true)
})

test('a reason never holds half a character, which no store can keep', () => {
  const paths = [`$.${'a'.repeat(77)}😀`, `$.${'a'.repeat(77)}😀b`, '$.\ud83d', '$.\ude00x']
  for (const path of paths) {
    const { reason = '' } = match([{ path, operator: 'exists' }], received({}))
    expect(reason).toContain('exists does not hold')
    expect(Buffer.from(reason).toString()).toBe(reason)
  }
})

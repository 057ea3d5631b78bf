import { describe, expect, test } from 'vitest'
import { holds, match, received } from '../support/received-events.ts'

const event = received({
  type: 'invoice.paid',
  amount: 100,
  code: '100',
  live: true,
  note: null,
  created: '2026-11-15T10:00:00Z',
  tags: ['a', 'b'],
  items: [{ id: 1, name: 'one' }, { id: 2 }],
  customer: { id: 'cus_1', address: { city: 'Bern', zip: 3000 } },
})

describe('operators on the body', () => {
  const cases: [operator: string, path: string, value: unknown, expected: boolean][] = [
    ['equals', '$.type', 'invoice.paid', true],
    ['equals', '$.type', 'invoice', false],
    ['equals', '$.amount', 100, true],
    ['equals', '$.amount', '100', false],
    ['equals', '$.code', 100, false],
    ['equals', '$.live', true, true],
    ['equals', '$.live', 'true', false],
    ['equals', '$.note', null, true],
    ['equals', '$.missing', null, false],
    ['equals', '$.tags', ['a', 'b'], true],
    ['equals', '$.tags', ['b', 'a'], false],
    ['equals', '$.customer.address', { zip: 3000, city: 'Bern' }, true],
    ['equals', '$.customer.address', { city: 'Bern' }, false],
    ['equals', '$.customer.address', { city: 'Bern', zip: 3000, more: 1 }, false],
    ['not_equals', '$.type', 'invoice.paid', false],
    ['not_equals', '$.type', 'other', true],
    ['not_equals', '$.amount', '100', true],
    ['not_equals', '$.missing', 'x', true],
    ['contains', '$.type', 'voice', true],
    ['contains', '$.type', 'Voice', false],
    ['contains', '$.tags', 'a', true],
    ['contains', '$.tags', 'ab', false],
    ['contains', '$.items', { id: 2 }, true],
    ['contains', '$.customer', 'id', false],
    ['contains', '$.amount', 1, false],
    ['contains', '$.missing', 'x', false],
    ['not_contains', '$.tags', 'c', true],
    ['not_contains', '$.tags', 'a', false],
    ['not_contains', '$.missing', 'a', true],
    ['exists', '$.type', undefined, true],
    ['exists', '$.note', undefined, true],
    ['exists', '$.missing', undefined, false],
    ['exists', '$.type.deeper', undefined, false],
    ['exists', '$.toString', undefined, false],
    ['exists', '$.tags.length', undefined, false],
    ['not_exists', '$.missing', undefined, true],
    ['not_exists', '$.note', undefined, false],
    ['regex', '$.type', '^invoice\\.(paid|failed)$', true],
    ['regex', '$.type', 'PAID', false],
    ['regex', '$.type', '(?i)PAID', true],
    ['regex', '$.amount', '1', false],
    ['gt', '$.amount', 99.5, true],
    ['gt', '$.amount', 100, false],
    ['gt', '$.amount', '99', false],
    ['gt', '$.code', 99, false],
    ['gt', '$.missing', 1, false],
    ['gte', '$.amount', 100, true],
    ['gte', '$.amount', 101, false],
    ['lt', '$.amount', 101, true],
    ['lt', '$.amount', 100, false],
    ['lte', '$.amount', 100, true],
    ['lte', '$.amount', 99, false],
    ['gt', '$.created', '2026-01-01', true],
    ['lt', '$.created', '2026-01-01', false],
    ['in', '$.type', ['invoice.paid', 'x'], true],
    ['in', '$.type', ['x'], false],
    ['in', '$.amount', ['100'], false],
    ['in', '$.amount', [1, 100], true],
    ['starts_with', '$.type', 'invoice.', true],
    ['starts_with', '$.type', 'paid', false],
    ['starts_with', '$.amount', '1', false],
    ['ends_with', '$.type', '.paid', true],
    ['ends_with', '$.type', 'invoice', false],
  ]
  test.each(cases)('%s: %s, %j is %j', (operator, path, value, expected) => {
    expect(holds(path, operator, value, event)).toBe(expected)
  })
})

describe('headers, query and method', () => {
  const request = received(
    {},
    {
      method: 'PUT',
      headers: { 'X-GitHub-Event': 'push', 'content-length': '512', 'x-many': ['one', 'two'] },
      query: 'page=2&live=true&tag=a&tag=b&empty=&odd.name=1',
    },
  )

  test('header names are case-insensitive', () => {
    expect(holds('$headers.x-github-event', 'equals', 'push', request)).toBe(true)
    expect(holds("$headers['X-GITHUB-EVENT']", 'equals', 'push', request)).toBe(true)
    expect(holds('$headers.x-gitlab-event', 'exists', undefined, request)).toBe(false)
  })

  test('text is converted if the condition has a number or a boolean', () => {
    expect(holds('$headers.content-length', 'gt', 511, request)).toBe(true)
    expect(holds('$headers.content-length', 'equals', 512, request)).toBe(true)
    expect(holds('$headers.content-length', 'equals', '512', request)).toBe(true)
    expect(holds('$query.page', 'in', [1, 2], request)).toBe(true)
    expect(holds('$query.live', 'equals', true, request)).toBe(true)
    expect(holds('$query.live', 'gt', 0, request)).toBe(false)
    expect(holds('$query.empty', 'equals', 0, request)).toBe(false)
  })

  test('one of several values with the same name is enough', () => {
    expect(holds('$query.tag', 'equals', 'b', request)).toBe(true)
    expect(holds('$headers.x-many', 'equals', 'two', request)).toBe(true)
    expect(holds('$query.tag', 'not_equals', 'b', request)).toBe(false)
  })

  test('a name may contain dots', () => {
    expect(holds("$query['odd.name']", 'equals', '1', request)).toBe(true)
  })

  test('the method can be tested', () => {
    expect(holds('$method', 'in', ['PUT', 'PATCH'], request)).toBe(true)
    expect(holds('$method', 'equals', 'POST', request)).toBe(false)
  })

  test('a request without a query has no values', () => {
    expect(holds('$query.page', 'not_exists', undefined, received({}))).toBe(true)
  })
})

describe('paths', () => {
  const odd = received({
    'odd.key': 1,
    "it's": 2,
    'a-b': { 'c d': 3 },
    __proto__x: 0,
    list: [[1, 2], [3]],
    items: [{ id: 1, tags: ['x'] }, { id: 2, tags: [] }, { tags: null }],
    byName: { first: { n: 1 }, second: { n: 2 } },
  })
  const cases: [path: string, operator: string, value: unknown, expected: boolean][] = [
    ["$['odd.key']", 'equals', 1, true],
    ['$["odd.key"]', 'equals', 1, true],
    ['$.odd.key', 'exists', undefined, false],
    ["$['it\\'s']", 'equals', 2, true],
    ["$.a-b['c d']", 'equals', 3, true],
    ['$.list[0][1]', 'equals', 2, true],
    ['$.list.1.0', 'equals', 3, true],
    ['$.list[-1][0]', 'equals', 3, true],
    ['$.list[-3]', 'exists', undefined, false],
    ['$.list[2]', 'exists', undefined, false],
    ['$.items[*].id', 'equals', 2, true],
    ['$.items[*].id', 'equals', 3, false],
    ['$.items[*].id', 'not_equals', 2, false],
    ['$.items[*].id', 'not_equals', 3, true],
    ['$.items[*].id', 'gt', 1, true],
    ['$.items[*].tags[*]', 'equals', 'x', true],
    ['$.items[*].missing', 'not_exists', undefined, true],
    ['$.byName[*].n', 'equals', 2, true],
    ['$.byName.*.n', 'equals', 2, true],
    ['$', 'exists', undefined, true],
    ['$.__proto__', 'exists', undefined, false],
    ['$.constructor', 'exists', undefined, false],
  ]
  test.each(cases)('%s %s %j is %j', (path, operator, value, expected) => {
    expect(holds(path, operator, value, odd)).toBe(expected)
  })

  test('the whole body may be a list', () => {
    expect(holds('$[1].id', 'equals', 2, received([{ id: 1 }, { id: 2 }]))).toBe(true)
  })

  test('names such as __proto__ are ordinary names if the body has them', () => {
    const named = received('{"__proto__":{"admin":true}}')
    expect(holds('$.__proto__.admin', 'equals', true, named)).toBe(true)
    expect(holds('$.admin', 'exists', undefined, named)).toBe(false)
  })
})

describe('groups', () => {
  const yes = { path: '$.type', operator: 'equals', value: 'invoice.paid' }
  const no = { path: '$.type', operator: 'equals', value: 'other' }
  const cases: [rules: unknown, expected: boolean][] = [
    [[], true],
    [[yes, yes], true],
    [[yes, no], false],
    [[{ any: [no, yes] }], true],
    [[{ any: [no, no] }], false],
    [[{ all: [yes, { any: [no, yes] }] }], true],
    [[{ all: [yes, no] }], false],
    [[{ not: no }], true],
    [[{ not: yes }], false],
    [[{ not: { any: [no, { all: [yes, { not: yes }] }] } }], true],
    [[yes, { not: { all: [yes, yes] } }], false],
  ]
  test.each(cases)('%j is %j', (rules, expected) => {
    expect(match(rules, event).matched).toBe(expected)
  })

  test('the reason names the rule that does not match, and what it expects', () => {
    expect(match([yes, no], event).reason).toBe('filters[1]: $.type is not "other"')
    expect(match([{ any: [no] }], event).reason).toBe('filters[0]: no condition of "any" matches')
    expect(match([{ all: [yes, { not: yes }] }], event).reason).toBe(
      'filters[0].all[1]: the condition of "not" matches',
    )
    expect(match([yes], event)).toEqual({ matched: true })
  })

  test('the reason fits into the stored attribute, however long the path is', () => {
    const path = `$${'.abcdefgh'.repeat(30)}`
    const { reason } = match([{ path, operator: 'equals', value: 1 }], event)
    expect(reason).toMatch(/ is not 1$/)
    expect(reason?.length).toBeLessThanOrEqual(200)
  })
})

describe('the reason of a condition that does not match', () => {
  const cases: [operator: string, path: string, value: unknown, reason: string][] = [
    ['equals', '$.type', 'odd', '$.type is not "odd"'],
    ['not_equals', '$.amount', 100, '$.amount is 100'],
    ['contains', '$.tags', 'c', '$.tags does not contain "c"'],
    ['not_contains', '$.tags', 'a', '$.tags contains "a"'],
    ['exists', '$.missing', undefined, '$.missing does not exist'],
    ['not_exists', '$.type', undefined, '$.type exists'],
    ['regex', '$.type', '^x+$', '$.type does not match /^x+$/'],
    ['gt', '$.amount', 100, '$.amount is not greater than 100'],
    ['gte', '$.amount', 101, '$.amount is not at least 101'],
    ['lt', '$.amount', 100, '$.amount is not less than 100'],
    ['lte', '$.amount', 99, '$.amount is not at most 99'],
    ['in', '$.type', ['a', 'b'], '$.type is not one of "a", "b"'],
    ['starts_with', '$.type', 'x', '$.type does not start with "x"'],
    ['ends_with', '$.type', 'x', '$.type does not end with "x"'],
    ['equals', '$.type', 'a'.repeat(99), `$.type is not "${'a'.repeat(59)}…`],
  ]
  test.each(cases)('%s %s %j', (operator, path, value, reason) => {
    const rule = { path, operator, ...(value !== undefined && { value }) }
    expect(match([rule], event).reason).toBe(`filters[0]: ${reason}`)
  })
})

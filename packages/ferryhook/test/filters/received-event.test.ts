import { describe, expect, test } from 'vitest'
import { holds, match, received } from '../support/received-events.ts'

const bodies: [name: string, body: string | Uint8Array][] = [
  ['text', 'hello'],
  ['nothing', ''],
  ['cut JSON', '{"type":"a"'],
  ['bytes that are not text', Uint8Array.of(0xff, 0xfe, 0x00)],
]

describe.each(bodies)('a body of %s', (_name, body) => {
  const event = received(body, { headers: { 'x-kind': 'odd' } })

  test('matches no condition except not_exists', () => {
    expect(holds('$.type', 'equals', 'a', event)).toBe(false)
    expect(holds('$.type', 'not_equals', 'a', event)).toBe(false)
    expect(holds('$.type', 'not_contains', 'a', event)).toBe(false)
    expect(holds('$.type', 'exists', undefined, event)).toBe(false)
    expect(holds('$.type', 'not_exists', undefined, event)).toBe(true)
  })

  test('does not pass a "not" either', () => {
    const rule = { path: '$.type', operator: 'equals', value: 'a' }
    const { matched, reason } = match([{ not: rule }], event)
    expect(matched).toBe(false)
    expect(reason).toBe('filters[0].not: $.type cannot be checked, because the body is not JSON')
    expect(match([{ not: { not: rule } }], event).matched).toBe(false)
    expect(match([{ not: { any: [rule] } }], event).matched).toBe(false)
    expect(match([{ not: { all: [rule] } }], event).matched).toBe(false)
  })

  test('passes a filter that is decided without the body', () => {
    const header = { path: '$headers.x-kind', operator: 'equals', value: 'odd' }
    const rule = { path: '$.type', operator: 'equals', value: 'a' }
    expect(match([header], event).matched).toBe(true)
    expect(match([{ any: [rule, header] }], event).matched).toBe(true)
    expect(match([header, rule], event).matched).toBe(false)
    expect(match([{ not: { all: [rule, { not: header }] } }], event).matched).toBe(true)
  })
})

describe('JSON', () => {
  test('is parsed whatever the content type says', () => {
    const types = ['text/plain', 'application/x-www-form-urlencoded', undefined]
    for (const contentType of types) {
      expect(holds('$.a', 'equals', 1, received({ a: 1 }, { contentType }))).toBe(true)
    }
  })

  test('may start with a byte order mark', () => {
    expect(holds('$.a', 'equals', 1, received('\uFEFF{"a":1}'))).toBe(true)
  })

  test('may be a scalar', () => {
    expect(holds('$', 'equals', 'text', received('"text"'))).toBe(true)
    expect(holds('$', 'equals', null, received('null'))).toBe(true)
    expect(holds('$.a', 'not_exists', undefined, received('null'))).toBe(true)
  })
})

describe('a form', () => {
  const contentType = 'application/x-www-form-urlencoded; charset=utf-8'
  const event = received('name=Ada+L&amount=12&tag=a&tag=b&__proto__=x', { contentType })

  test('has text values by name', () => {
    expect(holds('$.name', 'equals', 'Ada L', event)).toBe(true)
    expect(holds('$.amount', 'gte', 12, event)).toBe(true)
    expect(holds('$.tag', 'contains', 'b', event)).toBe(true)
    expect(holds('$.tag[1]', 'equals', 'b', event)).toBe(true)
    expect(holds('$.__proto__', 'equals', 'x', event)).toBe(true)
  })

  test('of one word is not parsed as JSON', () => {
    expect(holds('$.true', 'exists', undefined, received('true', { contentType }))).toBe(true)
  })
})

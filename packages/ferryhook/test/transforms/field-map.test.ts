import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import { applyTransform } from '../../src/transforms/apply.ts'
import type { TransformResult } from '../../src/transforms/result.ts'
import { Transform } from '../../src/transforms/transform.ts'
import { received } from '../support/received-events.ts'
import { failureOf, textOf } from '../support/scripts.ts'

// Never used: no thread is started.
const options = {
  sandbox: createSandbox(),
  scheduler: createWorkScheduler(),
  owner: 'usr_1',
}

function map(rules: unknown[], body: unknown, rest: object = {}): Promise<TransformResult> {
  const { start, ...event } = rest as { start?: string }
  const transform = Transform.parse({ type: 'field_map', rules, ...(start && { start }) })
  return applyTransform(transform, received(body, event), options)
}

async function mapped(...args: Parameters<typeof map>): Promise<string> {
  return textOf(await map(...args))
}

const body = {
  id: 7,
  user: { name: 'Ada', email: 'a@b.c', address: { city: 'Bern' } },
  items: [
    { id: 1, price: 10 },
    { id: 2, price: 20 },
  ],
  none: null,
}

describe('a field map that starts empty', () => {
  const cases: [what: string, rules: unknown[], expected: unknown][] = [
    ['a value is renamed', [{ from: '$.user.name', to: 'name' }], { name: 'Ada' }],
    [
      'a missing value is left out',
      [
        { from: '$.missing', to: 'a' },
        { from: '$.id', to: 'b' },
      ],
      { b: 7 },
    ],
    ['null is a value', [{ from: '$.none', to: 'a' }], { a: null }],
    [
      'a target may be nested',
      [
        { from: '$.id', to: 'a.b.c' },
        { from: '$.none', to: '$.a.d' },
      ],
      { a: { b: { c: 7 }, d: null } },
    ],
    ['a target may be in a list', [{ from: '$.id', to: 'a[1].b' }], { a: [null, { b: 7 }] }],
    [
      'a target name may need quotes',
      [
        { from: '$.id', to: "['a.b']" },
        { from: '$.id', to: "$.c['d e']" },
      ],
      { 'a.b': 7, c: { 'd e': 7 } },
    ],
    ['a target may be the whole body', [{ from: '$.user.address', to: '$' }], { city: 'Bern' }],
    [
      'a copied object can be extended',
      [
        { from: '$.user', to: 'u' },
        { to: 'u.address.zip', value: 3000 },
      ],
      { u: { ...body.user, address: { city: 'Bern', zip: 3000 } } },
    ],
    [
      'constants are written',
      [
        { to: 'a', value: { b: [1] } },
        { to: 'c', value: null },
      ],
      { a: { b: [1] }, c: null },
    ],
    [
      'the later of two rules wins',
      [
        { to: 'a', value: 1 },
        { to: 'a', value: 2 },
      ],
      { a: 2 },
    ],
    [
      'a value in the way of a nested target is replaced',
      [
        { to: 'a', value: 1 },
        { to: 'a.b', value: 2 },
      ],
      { a: { b: 2 } },
    ],
    ['a wildcard selects a list', [{ from: '$.items[*].id', to: 'ids' }], { ids: [1, 2] }],
    [
      'a wildcard over an empty list selects an empty list',
      [{ from: '$.items[*].name', to: 'names' }],
      { names: [] },
    ],
    [
      'a wildcard below a missing value selects nothing',
      [{ from: '$.missing[*].id', to: 'ids' }],
      {},
    ],
    [
      'a negative index counts from the end',
      [{ from: '$.items[-1].price', to: 'last' }],
      { last: 20 },
    ],
    ['the whole body can be nested', [{ from: '$', to: 'event' }], { event: body }],
  ]
  test.each(cases)('%s', async (_what, rules, expected) => {
    expect(JSON.parse(await mapped(rules, body))).toEqual(expected)
  })

  test('headers, query and method can be copied', async () => {
    const rules = [
      { from: '$headers.X-Kind', to: 'kind' },
      { from: '$query.tag', to: 'tags' },
      { from: '$method', to: 'method' },
      { from: '$headers.missing', to: 'missing' },
    ]
    const rest = { headers: { 'x-kind': 'push' }, query: 'tag=a&tag=b', method: 'PUT' }
    expect(await mapped(rules, {}, rest)).toBe('{"kind":"push","tags":["a","b"],"method":"PUT"}')
  })
})

describe('a field map that starts with the body', () => {
  const start = 'body'
  const cases: [what: string, rules: unknown[], expected: unknown][] = [
    [
      'a part is removed',
      [{ remove: '$.user.email' }],
      { ...body, user: { name: 'Ada', address: { city: 'Bern' } } },
    ],
    [
      'parts are removed by a wildcard',
      [{ remove: '$.items[*].price' }],
      { ...body, items: [{ id: 1 }, { id: 2 }] },
    ],
    ['all elements of a list are removed', [{ remove: '$.items[*]' }], { ...body, items: [] }],
    [
      'an element is removed',
      [{ remove: '$.items[0]' }],
      { ...body, items: [{ id: 2, price: 20 }] },
    ],
    [
      'removing a missing value has no effect',
      [{ remove: '$.a.b' }, { remove: '$.items[5]' }],
      body,
    ],
    [
      'a part is renamed',
      [{ rename: '$.id', to: 'meta.id' }, { remove: '$.items' }, { remove: '$.user' }],
      { none: null, meta: { id: 7 } },
    ],
    ['renaming a missing value has no effect', [{ rename: '$.missing', to: 'a' }], body],
    [
      'values are copied from the original body',
      [{ remove: '$.id' }, { from: '$.id', to: 'was' }],
      { user: body.user, items: body.items, none: null, was: 7 },
    ],
    [
      'constants are added',
      [{ to: 'user.kind', value: 'x' }],
      { ...body, user: { ...body.user, kind: 'x' } },
    ],
  ]
  test.each(cases)('%s', async (_what, rules, expected) => {
    expect(JSON.parse(await mapped(rules, body, { start }))).toEqual(expected)
  })

  test('untouched parts keep their original text', async () => {
    const text =
      ' { "big": 12345678901234567890, "exact": 1.10, "s": "\\u00e9\\/\\"[}", "a" : [ 1 , {"b":2} ] } '
    expect(await mapped([{ remove: '$.none' }], text, { start })).toBe(
      '{"big":12345678901234567890,"exact":1.10,"s":"\\u00e9\\/\\"[}","a":[ 1 , {"b":2} ]}',
    )
    expect(await mapped([{ from: '$.big', to: 'id' }], text)).toBe('{"id":12345678901234567890}')
  })
})

describe('names such as __proto__', () => {
  test('are ordinary names', async () => {
    const rules = [
      { to: '__proto__.polluted', value: true },
      { to: 'constructor.prototype.polluted', value: true },
      { from: '$.__proto__', to: 'a' },
    ]
    const text = await mapped(rules, '{"__proto__":{"admin":1}}')
    expect(text).toBe(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"a":{"admin":1}}',
    )
    expect('polluted' in {}).toBe(false)
    expect(await mapped([{ from: '$.toString', to: 'a' }], {})).toBe('{}')
  })
})

describe('large documents', () => {
  test.each([10_000, 100_000])('nested %i levels deep are copied', async (depth) => {
    const deep = '['.repeat(depth) + ']'.repeat(depth)
    expect(await mapped([{ from: '$.a', to: 'b.c' }], `{"a":${deep}}`)).toBe(`{"b":{"c":${deep}}}`)
    const removed = await mapped([{ remove: '$.a[0][0]' }], `{"a":${deep}}`, { start: 'body' })
    expect(removed).toBe('{"a":[[]]}')
  })

  test('of 256 KB are mapped', async () => {
    const items = Array.from({ length: 12_000 }, (_, id) => ({ id, name: 'a' }))
    const ids = items.map(({ id }) => id)
    expect(await mapped([{ from: '$.items[*].id', to: 'ids' }], { items })).toBe(
      JSON.stringify({ ids }),
    )
  })

  test('that come out too large are an error', async () => {
    const text = 'x'.repeat(200_000)
    const rules = ['a', 'b'].map((to) => ({ from: '$.text', to }))
    const error = await failureOf(map(rules, { text }))
    expect(error.code).toBe('output_limit')
  })
})

test.each(['hello', '', '{"a":', Uint8Array.of(0xff), 'a=1&b=2'])(
  'a body that is not JSON is an error (%#)',
  async (text) => {
    const error = await failureOf(map([{ to: 'a', value: 1 }], text))
    expect(error.code).toBe('body_not_json')
    expect(error.isTransient).toBe(false)
  },
)

test('copying the parts of any document gives that document', async () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }))
  await fc.assert(
    fc.asyncProperty(json, fc.nat(3), async (document, space) => {
      const quoted = (name: string) => `['${name.replace(/['\\]/g, '\\$&')}']`
      const rules = Object.keys(document).map((name) => ({
        from: `$${quoted(name)}`,
        to: `$${quoted(name)}`,
      }))
      const text = JSON.stringify(document, undefined, space)
      const copied = await mapped([...rules, { from: '$.none.at.all', to: 'a' }], text)
      expect(JSON.parse(copied)).toEqual(JSON.parse(text))
    }),
  )
})

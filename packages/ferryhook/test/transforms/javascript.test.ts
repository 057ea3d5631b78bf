import { describe, expect, test } from 'vitest'
import { MAX_JSON_DEPTH } from '@strongroom/platform/json-depth'
import { MAX_SCRIPT_BODY_DEPTH } from '../../src/transforms/script-event.ts'
import { received } from '../support/received-events.ts'
import { scripts, textOf } from '../support/scripts.ts'

const { run, output, failure } = scripts()

describe('a script', () => {
  test('sees the event', async () => {
    const event = received(
      { a: [1, { b: null }] },
      {
        method: 'PUT',
        headers: { 'X-Kind': 'odd', 'x-many': ['one', 'two'] },
        query: 'page=2&tag=a&tag=b',
      },
    )
    const seen: unknown = JSON.parse(
      await output('function transform(event) { return event }', event),
    )
    expect(seen).toEqual({
      body: { a: [1, { b: null }] },
      headers: { 'x-kind': 'odd', 'x-many': 'one, two' },
      query: { page: '2', tag: ['a', 'b'] },
      method: 'PUT',
      id: 'evt_0123456789abcdef',
      receivedAt: '2025-10-09T08:53:20.000Z',
    })
  })

  test('sees a body that is not JSON as text', async () => {
    const code = 'function transform({ body }) { return [typeof body, body.length, body] }'
    expect(await output(code, received('a\0b€'))).toBe('["string",4,"a\\u0000b€"]')
    expect(await output(code, received(''))).toBe('["string",0,""]')
  })

  test('returns an object or a list as JSON', async () => {
    const result = await run(
      'function transform({ body }) { return { total: body.a + 1 } }',
      received({ a: 1 }),
    )
    expect(result).toMatchObject({ contentType: 'application/json' })
    expect(textOf(result)).toBe('{"total":2}')
    expect(await output('const transform = () => [1, "ü"]')).toBe('[1,"ü"]')
  })

  test('returns a string as text', async () => {
    const result = await run('function transform() { return "a\\0b€" }')
    expect(result).toMatchObject({ contentType: 'text/plain; charset=utf-8' })
    expect(textOf(result)).toBe('a\0b€')
  })

  test('returns headers with the body', async () => {
    const headers = '{ "X-Kind": "a", "x-n": 1, "Content-Type": "application/xml" }'
    const result = await run(
      `function transform() { return { body: "<a/>", headers: ${headers} } }`,
    )
    expect(result).toMatchObject({
      contentType: 'application/xml',
      headers: { 'x-kind': 'a', 'x-n': '1' },
    })
    expect(textOf(result)).toBe('<a/>')
  })

  test('returns an object that is not exactly { body, headers } as JSON', async () => {
    expect(await output('() => 1; var transform = () => ({ body: "a" })')).toBe('{"body":"a"}')
    expect(await output('var transform = () => ({ body: "a", headers: {}, more: 1 })')).toBe(
      '{"body":"a","headers":{},"more":1}',
    )
  })

  test('drops the event by returning null', async () => {
    const reason = 'The transform returned null'
    expect(await run('const transform = () => null')).toMatchObject({ kind: 'dropped', reason })
    const whole = await run('const transform = () => ({ body: null, headers: {} })')
    expect(whole).toMatchObject({ kind: 'dropped' })
  })

  test('may be asynchronous', async () => {
    const code = `
      async function transform({ body }) {
        const doubled = await Promise.all(body.map(async (n) => (await n) * 2))
        return { doubled }
      }`
    expect(await output(code, received([1, 2]))).toBe('{"doubled":[2,4]}')
  })

  test('has a console with limited output', async () => {
    const { console } = await run(
      'const transform = (e) => { console.log("a", 1, { b: [] }, undefined, () => 1); console.error(Symbol("s")); return {} }',
    )
    expect(console).toEqual(['a 1 {"b":[]} undefined () => 1', 'Symbol(s)'])
    const much = await run(
      'const transform = () => { for (let i = 0; i < 5000; i++) console.log("x".repeat(5000)); return {} }',
    )
    expect(much.console).toHaveLength(101)
    expect(much.console?.[0]).toHaveLength(1_000)
  })

  test('knows the time', async () => {
    const year = await output('const transform = () => [new Date().getUTCFullYear()]')
    expect(JSON.parse(year)).toEqual([new Date().getUTCFullYear()])
  })

  test('cannot reach the server', async () => {
    const names = [
      'process',
      'require',
      'module',
      'fetch',
      'setTimeout',
      'WebAssembly',
      'std',
      'os',
    ]
    const code = `const transform = () => [${names.map((name) => `typeof ${name}`).join()}]`
    expect(new Set(JSON.parse(await output(code)) as string[])).toEqual(new Set(['undefined']))
    const escape =
      'const transform = () => [typeof console.log.constructor("return this")().process]'
    expect(await output(escape)).toBe('["undefined"]')
    expect((await failure('const transform = () => import("node:fs")')).code).toBe('threw')
  })

  test('leaves nothing behind for the next script', async () => {
    const leave =
      'Object.prototype.left = 1; globalThis.left = 1; JSON.parse = () => ({}); const transform = () => ({})'
    expect(await output(leave)).toBe('{}')
    expect(
      await output('const transform = (e) => [typeof left, ({}).left ?? null, e.method]'),
    ).toBe('["undefined",null,"POST"]')
  })
})

describe('a body', () => {
  test('of 256 KB passes through', async () => {
    const body = { list: Array.from({ length: 20_000 }, (_, index) => `n${index}`) }
    const code = 'const transform = ({ body }) => body'
    expect(await output(code, received(body))).toBe(JSON.stringify(body))
  })

  test('may be nested up to MAX_SCRIPT_BODY_DEPTH levels deep', async () => {
    expect(MAX_SCRIPT_BODY_DEPTH).toBe(10_000)
    const lists = received('['.repeat(10_000) + ']'.repeat(10_000))
    const objects = received(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)
    expect(await output('const transform = ({ body }) => [body.length]', lists)).toBe('[1]')
    expect(await output('const transform = ({ body }) => [typeof body.a]', objects)).toBe(
      '["object"]',
    )
  })

  test.each([10_001, 131_072])('nested %i levels deep is an error', async (depth) => {
    const deep = received('['.repeat(depth) + ']'.repeat(depth))
    const error = await failure('const transform = ({ body }) => [body.length]', deep)
    expect(error.code).toBe('stack_limit')
    expect(error.message).toBe('The body of this event is nested more than 10000 levels deep')
  })

  test('that is not text is an error', async () => {
    const error = await failure('const transform = () => ({})', received(Uint8Array.of(0xff)))
    expect(error.code).toBe('body_not_text')
  })
})

describe('a result', () => {
  const nested = (depth: number) =>
    `let value = 1; for (let i = 0; i < ${depth}; i++) value = i % 2 ? [value] : { a: value };`

  test('may be nested up to MAX_JSON_DEPTH levels deep', async () => {
    const text = await output(`const transform = () => { ${nested(MAX_JSON_DEPTH)} return value }`)
    expect(text.replaceAll(/[^{[]/g, '')).toHaveLength(MAX_JSON_DEPTH)
  })

  test.each([
    ['returned', 'return value'],
    ['from toJSON', 'return { toJSON: () => value }'],
    ['in headers', 'return { body: {}, headers: value }'],
  ])('nested one level deeper is an error: %s', async (_where, statement) => {
    const code = `const transform = () => { ${nested(MAX_JSON_DEPTH + 1)} ${statement} }`
    const error = await failure(code)
    expect(error.code).toBe('stack_limit')
    expect(error.message).toBe('The transform returned a value nested more than 1000 levels deep')
  })

  test('may contain the same object many times', async () => {
    const code = 'const transform = () => { const a = [1]; return Array(2000).fill({ a }) }'
    expect(JSON.parse(await output(code))).toHaveLength(2_000)
  })

  test('logged to the console is cut if it is nested too deeply', async () => {
    const code = `const transform = () => { ${nested(5_000)} console.log('v', value); return {} }`
    expect((await run(code)).console).toEqual(['v [nested too deeply]'])
  })
})

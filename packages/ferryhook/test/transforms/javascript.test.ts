import { describe, expect, test } from 'vitest'
import { received } from '../filters/events.ts'
import { scripts, textOf } from './scripts.ts'

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

  test('sees a body that is not JSON as text, all of it', async () => {
    const code = 'function transform({ body }) { return [typeof body, body.length, body] }'
    expect(await output(code, received('a\0b€'))).toBe('["string",4,"a\\u0000b€"]')
    expect(await output(code, received(''))).toBe('["string",0,""]')
  })

  test('gives an object or a list as JSON', async () => {
    const result = await run(
      'function transform({ body }) { return { total: body.a + 1 } }',
      received({ a: 1 }),
    )
    expect(result).toMatchObject({ contentType: 'application/json' })
    expect(textOf(result)).toBe('{"total":2}')
    expect(await output('const transform = () => [1, "ü"]')).toBe('[1,"ü"]')
  })

  test('gives a string as text, all of it', async () => {
    const result = await run('function transform() { return "a\\0b€" }')
    expect(result).toMatchObject({ contentType: 'text/plain; charset=utf-8' })
    expect(textOf(result)).toBe('a\0b€')
  })

  test('gives headers beside the body', async () => {
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

  test('gives an object with a body and no headers as that object', async () => {
    expect(await output('() => 1; var transform = () => ({ body: "a" })')).toBe('{"body":"a"}')
    expect(await output('var transform = () => ({ body: "a", headers: {}, more: 1 })')).toBe(
      '{"body":"a","headers":{},"more":1}',
    )
  })

  test('drops the event with null', async () => {
    const reason = 'The transform returned null'
    expect(await run('const transform = () => null')).toMatchObject({ dropped: true, reason })
    const whole = await run('const transform = () => ({ body: null, headers: {} })')
    expect(whole).toMatchObject({ dropped: true })
  })

  test('may be asynchronous', async () => {
    const code = `
      async function transform({ body }) {
        const doubled = await Promise.all(body.map(async (n) => (await n) * 2))
        return { doubled }
      }`
    expect(await output(code, received([1, 2]))).toBe('{"doubled":[2,4]}')
  })

  test('has a console, whose lines are kept within bounds', async () => {
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

  test('has nothing of the server', async () => {
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

  test('leaves nothing behind for the next', async () => {
    const leave =
      'Object.prototype.left = 1; globalThis.left = 1; JSON.parse = () => ({}); const transform = () => ({})'
    expect(await output(leave)).toBe('{}')
    expect(
      await output('const transform = (e) => [typeof left, ({}).left ?? null, e.method]'),
    ).toBe('["undefined",null,"POST"]')
  })
})

describe('a body', () => {
  test('of 256 KB goes in and out', async () => {
    const body = { list: Array.from({ length: 20_000 }, (_, index) => `n${index}`) }
    const code = 'const transform = ({ body }) => body'
    expect(await output(code, received(body))).toBe(JSON.stringify(body))
  })

  test('nested 10,000 levels deep can be read', async () => {
    const deep = received('['.repeat(10_000) + ']'.repeat(10_000))
    expect(await output('const transform = ({ body }) => [body.length]', deep)).toBe('[1]')
  })

  test('nested as deep as can be sent is an error', async () => {
    const deepest = received('['.repeat(131_072) + ']'.repeat(131_072))
    const error = await failure('const transform = ({ body }) => [body.length]', deepest)
    expect(error.code).toBe('stack_limit')
  })

  test('that is not text is an error', async () => {
    const error = await failure('const transform = () => ({})', received(Uint8Array.of(0xff)))
    expect(error.code).toBe('body_not_text')
  })
})

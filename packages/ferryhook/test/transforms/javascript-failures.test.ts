import { describe, expect, test } from 'vitest'
import { checkJavascript } from '../../src/transforms/javascript.ts'
import { failureOf, scripts } from '../support/scripts.ts'

const { sandbox, output, failure } = scripts()

describe('a script that fails', () => {
  const cases: [what: string, code: string, expected: string, message: RegExp][] = [
    [
      'throws',
      'function transform(e) {\n  return e.body.a.b\n}',
      'threw',
      /TypeError: .*\(line 2\)/,
    ],
    [
      'throws something other than an error',
      'function transform() { throw { no: 1 } }',
      'threw',
      /threw \{"no":1\}/,
    ],
    [
      'throws a value that cannot be shown',
      'function transform() { throw { toJSON() { throw 1 }, toString() { throw 2 } } }',
      'threw',
      /cannot be shown/,
    ],
    [
      'rejects',
      'const transform = async () => { await 1; throw new Error("no") }',
      'threw',
      /Error: no/,
    ],
    ['throws while loading', 'null.x; function transform() {}', 'threw', /line 1/],
    ['cannot be parsed', 'function transform( {', 'invalid_code', /SyntaxError/],
    ['has no transform', 'const x = 1', 'invalid_code', /define a function transform/],
    [
      'has a transform that is not a function',
      'const transform = 1',
      'invalid_code',
      /define a function transform/,
    ],
    [
      'throws before it defines the transform',
      'throw 1; const transform = () => 1',
      'threw',
      /threw 1/,
    ],
    ['returns nothing', 'function transform() {}', 'invalid_output', /returned nothing/],
    ['returns a number', 'const transform = () => 1', 'invalid_output', /a number/],
    ['returns a function', 'const transform = () => transform', 'invalid_output', /a function/],
    ['returns a symbol', 'const transform = () => Symbol("a")', 'invalid_output', /a symbol/],
    ['returns bytes', 'const transform = () => new Uint8Array(3)', 'invalid_output', /bytes/],
    [
      'returns a circular structure',
      'const transform = () => { const a = {}; a.a = a; return a }',
      'invalid_output',
      /circular/,
    ],
    [
      'returns an object with a bigint',
      'const transform = () => ({ a: 1n })',
      'invalid_output',
      /JSON cannot represent/,
    ],
    [
      'returns a value that JSON omits',
      'const transform = () => ({ toJSON() {} })',
      'invalid_output',
      /JSON cannot represent/,
    ],
    ['loops forever', 'function transform() { while (true) {} }', 'time_limit', /too long/],
    [
      'loops forever and catches',
      'function transform() { for (;;) try { for (;;); } catch {} }',
      'time_limit',
      /too long/,
    ],
    ['loops forever while loading', 'for (;;);', 'time_limit', /too long/],
    [
      'loops forever in promises',
      'const transform = async () => { for (;;) await 1 }',
      'time_limit',
      /too long/,
    ],
    [
      'loops forever in a regular expression',
      'const transform = () => /(x+x+)+y/.test("x".repeat(1000))',
      'time_limit',
      /too long/,
    ],
    [
      'loops forever in toJSON',
      'const transform = () => ({ toJSON() { for (;;); } })',
      'time_limit',
      /too long/,
    ],
    [
      'loops forever in the console',
      'const transform = () => console.log({ toJSON() { for (;;); } })',
      'time_limit',
      /too long/,
    ],
    [
      'never settles',
      'const transform = () => new Promise(() => {})',
      'never_settled',
      /never settles/,
    ],
    [
      'exhausts the memory with large pieces',
      'const transform = () => { const a = []; for (;;) a.push("x".repeat(1e5) + a.length) }',
      'memory_limit',
      /memory/,
    ],
    [
      'exhausts the memory with small pieces',
      'const transform = () => { const a = []; for (;;) a.push({ a: [1] }) }',
      'memory_limit',
      /memory/,
    ],
    [
      'allocates more than the memory in one call',
      'const transform = () => [new ArrayBuffer(1e9)]',
      'memory_limit',
      /memory/,
    ],
    [
      'exhausts the memory with globals',
      'globalThis.a = []; const transform = () => { for (;;) a.push(new Uint8Array(1e6)) }',
      'memory_limit',
      /memory/,
    ],
    [
      'builds a text that is too long',
      'const transform = () => { let a = "x"; for (;;) a += a }',
      'memory_limit',
      /too long|memory/,
    ],
    ['recurses forever', 'const transform = (e) => transform(e)', 'stack_limit', /too deeply/],
    [
      'recurses forever through the engine',
      'const transform = (e) => [1].map(() => transform(e))',
      'stack_limit',
      /too deeply/,
    ],
    [
      'has deeply nested code',
      'const transform = () => [eval("[".repeat(1e5) + "]".repeat(1e5))]',
      'stack_limit',
      /too deeply/,
    ],
    [
      'returns a large text',
      'const transform = () => "x".repeat(262145)',
      'output_limit',
      /262144/,
    ],
    [
      'returns a large object',
      'const transform = () => Array(1e5).fill("four")',
      'output_limit',
      /262144/,
    ],
    [
      'returns a text of many bytes',
      'const transform = () => "€".repeat(1e5)',
      'output_limit',
      /262144/,
    ],
    [
      'returns headers that are a list',
      'const transform = () => ({ body: {}, headers: ["a"] })',
      'invalid_output',
      /headers/,
    ],
    [
      'returns an invalid header name',
      'const transform = () => ({ body: {}, headers: { "a b": "1" } })',
      'invalid_output',
      /name/,
    ],
    [
      'returns a header with a line break',
      'const transform = () => ({ body: {}, headers: { a: "1\\r\\nb: 2" } })',
      'invalid_output',
      /header a/,
    ],
    [
      'returns a reserved header',
      'const transform = () => ({ body: {}, headers: { Host: "a" } })',
      'invalid_output',
      /header host/,
    ],
    [
      'returns a signature',
      'const transform = () => ({ body: {}, headers: { "Webhook-Signature": "a" } })',
      'invalid_output',
      /webhook-signature/,
    ],
    [
      'returns many headers',
      'const transform = () => ({ body: {}, headers: Object.fromEntries(Array(51).fill().map((_, i) => ["a" + i, "1"])) })',
      'invalid_output',
      /50/,
    ],
  ]
  test.each(cases)('%s', async (_what, code, expected, message) => {
    const error = await failure(code)
    expect(error.message).toMatch(message)
    expect(error.code).toBe(expected)
    expect(error.isTransient).toBe(false)
  })

  test('keeps its console output', async () => {
    const code = 'const transform = () => { console.log("here"); while (true) {} }'
    expect((await failure(code)).console).toEqual(['here'])
  })

  test('does not disturb another that runs in parallel', async () => {
    const bad = failure('function transform() { while (true) {} }')
    const good = output('const transform = () => [1]')
    expect(await good).toBe('[1]')
    expect((await bad).code).toBe('time_limit')
  })
})

test('code is checked without an event', async () => {
  await checkJavascript('function transform(event) { return event.body.a.b }', {
    sandbox,
    owner: 'usr_1',
  })
  const error = await failureOf(checkJavascript('function transform(', { sandbox, owner: 'usr_1' }))
  expect(error.code).toBe('invalid_code')
  const loop = await failureOf(checkJavascript('for (;;);', { sandbox, owner: 'usr_1' }))
  expect(loop.code).toBe('time_limit')
})

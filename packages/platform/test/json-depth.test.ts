import { describe, expect, test } from 'vitest'
import { isDeeperThan, isJsonDeeperThan, MAX_JSON_DEPTH } from '../src/json-depth.ts'

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe.each([
  ['JSON text', (json: string, max?: number) => isJsonDeeperThan(Buffer.from(json), max)],
  ['a parsed value', (json: string, max?: number) => isDeeperThan(JSON.parse(json), max)],
])('the nesting of %s', (_, isDeeper) => {
  test.for([
    ['1', 0, false],
    ['"["', 0, false],
    ['[]', 0, true],
    ['[]', 1, false],
    ['[1,2]', 1, false],
    ['{"a":[]}', 1, true],
    ['{"a":[],"b":{"c":{}}}', 2, true],
    ['{"a":[],"b":{"c":1}}', 2, false],
    ['["[[[\\"[[[",{"{{{":"]"}]', 2, false],
    ['["\\\\",[[]]]', 2, true],
    ['[null,true,[[],[]]]', 3, false],
  ] as const)('of %s is compared with %i', ([json, max, deeper]) => {
    expect(isDeeper(json, max)).toBe(deeper)
  })

  test('is limited to 1,000 levels by default', () => {
    expect(isDeeper(nested(MAX_JSON_DEPTH))).toBe(false)
    expect(isDeeper(nested(MAX_JSON_DEPTH + 1))).toBe(true)
  })

  test('is measured without recursion', () => {
    expect(isDeeper(nested(1_000_000), 2_000_000)).toBe(false)
  })
})

test('a value that contains itself is too deep', () => {
  const value: unknown[] = []
  value.push(value)
  expect(isDeeperThan(value)).toBe(true)
})

import { expect, test } from 'vitest'
import { parseBearer } from '../src/bearer.ts'

test.for([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER a.b-c_d=', 'a.b-c_d='],
  [undefined, undefined],
  ['', undefined],
  ['Bearer', undefined],
  ['Bearer ', undefined],
  ['Bearer  abc', undefined],
  ['Bearer abc ', undefined],
  ['Bearer a b', undefined],
  ['Basic abc', undefined],
  ['xBearer abc', undefined],
  ['Bearer abc\n', undefined],
] as const)('the header %o has the token %o', ([header, token]) => {
  expect(parseBearer(header)).toBe(token)
})

test('a token may be as long as the limit', () => {
  expect(parseBearer(`Bearer ${'x'.repeat(200)}`, 200)).toHaveLength(200)
  expect(parseBearer(`Bearer ${'x'.repeat(201)}`, 200)).toBeUndefined()
  expect(parseBearer(`Bearer ${'x'.repeat(4_096)}`)).toHaveLength(4_096)
  expect(parseBearer(`Bearer ${'x'.repeat(4_097)}`)).toBeUndefined()
})

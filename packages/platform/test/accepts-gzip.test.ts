import { expect, test } from 'vitest'
import { acceptsGzip } from '../src/accepts-gzip.ts'

test.each([
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['br, GZIP;q=0.5', true],
  ['gzip;q=0', false],
  ['*, gzip ; q=0.000', false],
  ['*', true],
  ['*;q=0', false],
  ['x-gzip-like, identity', false],
])('who sends %j reads gzip: %s', (header, expected) => {
  expect(acceptsGzip(header)).toBe(expected)
})

import { expect, test } from 'vitest'
import { timingSafeEquals } from '../src/timing-safe-equals.ts'

test('bytes are equal if their lengths and contents are', () => {
  expect(timingSafeEquals(Uint8Array.of(1, 2), Buffer.of(1, 2))).toBe(true)
  expect(timingSafeEquals(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false)
  expect(timingSafeEquals(Uint8Array.of(1, 2), Uint8Array.of(1))).toBe(false)
  expect(timingSafeEquals(Uint8Array.of(), Uint8Array.of())).toBe(true)
})

test('texts of one length in characters but not in bytes are different', () => {
  expect(timingSafeEquals('abc', 'abc')).toBe(true)
  expect(timingSafeEquals('abc', 'abd')).toBe(false)
  expect(timingSafeEquals('abc', 'abé')).toBe(false)
  expect(timingSafeEquals('', '')).toBe(true)
})

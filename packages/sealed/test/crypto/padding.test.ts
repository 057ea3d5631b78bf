import { expect, test } from 'vitest'
import { MAX_CONTENT_BYTES, pad, unpad } from '../../src/crypto/padding.ts'

test('unpadding returns the padded text', () => {
  for (const size of [0, 1, 252, 253, MAX_CONTENT_BYTES]) {
    const text = new Uint8Array(size).fill(7)
    expect(unpad(pad(text))).toEqual(text)
  }
})

test('a text longer than the limit is not padded', () => {
  expect(() => pad(new Uint8Array(MAX_CONTENT_BYTES + 1))).toThrow(RangeError)
})

test('padding that pad does not create is refused', () => {
  const padded = pad(Uint8Array.of(1, 2, 3))
  const changed = (change: (bytes: typeof padded) => void) => {
    const bytes = padded.slice()
    change(bytes)
    return unpad(bytes)
  }
  expect(changed((bytes) => (bytes[0] = 1))).toBeUndefined()
  expect(changed((bytes) => (bytes[3] = 253))).toBeUndefined()
  expect(changed((bytes) => (bytes[255] = 1))).toBeUndefined()
  expect(unpad(padded.slice(0, 255))).toBeUndefined()
  expect(unpad(new Uint8Array(3))).toBeUndefined()
  const tooLarge = new Uint8Array(1024)
  tooLarge[3] = 3
  expect(unpad(tooLarge)).toBeUndefined()
})

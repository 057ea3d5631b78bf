import { describe, expect, test } from 'vitest'
import { createUlids, newId, newTimeOrderedId, randomHex, randomToken } from '../src/ids.ts'

const counting = (first: number) => (size: number) =>
  Uint8Array.from({ length: size }, (_, index) => (first + index) % 256)

describe('Identifiers with a prefix', () => {
  test('have 16 characters of the nanoid alphabet after the prefix', () => {
    for (let count = 0; count < 500; count++) {
      expect(newId('evt')).toMatch(/^evt_[A-Za-z0-9_-]{16}$/)
    }
  })

  test('use every character of the alphabet equally often over all possible groups of six bits', () => {
    const seen = new Map<string, number>()
    // The first character is the upper six bits of the first byte, so each one comes four times.
    for (let byte = 0; byte < 256; byte++) {
      const character = newId('x', () => new Uint8Array(12).fill(byte))[2] ?? ''
      seen.set(character, (seen.get(character) ?? 0) + 1)
    }
    expect(seen.size).toBe(64)
    expect(new Set(seen.values())).toEqual(new Set([4]))
  })

  test('do not repeat among ten thousand', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId('usr'))).size).toBe(10_000)
  })

  test('come from the injected random source and nothing else', () => {
    expect(newId('key', counting(0))).toBe('key_AAECAwQFBgcICQoL')
  })
})

describe('Identifiers that sort by time', () => {
  const NOW = 1_794_772_800_000

  test('have 16 characters of the nanoid alphabet after the prefix', () => {
    for (const now of [0, 1, NOW, NOW + 0.5, 64 ** 7 - 1, 64 ** 7, -1]) {
      expect(newTimeOrderedId('evt', now)).toMatch(/^evt_[A-Za-z0-9_-]{16}$/)
    }
  })

  test('sort in the order of their milliseconds, by bytes', () => {
    const times = [0, 1, 63, 64, 4095, NOW - 1, NOW, NOW + 1, NOW + 64, NOW * 2]
    const ids = times.map((now) => Buffer.from(newTimeOrderedId('evt', now)))
    expect(ids.toSorted((a, b) => Buffer.compare(a, b))).toEqual(ids)
  })

  test('do not repeat among ten thousand of one millisecond', () => {
    const ids = Array.from({ length: 10_000 }, () => newTimeOrderedId('evt', NOW))
    expect(new Set(ids).size).toBe(10_000)
  })

  test('use every character of the alphabet equally often after the time', () => {
    const seen = new Map<string, number>()
    for (let byte = 0; byte < 256; byte++) {
      const id = newTimeOrderedId('x', NOW, (size) => new Uint8Array(size).fill(byte))
      seen.set(id.charAt(9), (seen.get(id.charAt(9)) ?? 0) + 1)
    }
    expect(new Set(seen.values())).toEqual(new Set([4]))
  })
})

describe('Tokens', () => {
  test('of 16 bytes have 22 characters of base64url', () => {
    expect(randomToken(16)).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(randomToken(3, counting(0xfb))).toBe('-_z9')
  })

  test('of 16 bytes have 32 lower-case hexadecimal characters', () => {
    expect(randomHex(16)).toMatch(/^[0-9a-f]{32}$/)
    expect(randomHex(3, counting(0xfb))).toBe('fbfcfd')
  })
})

describe('ULIDs', () => {
  test('encode time and randomness as the specification says', () => {
    expect(createUlids(() => new Uint8Array(10))(1_469_918_176_385)).toBe(
      '01ARYZ6S410000000000000000',
    )
    expect(createUlids(() => new Uint8Array(10).fill(255))(2 ** 48 - 1)).toBe(
      '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
    )
  })

  test('sort by time', () => {
    const ulids = createUlids()
    const made = [1, 2, 1_000, 1_700_000_000_000].map(ulids)
    expect(made.toSorted()).toEqual(made)
  })

  test('grow within one millisecond', () => {
    const ulids = createUlids()
    const made = Array.from({ length: 1_000 }, () => ulids(1_700_000_000_000))
    expect(made.toSorted()).toEqual(made)
    expect(new Set(made).size).toBe(1_000)
  })

  test('grow when the clock steps back', () => {
    const ulids = createUlids()
    const before = ulids(2_000)
    expect(ulids(1_000) > before).toBe(true)
  })

  test('grow when the random part of a millisecond is used up', () => {
    const ulids = createUlids(() => new Uint8Array(10).fill(255))
    const last = ulids(5)
    const next = ulids(5)
    expect(next > last).toBe(true)
    expect(next.slice(0, 10)).toBe('0000000006')
    expect(ulids(6) > next).toBe(true)
  })

  test('differ between two sources at the same time', () => {
    expect(createUlids()(1)).not.toBe(createUlids()(1))
  })

  test('have 26 characters', () => {
    expect(createUlids()(Date.now())).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
  })

  test.each([-1, 0.5, Number.NaN, 2 ** 48])('reject the time %s', (time) => {
    expect(() => createUlids()(time)).toThrow(RangeError)
  })
})

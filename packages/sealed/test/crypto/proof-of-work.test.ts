import { describe, expect, test } from 'vitest'
import { requiredBits, solveWork, verifyWork } from '../../src/crypto/proof-of-work.ts'
import { workByReference } from './reference.ts'
import { work } from './vectors.ts'

describe('the proof of work', () => {
  test.each(work)('is found and verified: $bits bits', async (vector) => {
    const { challenge, ciphertext, bits, counter } = vector
    expect(requiredBits(challenge, ciphertext.length)).toBe(bits)
    expect(await solveWork(challenge, ciphertext)).toBe(counter)
    expect(workByReference(challenge.prefix, Buffer.from(ciphertext), bits)).toBe(counter)
    expect(verifyWork(challenge, ciphertext, counter)).toBe(true)
  })

  const [first] = work
  if (!first) throw new Error('There are no vectors')
  const { challenge, ciphertext, counter } = first

  test('is refused for a counter with too few bits and for an invalid counter', () => {
    expect(counter).toBeGreaterThan(0)
    for (const wrong of [counter - 1, -1, 0.5, Number.NaN, Infinity, 2 ** 53]) {
      expect(verifyWork(challenge, ciphertext, wrong)).toBe(false)
    }
  })

  test('is valid for only one challenge and one ciphertext', () => {
    const other = ciphertext.slice()
    other[0] = 1
    expect(verifyWork(challenge, other, counter)).toBe(false)
    expect(verifyWork({ ...challenge, prefix: 'other' }, ciphertext, counter)).toBe(false)
  })

  test('needs more bits for each doubling beyond 1 KB', () => {
    const price = { difficulty: 18, perDoubling: 2 }
    const sizes = [0, 16, 272, 1024, 2047, 2048, 4112, 16_400, 51_220]
    expect(sizes.map((size) => requiredBits(price, size))).toEqual([
      18, 18, 18, 18, 19, 20, 22, 26, 29,
    ])
    expect(requiredBits({ difficulty: 0, perDoubling: 0 }, 51_220)).toBe(0)
  })

  test('supports counters of any length, including beyond 32 bits', () => {
    const free = { prefix: 'p', difficulty: 0, perDoubling: 0 }
    for (const any of [0, 9, 10, 99, 100, 2 ** 32, 2 ** 53 - 1]) {
      expect(verifyWork(free, ciphertext, any)).toBe(true)
    }
  })

  test('reports progress and can be aborted', async () => {
    const stop = new AbortController()
    const seen: number[] = []
    const endless = { ...challenge, difficulty: 200 }
    const solving = solveWork(endless, ciphertext, {
      signal: stop.signal,
      onProgress({ tries, expected }) {
        expect(expected).toBe(2 ** 200)
        if (seen.push(tries) === 3) stop.abort()
      },
    })
    await expect(solving).rejects.toThrow('aborted')
    expect(seen).toEqual([0, 2 ** 16, 2 ** 17])
  })
})

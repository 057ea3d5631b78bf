import { describe, expect, test } from 'vitest'
import { branchKeyVersionOf, unwrapDataKey, wrapDataKey } from '../../src/envelope/edk.ts'

/** Of the public test vectors of AWS's material providers library: `static-branch-key-1`. */
const branchKeyIdentifier = 'bd3842ff-3076-4092-9918-4395730050b8'
const branchKeyVersion = 'e9ce18a3-edb5-4272-9f86-1cacb7997ff6'
const branchKey = hex('b49c1feb97a962f52de4732242c97fea396f2f14b4b6076322ebc5cb604b2308')

const place = { branchKeyIdentifier, context: Buffer.alloc(0) }
const nonce = hex('000102030405060708090a0b0c0d0e0f 101112131415161718191a1b')
const dataKey = hex('202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f')
const wrapped = hex(
  '000102030405060708090a0b0c0d0e0f 101112131415161718191a1b e9ce18a3edb542729f861cacb7997ff6' +
    '4972bc162f9e4d75776b13c546322941d291c1b848c9d75a6aa3382a905aa083' +
    '317d63fa987260a44275225d63a39b76',
)

describe('a data key wrapped by a branch key', () => {
  test('is byte for byte what the hierarchical keyring of AWS makes of it', () => {
    expect(wrapDataKey(dataKey, { branchKey, branchKeyVersion }, place, nonce)).toEqual(wrapped)
  })

  test('contains the version that unwraps it', () => {
    expect(branchKeyVersionOf(wrapped)).toBe(branchKeyVersion)
    expect(unwrapDataKey(wrapped, branchKey, place)).toEqual(dataKey)
  })

  test('is not unwrapped by another key, under another id or in another context', () => {
    const others: [Uint8Array, typeof place][] = [
      [new Uint8Array(32), place],
      [branchKey, { ...place, branchKeyIdentifier: 'bd3842ff-3076-4092-9918-4395730050b9' }],
      [branchKey, { ...place, context: Buffer.of(0) }],
    ]
    for (const [key, where] of others) {
      expect(() => unwrapDataKey(wrapped, key, where)).toThrow('The secret cannot be decrypted')
    }
  })

  test('needs a version that is a UUID, because it has 16 bytes for it', () => {
    const materials = { branchKey, branchKeyVersion: 'latest' }
    expect(() => wrapDataKey(dataKey, materials, place, nonce)).toThrow('is not a UUID')
  })
})

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex')
}

import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createKms } from '../../src/kms.ts'
import { MasterKeyError } from '../../src/master-key/errors.ts'
import { keyCheck } from '../../src/master-key/key.ts'
import { memoryKeyStorage } from '../../src/testing/memory-key-storage.ts'
import { bytes, freshKms, refusal, text } from '../support/kms.ts'

const anotherMasterKey = () => Uint8Array.from(randomBytes(32))

describe('the master key', () => {
  test('must be the one that the keys in the store were made with', async () => {
    const { storage } = await freshKms()
    const opening = createKms({ masterKey: anotherMasterKey(), storage })
    await expect(opening).rejects.toMatchObject({ name: 'WrongMasterKey' })
    await expect(opening).rejects.toThrow('belong to another master key (1 of them)')
    await expect(opening).rejects.toBeInstanceOf(MasterKeyError)
  })

  test('that is wrong is refused before anything is stored, also when both start on an empty store', async () => {
    const storage = memoryKeyStorage()
    const [mine, other] = await Promise.all([
      createKms({ masterKey: anotherMasterKey(), storage }),
      createKms({ masterKey: anotherMasterKey(), storage }),
    ])
    const { KeyMetadata } = await mine.createKey()
    await expect(other.createKey()).rejects.toMatchObject({ name: 'WrongMasterKey' })
    expect(storage.keys.size).toBe(1)
    const KeyId = KeyMetadata.Arn
    expect(await refusal(other.encrypt({ KeyId, Plaintext: bytes('x') }))).toBe(
      'KMSInvalidStateException',
    )
    expect(await refusal(other.rotateKeyOnDemand({ KeyId }))).toBe('KMSInvalidStateException')
    expect(storage.keys.get(KeyMetadata.KeyId)?.versions.size).toBe(1)
  })

  test.each([0, 16, 31, 33])('of %i bytes is refused', async (length) => {
    const opening = createKms({ masterKey: new Uint8Array(length), storage: memoryKeyStorage() })
    await expect(opening).rejects.toThrow('A master key is 32 bytes')
  })

  test('is distinguished from others by a check that is not part of it', () => {
    const masterKey = anotherMasterKey()
    const check = keyCheck(masterKey)
    expect(check).toHaveLength(16)
    expect(keyCheck(Uint8Array.from(masterKey))).toEqual(check)
    expect(keyCheck(anotherMasterKey())).not.toEqual(check)
    expect(Buffer.from(masterKey).includes(Buffer.from(check))).toBe(false)
  })

  test('may be wiped by its owner once the KMS is open', async () => {
    const { storage, masterKey, kms, arn } = await freshKms()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    const restarted = await createKms({ masterKey, storage })
    masterKey.fill(0)
    expect(text((await restarted.decrypt({ CiphertextBlob })).Plaintext)).toBe('x')
  })
})

describe('stored material', () => {
  test('that was altered in any bit is distinguished from a wrong master key, and encrypts nothing', async () => {
    const { storage, masterKey, arn, id } = await freshKms()
    const versions = storage.keys.get(id)?.versions
    const stored = versions?.get(1)
    if (!versions || !stored) throw new Error('no material')
    for (let bit = 0; bit < 8 * stored.wrapped.length; bit += 7) {
      const wrapped = Uint8Array.from(stored.wrapped)
      wrapped[bit >> 3]! ^= 1 << (bit & 7)
      versions.set(1, { ...stored, wrapped })
      const kms = await createKms({ masterKey, storage })
      const sealing = kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
      await expect(sealing).rejects.toMatchObject({
        name: 'KMSInvalidStateException',
        message: `Stored material of ${arn} is damaged: restore it from a backup`,
      })
    }
  })

  test('of another key or version does not open in its place', async () => {
    const { kms, storage, masterKey, arn, id } = await freshKms()
    const { KeyMetadata: other } = await kms.createKey()
    await kms.rotateKeyOnDemand({ KeyId: arn })
    const [mine, theirs] = [storage.keys.get(id), storage.keys.get(other.KeyId)]
    const [first, second] = [mine?.versions.get(1), mine?.versions.get(2)]
    if (!mine || !theirs || !first || !second) throw new Error('no material')
    mine.versions.set(2, { ...second, wrapped: first.wrapped })
    theirs.versions.set(1, first)
    const restarted = await createKms({ masterKey, storage })
    for (const KeyId of [arn, other.Arn]) {
      expect(await refusal(restarted.encrypt({ KeyId, Plaintext: bytes('x') }))).toBe(
        'KMSInvalidStateException',
      )
    }
  })

  test('does not show what it wraps', async () => {
    const { kms, storage, arn, id } = await freshKms()
    const again = async () => {
      await kms.rotateKeyOnDemand({ KeyId: arn })
      return Buffer.from(storage.keys.get(id)?.versions.get(2)?.wrapped ?? []).toString('hex')
    }
    expect(await again()).toMatch(/^01[0-9a-f]{120}$/)
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKms } from '../../src/kms.ts'
import { bytes, freshKms, refusal, text } from '../support/kms.ts'

describe('encryption', () => {
  test('what was encrypted is decrypted, with the key that the blob names', async () => {
    const { kms, arn } = await freshKms()
    const EncryptionContext = { tenant: 'a' }
    const sealed = await kms.encrypt({ KeyId: arn, Plaintext: bytes('secret'), EncryptionContext })
    expect(sealed).toEqual({
      KeyId: arn,
      CiphertextBlob: expect.any(Uint8Array),
      EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
    })
    expect(text(sealed.CiphertextBlob)).not.toContain('secret')
    const { CiphertextBlob } = sealed
    const opened = await kms.decrypt({ CiphertextBlob, EncryptionContext })
    expect(opened).toEqual({
      KeyId: arn,
      Plaintext: bytes('secret'),
      EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
    })
  })

  test('a key is identified by its ARN or id, and responses contain its ARN', async () => {
    const { kms, arn, id } = await freshKms()
    const byId = await kms.encrypt({ KeyId: id, Plaintext: bytes('x') })
    expect(byId.KeyId).toBe(arn)
    const { CiphertextBlob } = byId
    expect((await kms.decrypt({ KeyId: id, CiphertextBlob })).KeyId).toBe(arn)
    expect((await kms.decrypt({ KeyId: arn, CiphertextBlob })).KeyId).toBe(arn)
  })

  test('the same plaintext never gives the same blob twice', async () => {
    const { kms, arn } = await freshKms()
    const seal = async () => {
      const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
      return Buffer.from(CiphertextBlob).toString('hex')
    }
    const blobs = await Promise.all(Array.from({ length: 100 }, seal))
    expect(new Set(blobs).size).toBe(100)
  })

  test('a plaintext has its own memory, so wiping it does not affect others', async () => {
    const { kms, arn } = await freshKms()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('secret') })
    const [first, second] = await Promise.all([
      kms.decrypt({ CiphertextBlob }),
      kms.decrypt({ CiphertextBlob }),
    ])
    expect(first.Plaintext.buffer.byteLength).toBe(6)
    first.Plaintext.fill(0)
    expect(text(second.Plaintext)).toBe('secret')
    expect(text((await kms.decrypt({ CiphertextBlob })).Plaintext)).toBe('secret')
  })

  test('bytes of the caller are left as they are', async () => {
    const { kms, arn } = await freshKms()
    const Plaintext = Buffer.from('secret')
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext })
    await kms.reEncrypt({ CiphertextBlob, DestinationKeyId: arn })
    await kms.decrypt({ CiphertextBlob })
    expect(Plaintext.toString()).toBe('secret')
    expect(text((await kms.decrypt({ CiphertextBlob })).Plaintext)).toBe('secret')
  })

  test('bytes that the caller wipes before the call has ended are taken as they were', async () => {
    const { kms, arn } = await freshKms()
    const Plaintext = bytes('secret')
    const sealing = kms.encrypt({ KeyId: arn, Plaintext })
    Plaintext.fill(0)
    const { CiphertextBlob } = await sealing
    const opening = kms.decrypt({ CiphertextBlob })
    CiphertextBlob.fill(0)
    expect(text((await opening).Plaintext)).toBe('secret')
  })

  test('a blob may be a part of a larger buffer', async () => {
    const { kms, arn } = await freshKms()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('secret') })
    const larger = Buffer.concat([Buffer.from('before'), CiphertextBlob, Buffer.from('after')])
    const part = larger.subarray(6, 6 + CiphertextBlob.length)
    expect(text((await kms.decrypt({ CiphertextBlob: part })).Plaintext)).toBe('secret')
  })
})

describe('the encryption context', () => {
  const names = fc.string({ unit: 'binary' }).filter((name) => name !== '__proto__')
  const contexts = fc.dictionary(names, fc.string({ unit: 'binary' }), {
    maxKeys: 4,
  })

  test('opens a blob in any order of its pairs', async () => {
    const { kms, arn } = await freshKms()
    await fc.assert(
      fc.asyncProperty(contexts, async (context) => {
        const { CiphertextBlob } = await kms.encrypt({
          KeyId: arn,
          Plaintext: bytes('x'),
          EncryptionContext: context,
        })
        const reversed = Object.fromEntries(Object.entries(context).toReversed())
        const opened = await kms.decrypt({ CiphertextBlob, EncryptionContext: reversed })
        expect(text(opened.Plaintext)).toBe('x')
      }),
      { numRuns: 200 },
    )
  })

  test('must be exactly the one that a blob was made with', async () => {
    const { kms, arn } = await freshKms()
    const sorted = (context: Record<string, string>) =>
      JSON.stringify(Object.entries(context).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    await fc.assert(
      fc.asyncProperty(contexts, contexts, async (one, other) => {
        fc.pre(sorted(one) !== sorted(other))
        const { CiphertextBlob } = await kms.encrypt({
          KeyId: arn,
          Plaintext: bytes('x'),
          EncryptionContext: one,
        })
        const opening = kms.decrypt({ CiphertextBlob, EncryptionContext: other })
        expect(await refusal(opening)).toBe('InvalidCiphertextException')
      }),
      { numRuns: 200 },
    )
  })

  test.each<[string, Record<string, string>, Record<string, string> | undefined]>([
    ['in another case', { Tenant: 'a' }, { tenant: 'a' }],
    ['with two pairs as one long name', { a: 'b', c: 'd' }, { 'a\0\0\0\u0001bc': 'd' }],
    ['with two pairs as one long value', { a: 'b', c: 'd' }, { a: 'b\0\0\0\u0001cd' }],
    ['with a value in another case', { tenant: 'A' }, { tenant: 'a' }],
    ['with a pair less', { a: '1', b: '2' }, { a: '1' }],
    ['with a pair more', { a: '1' }, { a: '1', b: '2' }],
    ['with key and value cut elsewhere', { ab: 'c' }, { a: 'bc' }],
    ['with a value that looks like a pair', { a: '1', b: '2' }, { a: '1b2' }],
    ['with an empty pair', {}, { '': '' }],
    ['that is missing', { a: '1' }, undefined],
    ['in another form of the same characters', { a: '\u00e9' }, { a: 'e\u0301' }],
    ['with a key that objects have by nature', {}, { constructor: 'x' }],
  ])('%s does not open a blob', async (_title, EncryptionContext, other) => {
    const { kms, arn } = await freshKms()
    const { CiphertextBlob } = await kms.encrypt({
      KeyId: arn,
      Plaintext: bytes('x'),
      EncryptionContext,
    })
    const opening = kms.decrypt({ CiphertextBlob, EncryptionContext: other })
    expect(await refusal(opening)).toBe('InvalidCiphertextException')
    expect(text((await kms.decrypt({ CiphertextBlob, EncryptionContext })).Plaintext)).toBe('x')
  })

  test('with the name __proto__ is refused by every operation', async () => {
    const { kms, arn } = await freshKms()
    const EncryptionContext = JSON.parse('{"a":"b","__proto__":"x"}') as Record<string, string>
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    const uses = [
      kms.encrypt({ KeyId: arn, Plaintext: bytes('x'), EncryptionContext }),
      kms.decrypt({ CiphertextBlob, EncryptionContext }),
      kms.generateDataKey({ KeyId: arn, NumberOfBytes: 1, EncryptionContext }),
      kms.generateDataKeyWithoutPlaintext({ KeyId: arn, NumberOfBytes: 1, EncryptionContext }),
      kms.reEncrypt({
        DestinationKeyId: arn,
        CiphertextBlob,
        SourceEncryptionContext: EncryptionContext,
      }),
      kms.reEncrypt({
        DestinationKeyId: arn,
        CiphertextBlob,
        DestinationEncryptionContext: EncryptionContext,
      }),
    ]
    expect(await Promise.all(uses.map(refusal))).toEqual(uses.map(() => 'ValidationException'))
  })

  test('that is missing is an empty one', async () => {
    const { kms, arn } = await freshKms()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    await kms.decrypt({ CiphertextBlob, EncryptionContext: {} })
    const explicit = await kms.encrypt({
      KeyId: arn,
      Plaintext: bytes('x'),
      EncryptionContext: {},
    })
    expect(await kms.decrypt({ CiphertextBlob: explicit.CiphertextBlob })).toBeDefined()
  })

  test('is not part of the blob', async () => {
    const { kms, arn } = await freshKms()
    const seal = (EncryptionContext: Record<string, string>) =>
      kms.encrypt({ KeyId: arn, Plaintext: bytes('x'), EncryptionContext })
    const { CiphertextBlob: long } = await seal({ tenant: 'a-very-long-name'.repeat(20) })
    const { CiphertextBlob: none } = await seal({})
    expect(long).toHaveLength(none.length)
  })

  test('is taken as it was when the call was made', async () => {
    const { kms, arn } = await freshKms()
    const EncryptionContext: Record<string, string> = { a: '1' }
    const sealing = kms.encrypt({ KeyId: arn, Plaintext: bytes('x'), EncryptionContext })
    EncryptionContext['a'] = '2'
    const { CiphertextBlob } = await sealing
    const opened = await kms.decrypt({ CiphertextBlob, EncryptionContext: { a: '1' } })
    expect(text(opened.Plaintext)).toBe('x')
  })
})

describe('a blob that does not belong', () => {
  test('is refused with any bit flipped, and at any length but its own', async () => {
    const { kms, arn } = await freshKms()
    const EncryptionContext = { a: 'b' }
    const { CiphertextBlob } = await kms.encrypt({
      KeyId: arn,
      Plaintext: bytes('secret'),
      EncryptionContext,
    })
    const open = (blob: Uint8Array, KeyId?: string) =>
      refusal(kms.decrypt({ CiphertextBlob: blob, EncryptionContext, KeyId }))
    const outcomes = new Set<string>()
    for (let bit = 0; bit < 8 * CiphertextBlob.length; bit += 1) {
      const altered = Uint8Array.from(CiphertextBlob)
      altered[bit >> 3]! ^= 1 << (bit & 7)
      outcomes.add(await open(altered)).add(await open(altered, arn))
    }
    for (let length = 1; length < CiphertextBlob.length; length += 1) {
      outcomes.add(await open(CiphertextBlob.slice(0, length)))
    }
    outcomes.add(await open(Uint8Array.of(...CiphertextBlob, 0)))
    expect([...outcomes]).toEqual(['InvalidCiphertextException'])
    expect(await open(CiphertextBlob)).toBe('no error')
  })

  test('is refused when it is anything at all', async () => {
    const { kms } = await freshKms()
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (blob) => {
        expect(await refusal(kms.decrypt({ CiphertextBlob: blob }))).toBe(
          'InvalidCiphertextException',
        )
      }),
      { numRuns: 300 },
    )
  })

  test('is refused when it is of another KMS, also one with the same master key', async () => {
    const { kms, arn, masterKey } = await freshKms()
    const other = await freshKms({ masterKey })
    const { CiphertextBlob } = await other.kms.encrypt({ KeyId: other.arn, Plaintext: bytes('x') })
    expect(await refusal(kms.decrypt({ CiphertextBlob }))).toBe('InvalidCiphertextException')
    expect(await refusal(kms.decrypt({ CiphertextBlob, KeyId: arn }))).toBe(
      'InvalidCiphertextException',
    )
  })

  test('is an IncorrectKeyException when it is of another key than the one given', async () => {
    const { kms, arn } = await freshKms()
    const { KeyMetadata: other } = await kms.createKey()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    expect(await refusal(kms.decrypt({ CiphertextBlob, KeyId: other.Arn }))).toBe(
      'IncorrectKeyException',
    )
    const moving = kms.reEncrypt({
      CiphertextBlob,
      SourceKeyId: other.KeyId,
      DestinationKeyId: arn,
    })
    expect(await refusal(moving)).toBe('IncorrectKeyException')
  })

  test('is refused when it names a version that the key never had', async () => {
    const { kms, arn } = await freshKms()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    for (const version of [0, 2, 2 ** 32 - 1]) {
      const altered = Buffer.from(CiphertextBlob)
      altered.writeUInt32BE(version, 18)
      expect(await refusal(kms.decrypt({ CiphertextBlob: altered }))).toBe(
        'InvalidCiphertextException',
      )
    }
  })

  test('is distinguished from one whose material the store has lost', async () => {
    const { kms, storage, masterKey, arn, id } = await freshKms()
    const { CiphertextBlob: old } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('old') })
    await kms.rotateKeyOnDemand({ KeyId: arn })
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    storage.keys.get(id)?.versions.delete(2)
    const restarted = await createKms({ masterKey, storage })
    const lost = `Stored material of ${arn} is missing: restore it from a backup`
    await expect(restarted.decrypt({ CiphertextBlob })).rejects.toMatchObject({
      name: 'KMSInvalidStateException',
      message: lost,
    })
    await expect(restarted.encrypt({ KeyId: arn, Plaintext: bytes('x') })).rejects.toThrow(lost)
    expect(text((await restarted.decrypt({ CiphertextBlob: old })).Plaintext)).toBe('old')
  })
})

import { describe, expect, test } from 'vitest'
import { bytes, freshKms, refusal, text } from '../support/kms.ts'

describe('data keys', () => {
  test('come in clear and as a blob that opens to the same bytes', async () => {
    const { kms, arn } = await freshKms()
    const EncryptionContext = { purpose: 'test' }
    const made = await kms.generateDataKey({ KeyId: arn, KeySpec: 'AES_256', EncryptionContext })
    expect(made).toEqual({
      KeyId: arn,
      Plaintext: expect.any(Uint8Array),
      CiphertextBlob: expect.any(Uint8Array),
    })
    const { CiphertextBlob } = made
    const opened = await kms.decrypt({ CiphertextBlob, EncryptionContext })
    expect(opened.Plaintext).toEqual(made.Plaintext)
    expect(await refusal(kms.decrypt({ CiphertextBlob }))).toBe('InvalidCiphertextException')
  })

  test.each([
    [{ KeySpec: 'AES_128' as const }, 16],
    [{ KeySpec: 'AES_256' as const }, 32],
    [{ NumberOfBytes: 1 }, 1],
    [{ NumberOfBytes: 1024 }, 1024],
  ])('of %o have %i bytes', async (size, length) => {
    const { kms, arn } = await freshKms()
    const { Plaintext } = await kms.generateDataKey({ KeyId: arn, ...size })
    expect(Plaintext).toHaveLength(length)
    const { CiphertextBlob } = await kms.generateDataKeyWithoutPlaintext({ KeyId: arn, ...size })
    expect((await kms.decrypt({ CiphertextBlob })).Plaintext).toHaveLength(length)
  })

  test('without plaintext come as a blob and nothing else', async () => {
    const { kms, arn } = await freshKms()
    const made = await kms.generateDataKeyWithoutPlaintext({ KeyId: arn, NumberOfBytes: 32 })
    expect(made).toEqual({ KeyId: arn, CiphertextBlob: expect.any(Uint8Array) })
    const { Plaintext } = await kms.decrypt({ CiphertextBlob: made.CiphertextBlob })
    expect(Plaintext).not.toEqual(new Uint8Array(32))
  })

  test('are different every time', async () => {
    const { kms, arn } = await freshKms()
    const make = async () => {
      const { Plaintext } = await kms.generateDataKey({ KeyId: arn, KeySpec: 'AES_256' })
      return Buffer.from(Plaintext).toString('hex')
    }
    expect(new Set(await Promise.all(Array.from({ length: 100 }, make))).size).toBe(100)
  })
})

describe('ReEncrypt', () => {
  test('changes the context, and the plaintext does not leave', async () => {
    const { kms, arn } = await freshKms()
    const before = { type: 'version' }
    const after = { type: 'active' }
    const { CiphertextBlob } = await kms.generateDataKeyWithoutPlaintext({
      KeyId: arn,
      NumberOfBytes: 32,
      EncryptionContext: before,
    })
    const moved = await kms.reEncrypt({
      CiphertextBlob,
      SourceKeyId: arn,
      SourceEncryptionContext: before,
      DestinationKeyId: arn,
      DestinationEncryptionContext: after,
    })
    expect(moved).toEqual({
      SourceKeyId: arn,
      KeyId: arn,
      CiphertextBlob: expect.any(Uint8Array),
      SourceEncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
      DestinationEncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
    })
    const old = await kms.decrypt({ CiphertextBlob, EncryptionContext: before })
    const { CiphertextBlob: blob } = moved
    const opened = await kms.decrypt({ CiphertextBlob: blob, EncryptionContext: after })
    expect(opened.Plaintext).toEqual(old.Plaintext)
    expect(await refusal(kms.decrypt({ CiphertextBlob: blob, EncryptionContext: before }))).toBe(
      'InvalidCiphertextException',
    )
  })

  test('changes the key', async () => {
    const { kms, arn } = await freshKms()
    const { KeyMetadata: other } = await kms.createKey()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('secret') })
    const moved = await kms.reEncrypt({ CiphertextBlob, DestinationKeyId: other.KeyId })
    expect(moved).toMatchObject({ SourceKeyId: arn, KeyId: other.Arn })
    const opened = await kms.decrypt({
      CiphertextBlob: moved.CiphertextBlob,
      KeyId: other.Arn,
    })
    expect(text(opened.Plaintext)).toBe('secret')
  })

  test('needs the context of the source, and both keys to be usable', async () => {
    const { kms, arn } = await freshKms()
    const { KeyMetadata: other } = await kms.createKey()
    const { CiphertextBlob } = await kms.encrypt({
      KeyId: arn,
      Plaintext: bytes('x'),
      EncryptionContext: { a: '1' },
    })
    const move = (SourceEncryptionContext = { a: '1' }) =>
      refusal(
        kms.reEncrypt({ CiphertextBlob, SourceEncryptionContext, DestinationKeyId: other.Arn }),
      )
    expect(await move({ a: '2' })).toBe('InvalidCiphertextException')
    await kms.disableKey({ KeyId: other.Arn })
    expect(await move()).toBe('DisabledException')
    await kms.enableKey({ KeyId: other.Arn })
    await kms.disableKey({ KeyId: arn })
    expect(await move()).toBe('DisabledException')
    await kms.enableKey({ KeyId: arn })
    expect(await move()).toBe('no error')
  })
})

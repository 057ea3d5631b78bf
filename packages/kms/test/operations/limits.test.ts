import { describe, expect, test } from 'vitest'
import type { KmsOperations } from '../../src/kms.ts'
import { bytes, freshKms, refusal } from '../support/kms.ts'

type Request = Record<string, unknown>

/** Calls an operation as a program without types may. */
async function outcome(operation: keyof KmsOperations, request: unknown) {
  const { kms, arn } = await freshKms()
  const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
  const call = kms[operation] as (input: unknown) => Promise<unknown>
  const rightful: Partial<Record<keyof KmsOperations, Request>> = {
    describeKey: { KeyId: arn },
    encrypt: { KeyId: arn, Plaintext: bytes('x') },
    decrypt: { CiphertextBlob },
    generateDataKey: { KeyId: arn, ...(hasSize(request) ? {} : { NumberOfBytes: 32 }) },
    reEncrypt: { CiphertextBlob, DestinationKeyId: arn },
  }
  const isObject = typeof request === 'object' && request !== null && !Array.isArray(request)
  return refusal(call(isObject ? { ...rightful[operation], ...request } : request))
}

function hasSize(request: unknown): boolean {
  return (
    typeof request === 'object' &&
    request !== null &&
    ('NumberOfBytes' in request || 'KeySpec' in request)
  )
}

const ok = 'no error'
const invalid = 'ValidationException'
const unsupported = 'UnsupportedOperationException'
const tokens = (count: number, length = 1) =>
  Array.from({ length: count }, () => 'x'.repeat(length))

describe('what each operation takes', () => {
  test.each<[keyof KmsOperations, Request, string]>([
    ['encrypt', { Plaintext: new Uint8Array(0) }, invalid],
    ['encrypt', { Plaintext: new Uint8Array(1) }, ok],
    ['encrypt', { Plaintext: new Uint8Array(4096) }, ok],
    ['encrypt', { Plaintext: new Uint8Array(4097) }, invalid],
    ['encrypt', { Plaintext: 'text' }, invalid],
    ['encrypt', { Plaintext: undefined }, invalid],
    ['encrypt', { KeyId: undefined }, invalid],
    ['encrypt', { KeyId: '' }, invalid],
    ['encrypt', { KeyId: 5 }, invalid],
    ['encrypt', { KeyId: 'x'.repeat(2049) }, invalid],
    ['encrypt', { EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' }, ok],
    ['encrypt', { EncryptionAlgorithm: 'RSAES_OAEP_SHA_256' }, unsupported],
    ['encrypt', { DryRun: false }, ok],
    ['encrypt', { DryRun: true }, unsupported],
    ['encrypt', { EncryptionContext: null }, invalid],
    ['encrypt', { EncryptionContext: 'a=b' }, invalid],
    ['encrypt', { EncryptionContext: ['a'] }, invalid],
    ['encrypt', { EncryptionContext: { a: 1 } }, invalid],
    ['encrypt', { EncryptionContext: { a: undefined } }, invalid],
    ['encrypt', { EncryptionContext: { a: '\ud800' } }, invalid],
    ['encrypt', { EncryptionContext: { '\udc00': 'a' } }, invalid],
    ['encrypt', { EncryptionContext: { '🔑': '🔑', '': '' } }, ok],
    ['encrypt', { GrantTokens: [] }, ok],
    ['encrypt', { GrantTokens: tokens(10) }, ok],
    ['encrypt', { GrantTokens: tokens(11) }, invalid],
    ['encrypt', { GrantTokens: tokens(1, 8192) }, ok],
    ['encrypt', { GrantTokens: tokens(1, 8193) }, invalid],
    ['encrypt', { GrantTokens: [''] }, invalid],
    ['encrypt', { GrantTokens: [5] }, invalid],
    ['encrypt', { GrantTokens: 'x' }, invalid],
    ['decrypt', { GrantTokens: tokens(11) }, invalid],
    ['generateDataKey', { GrantTokens: tokens(11) }, invalid],
    ['reEncrypt', { GrantTokens: tokens(11) }, invalid],
    ['describeKey', { GrantTokens: tokens(11) }, invalid],
    ['decrypt', { CiphertextBlob: new Uint8Array(0) }, invalid],
    ['decrypt', { CiphertextBlob: new Uint8Array(1) }, 'InvalidCiphertextException'],
    ['decrypt', { CiphertextBlob: new Uint8Array(6144) }, 'InvalidCiphertextException'],
    ['decrypt', { CiphertextBlob: new Uint8Array(6145) }, invalid],
    ['decrypt', { CiphertextBlob: undefined }, invalid],
    ['decrypt', { CiphertextBlob: 'AAAA' }, invalid],
    ['decrypt', { Recipient: {} }, unsupported],
    ['decrypt', { KeyId: '' }, invalid],
    ['generateDataKey', { NumberOfBytes: 0 }, invalid],
    ['generateDataKey', { NumberOfBytes: 1 }, ok],
    ['generateDataKey', { NumberOfBytes: 1024 }, ok],
    ['generateDataKey', { NumberOfBytes: 1025 }, invalid],
    ['generateDataKey', { NumberOfBytes: 1.5 }, invalid],
    ['generateDataKey', { NumberOfBytes: '32' }, invalid],
    ['generateDataKey', { NumberOfBytes: 32, KeySpec: 'AES_256' }, invalid],
    ['generateDataKey', { NumberOfBytes: undefined, KeySpec: undefined }, invalid],
    ['generateDataKey', { KeySpec: 'AES_512' }, invalid],
    ['reEncrypt', { DestinationKeyId: undefined }, invalid],
    ['reEncrypt', { SourceKeyId: '' }, invalid],
    ['reEncrypt', { SourceEncryptionContext: 5 }, invalid],
    ['reEncrypt', { DestinationEncryptionContext: 5 }, invalid],
    ['reEncrypt', { SourceEncryptionAlgorithm: 'RSAES_OAEP_SHA_1' }, unsupported],
    ['createKey', {}, ok],
    ['createKey', { Description: 'x'.repeat(8192) }, ok],
    ['createKey', { Description: 'x'.repeat(8193) }, invalid],
    ['createKey', { Description: 5 }, invalid],
    ['createKey', { MultiRegion: 'yes' }, invalid],
    ['createKey', { KeySpec: 'SYMMETRIC_DEFAULT', KeyUsage: 'ENCRYPT_DECRYPT' }, ok],
    ['createKey', { KeySpec: 'RSA_2048' }, unsupported],
    ['createKey', { KeyUsage: 'SIGN_VERIFY' }, unsupported],
    ['createKey', { Origin: 'EXTERNAL' }, unsupported],
    ['createKey', { Policy: '{}' }, unsupported],
    ['createKey', { Tags: [{ TagKey: 'a', TagValue: 'b' }] }, unsupported],
    ['listKeys', { Limit: 1 }, ok],
    ['listKeys', { Limit: 1000 }, ok],
    ['listKeys', { Limit: 0 }, invalid],
    ['listKeys', { Limit: 1001 }, invalid],
  ])('%s %o: %s', async (operation, request, expected) => {
    expect(await outcome(operation, request)).toBe(expected)
  })

  test.each([null, 5, 'text', []])('is an object, not %o', async (request) => {
    expect(await outcome('encrypt', request)).toBe(invalid)
    expect(await outcome('createKey', request)).toBe(invalid)
  })

  test('fits: a blob of the largest plaintext is within the limit of a blob', async () => {
    const { kms, arn } = await freshKms()
    const Plaintext = new Uint8Array(4096).fill(7)
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext })
    expect(CiphertextBlob.length).toBeLessThanOrEqual(6144)
    expect((await kms.decrypt({ CiphertextBlob })).Plaintext).toEqual(Plaintext)
  })

  test('is checked before anything is stored', async () => {
    const { kms, storage } = await freshKms()
    await refusal(kms.createKey({ Description: 'x'.repeat(8193) }))
    expect(storage.keys.size).toBe(1)
  })
})

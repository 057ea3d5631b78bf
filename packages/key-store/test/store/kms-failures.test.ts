import type { Kms } from '@strongroom/kit/kms'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openTestKeyStore } from '../support/open-key-store.ts'

describe.each(serviceStores())('a KMS that fails under a key store on $name', (store) => {
  const opened = openTestKeyStore(store)
  let key: { branchKeyIdentifier: string }

  beforeAll(async () => {
    key = await opened.open().keyStore.createKey()
  })
  afterEach(() => opened.kms.enableKey({ KeyId: opened.arn }))

  /** How creating, rotating and reading end with this KMS; nothing may be written. */
  async function uses(broken: Partial<Kms>): Promise<unknown[]> {
    const { keyStore } = opened.open({ kms: { ...opened.kms, ...broken } })
    const before = await opened.countItems()
    const outcomes = await Promise.allSettled([
      keyStore.createKey(),
      keyStore.versionKey(key),
      keyStore.getActiveBranchKey(key),
      keyStore.getBeaconKey(key),
    ])
    expect(await opened.countItems()).toBe(before)
    return outcomes.map((each) => (each.status === 'fulfilled' ? 'done' : each.reason))
  }

  const failingWith = (failure: Error): Partial<Kms> => {
    const fail = () => Promise.reject(failure)
    return { generateDataKeyWithoutPlaintext: fail, reEncrypt: fail, decrypt: fail }
  }

  // KS-78, KS-87, KS-90, KS-92
  test.each([
    ['AccessDeniedException', 'KmsAccessDenied'],
    ['InvalidGrantTokenException', 'KmsAccessDenied'],
    ['CredentialsProviderError', 'KmsAccessDenied'],
    ['DisabledException', 'KmsKeyUnusable'],
    ['KMSInvalidStateException', 'KmsKeyUnusable'],
    ['NotFoundException', 'KmsKeyUnusable'],
    ['InvalidKeyUsageException', 'KmsKeyUnusable'],
    ['KMSInternalException', 'KmsUnavailable'],
    ['DependencyTimeoutException', 'KmsUnavailable'],
    ['ThrottlingException', 'KmsUnavailable'],
    ['TimeoutError', 'KmsUnavailable'],
    ['InvalidCiphertextException', 'BranchKeyCiphertextInvalid'],
    ['IncorrectKeyException', 'BranchKeyCiphertextInvalid'],
    ['ValidationException', 'KmsFailed'],
  ])('with %s gives %s, with what KMS said as its cause', async (kmsName, name) => {
    const cause = Object.assign(new Error('very-secret'), { name: kmsName })
    for (const error of await uses(failingWith(cause))) {
      expect(error).toMatchObject({ name, cause })
      expect((error as Error).message).toMatch(/\. (?:Check|Try|See|Do not|Restore) /)
      expect((error as Error).message).not.toContain('very-secret')
    }
  })

  test.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND'])('by %s is unavailable', async (code) => {
    const cause = Object.assign(new Error('connect'), { code })
    for (const error of await uses(failingWith(cause)))
      expect(error).toMatchObject({ name: 'KmsUnavailable', cause })
  })

  test('because its key is disabled is reported as such, and works again when it is enabled', async () => {
    await opened.kms.disableKey({ KeyId: opened.arn })
    for (const error of await uses({}))
      expect(error).toMatchObject({ name: 'KmsKeyUnusable', cause: { name: 'DisabledException' } })
    await opened.kms.enableKey({ KeyId: opened.arn })
    await opened.open().keyStore.getActiveBranchKey(key)
  })

  const other = 'arn:aws:kms:us-west-2:111122223333:key/other'

  // KS-70, KS-72, KS-74, KS-84
  test.each<[what: string, answer: (kms: Kms) => Partial<Kms>]>([
    [
      'makes a key under another one',
      (kms) => ({
        generateDataKeyWithoutPlaintext: async (input) => ({
          ...(await kms.generateDataKeyWithoutPlaintext(input)),
          KeyId: other,
        }),
      }),
    ],
    [
      'makes no key',
      (kms) => ({
        generateDataKeyWithoutPlaintext: async (input) => ({
          ...(await kms.generateDataKeyWithoutPlaintext(input)),
          CiphertextBlob: new Uint8Array(0),
        }),
      }),
    ],
    [
      're-encrypts from another key',
      (kms) => ({
        reEncrypt: async (input) => ({ ...(await kms.reEncrypt(input)), SourceKeyId: other }),
      }),
    ],
    [
      're-encrypts to another key',
      (kms) => ({
        reEncrypt: async (input) => ({ ...(await kms.reEncrypt(input)), KeyId: other }),
      }),
    ],
  ])('and %s is not believed', async (_what, answer) => {
    const [created, versioned] = await uses(answer(opened.kms))
    expect(created).toMatchObject({ name: 'UnexpectedKmsAnswer' })
    expect(versioned).toMatchObject({ name: 'UnexpectedKmsAnswer' })
  })

  // KS-112
  test.each([
    ['decrypts by another key', { KeyId: other, Plaintext: new Uint8Array(32) }],
    ['gives 31 bytes', { Plaintext: new Uint8Array(31) }],
    ['gives 33 bytes', { Plaintext: new Uint8Array(33) }],
    ['gives none', { Plaintext: new Uint8Array(0) }],
  ])('and %s is not believed', async (_what, answer) => {
    const { keyStore } = opened.open({
      kms: {
        ...opened.kms,
        decrypt: async (input) => ({ ...(await opened.kms.decrypt(input)), ...answer }),
      },
    })
    const unbelieved = { name: 'UnexpectedKmsAnswer' }
    await expect(keyStore.getActiveBranchKey(key)).rejects.toMatchObject(unbelieved)
    await expect(keyStore.getBeaconKey(key)).rejects.toMatchObject(unbelieved)
  })
})

import { randomUUID } from 'node:crypto'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { openTestKeyStore } from '../support/open-key-store.ts'

type NewKey = Parameters<ReturnType<typeof untyped>['createKey']>[0]
const encryptionContext = { tenant: 'one' }
const loneSurrogate = 'half \uD83D'

/** Programs in JavaScript may give anything. */
function untyped(keyStore: ReturnType<ReturnType<typeof openTestKeyStore>['open']>['keyStore']) {
  return keyStore as unknown as {
    createKey(input: { branchKeyIdentifier?: unknown; encryptionContext?: unknown }): Promise<never>
    versionKey(input: { branchKeyIdentifier?: unknown }): Promise<never>
    getActiveBranchKey(input: { branchKeyIdentifier?: unknown }): Promise<never>
    getBeaconKey(input: { branchKeyIdentifier?: unknown }): Promise<never>
    getBranchKeyVersion(input: {
      branchKeyIdentifier?: unknown
      branchKeyVersion?: unknown
    }): Promise<never>
  }
}

describe.each(serviceStores())('bad input of a key store on $name', (store) => {
  const opened = openTestKeyStore(store)
  let tenant: string

  beforeAll(async () => {
    tenant = (await opened.open().keyStore.createKey()).branchKeyIdentifier
  })

  /** The error of a call, which must have cost no call to KMS and no write. */
  async function refusalOf(
    call: (keyStore: ReturnType<typeof untyped>) => Promise<unknown>,
  ): Promise<Error> {
    const { keyStore, calls } = opened.open()
    const before = await opened.countItems()
    const error: unknown = await call(untyped(keyStore)).then(
      () => new Error('It was not refused'),
      (thrown: unknown) => thrown,
    )
    expect(calls).toEqual([])
    expect(await opened.countItems()).toBe(before)
    return error as Error
  }

  // KS-64, KS-78
  test.each<[what: string, name: string, input: NewKey]>([
    ['an empty id', 'EmptyIdentifier', { branchKeyIdentifier: '', encryptionContext }],
    ['an empty id alone', 'EmptyIdentifier', { branchKeyIdentifier: '' }],
    ['an id without context', 'EncryptionContextRequired', { branchKeyIdentifier: 'secret-id' }],
    [
      'an id with empty context',
      'EncryptionContextRequired',
      { branchKeyIdentifier: 'secret-id', encryptionContext: {} },
    ],
    ['no text as an id', 'InvalidIdentifier', { branchKeyIdentifier: 42, encryptionContext }],
    ['null as an id', 'InvalidIdentifier', { branchKeyIdentifier: null, encryptionContext }],
    [
      'an id that is too long',
      'InvalidIdentifier',
      { branchKeyIdentifier: 'é'.repeat(1025), encryptionContext },
    ],
    [
      'half a character in the id',
      'InvalidIdentifier',
      { branchKeyIdentifier: loneSurrogate, encryptionContext },
    ],
    [
      'a number in the context',
      'InvalidEncryptionContext',
      { encryptionContext: { 'secret-name': 42 } },
    ],
    [
      'undefined in the context',
      'InvalidEncryptionContext',
      { encryptionContext: { 'secret-name': undefined } },
    ],
    [
      'half a character in a name of the context',
      'InvalidEncryptionContext',
      { encryptionContext: { [loneSurrogate]: 'secret-value' } },
    ],
    [
      'half a character in a value of the context',
      'InvalidEncryptionContext',
      { encryptionContext: { 'secret-name': loneSurrogate } },
    ],
    [
      'a name that no attribute can have',
      'InvalidEncryptionContext',
      { encryptionContext: { ['n'.repeat(65_522)]: 'secret-value' } },
    ],
    [
      'the name __proto__ in the context',
      'InvalidEncryptionContext',
      { encryptionContext: JSON.parse('{"a":"b","__proto__":"secret-value"}') },
    ],
    ['a list as context', 'InvalidEncryptionContext', { encryptionContext: ['secret-value'] }],
    ['a map as context', 'InvalidEncryptionContext', { encryptionContext: new Map([['a', 'b']]) }],
    ['text as context', 'InvalidEncryptionContext', { encryptionContext: 'secret-value' }],
    ['null as context', 'InvalidEncryptionContext', { encryptionContext: null }],
  ])('%s makes no key: %s', async (_what, name, input) => {
    const error = await refusalOf((keyStore) => keyStore.createKey(input))
    expect(error).toMatchObject({ name })
    expect(error.message).toMatch(/\. (?:Pass|Choose) /)
    expect(error.message).not.toMatch(/secret-|42/)
  })

  // KS-79
  test.each<[what: string, name: string, id: unknown]>([
    ['an empty id', 'EmptyIdentifier', ''],
    ['no id', 'InvalidIdentifier', undefined],
    ['a number', 'InvalidIdentifier', 42],
    ['too long an id', 'InvalidIdentifier', 'x'.repeat(2049)],
    ['half a character', 'InvalidIdentifier', loneSurrogate],
    ['an id that nobody has', 'BranchKeyNotFound', 'secret-id'],
  ])('%s rotates and reads nothing: %s', async (_what, name, branchKeyIdentifier) => {
    for (const error of [
      await refusalOf((keyStore) => keyStore.versionKey({ branchKeyIdentifier })),
      await refusalOf((keyStore) => keyStore.getActiveBranchKey({ branchKeyIdentifier })),
      await refusalOf((keyStore) => keyStore.getBeaconKey({ branchKeyIdentifier })),
      await refusalOf((keyStore) =>
        keyStore.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion: randomUUID() }),
      ),
    ]) {
      expect(error).toMatchObject({ name })
      expect(error.message).toMatch(/\. (?:Pass|Create) /)
      expect(error.message).not.toContain('secret-id')
    }
  })

  test.each<[what: string, name: string, version: unknown]>([
    ['empty', 'EmptyIdentifier', ''],
    ['not given', 'InvalidBranchKeyVersion', undefined],
    ['no UUID', 'InvalidBranchKeyVersion', 'ACTIVE'],
    ['in upper case', 'InvalidBranchKeyVersion', '6024B9A5-F9CD-44EC-9BA3-EBFBA597D31B'],
    ['prefixed', 'InvalidBranchKeyVersion', 'branch:version:6024b9a5-f9cd-44ec-9ba3-ebfba597d31b'],
    ['one that the key does not have', 'BranchKeyNotFound', randomUUID()],
  ])('a version that is %s is not read: %s', async (_what, name, branchKeyVersion) => {
    const error = await refusalOf((keyStore) =>
      keyStore.getBranchKeyVersion({ branchKeyIdentifier: tenant, branchKeyVersion }),
    )
    expect(error).toMatchObject({ name })
  })

  test('the longest id is no bad input', async () => {
    const { keyStore } = opened.open()
    const branchKeyIdentifier = 'é'.repeat(1024)
    await keyStore.createKey({ branchKeyIdentifier, encryptionContext })
    const read = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
    expect(read).toMatchObject({ branchKeyIdentifier, encryptionContext })
  })

  // KS-78
  test('a key that exists is not made again, and stays as it is', async () => {
    const { keyStore } = opened.open()
    const branchKeyIdentifier = randomUUID()
    await keyStore.createKey({ branchKeyIdentifier, encryptionContext })
    const before = await opened.items(branchKeyIdentifier)
    await expect(
      keyStore.createKey({ branchKeyIdentifier, encryptionContext }),
    ).rejects.toMatchObject({ name: 'BranchKeyExists' })
    expect(await opened.items(branchKeyIdentifier)).toEqual(before)
  })
})

import { randomUUID } from 'node:crypto'
import type { Value } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createKeyStorage } from '../../src/store/storage.ts'
import { LOGICAL, TABLE } from '../support/branch-keys.ts'
import { openTestKeyStore } from '../support/open-key-store.ts'

const encryptionContext = { tenant: 'one', region: 'north' }

describe.each(serviceStores())('an altered branch key on $name', (store) => {
  const opened = openTestKeyStore(store)

  async function newKey() {
    const { keyStore } = opened.open()
    const branchKeyIdentifier = randomUUID()
    await keyStore.createKey({ branchKeyIdentifier, encryptionContext })
    const { branchKeyVersion } = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
    const versionType = `branch:version:${branchKeyVersion}`
    return { branchKeyIdentifier, branchKeyVersion, versionType }
  }

  type Key = Awaited<ReturnType<typeof newKey>>

  /** How each use of an item of this type ends, and how many calls to KMS it takes. */
  async function uses(key: Key, type: string, options: Parameters<typeof opened.open>[0] = {}) {
    const { keyStore, calls } = opened.open(options)
    const attempts =
      type === 'branch:ACTIVE'
        ? [() => keyStore.getActiveBranchKey(key), () => keyStore.versionKey(key)]
        : type === 'beacon:ACTIVE'
          ? [() => keyStore.getBeaconKey(key)]
          : [() => keyStore.getBranchKeyVersion(key)]
    const outcomes = new Set<string>()
    for (const attempt of attempts) {
      const outcome = await attempt().then(
        () => 'used',
        (error: Error) => error.name,
      )
      outcomes.add(outcome)
    }
    return { outcomes: [...outcomes], callsForEach: calls.length / attempts.length }
  }

  const refusedBy = (name: string, callsForEach: number) => ({ outcomes: [name], callsForEach })
  const typesOf = ({ versionType }: Key) => ['branch:ACTIVE', 'beacon:ACTIVE', versionType]

  test('is used as long as nothing is altered', async () => {
    const key = await newKey()
    for (const type of typesOf(key)) {
      expect((await uses(key, type)).outcomes).toEqual(['used'])
    }
  })

  // KS-84, KS-90, KS-91, KS-92, KS-107
  test.each<[what: string, change: Record<string, Value | undefined>]>([
    ['another create-time', { 'create-time': '2100-01-01T18:15:17.223001Z' }],
    ['a blank create-time', { 'create-time': ' ' }],
    ['other custom context', { 'aws-crypto-ec:tenant': 'two' }],
    ['custom context of another case', { 'aws-crypto-ec:tenant': 'One' }],
    ['custom context taken away', { 'aws-crypto-ec:region': undefined }],
    ['custom context added', { 'aws-crypto-ec:more': 'context' }],
    ['custom context renamed', { 'aws-crypto-ec:region': undefined, region: 'north' }],
    ['a further string attribute', { note: 'harmless' }],
    ['another ciphertext', { enc: new Uint8Array(184).fill(7) }],
    ['a ciphertext of one byte', { enc: new Uint8Array(1) }],
  ])('is refused by KMS with %s', async (_what, change) => {
    const key = await newKey()
    for (const type of typesOf(key)) {
      await opened.tamper(key.branchKeyIdentifier, type, change)
      expect(await uses(key, type)).toEqual(refusedBy('BranchKeyCiphertextInvalid', 1))
    }
    const types = (await opened.items(key.branchKeyIdentifier)).map(({ type }) => type)
    expect(types).toHaveLength(3)
  })

  test('is refused by KMS with a ciphertext that is cut short or differs in one bit', async () => {
    const key = await newKey()
    for (const type of typesOf(key)) {
      const enc = (await opened.item(key.branchKeyIdentifier, type)).enc as Uint8Array
      const oneBit = Uint8Array.from(enc, (byte, at) => (at === enc.length - 1 ? byte ^ 1 : byte))
      for (const altered of [enc.slice(0, -1), oneBit]) {
        await opened.tamper(key.branchKeyIdentifier, type, { enc: altered })
        expect(await uses(key, type)).toEqual(refusedBy('BranchKeyCiphertextInvalid', 1))
      }
    }
  })

  test.each<[what: string, name: string, change: Record<string, Value | undefined>]>([
    ['another kms-arn', 'KmsKeyMismatch', { 'kms-arn': 'arn:aws:kms:us-west-2:1:key/1' }],
    ['an alias', 'KmsKeyMismatch', { 'kms-arn': 'arn:aws:kms:us-west-2:1:alias/a' }],
    ['no kms-arn', 'ItemMismatch', { 'kms-arn': undefined }],
    ['another hierarchy-version', 'UnsupportedHierarchyVersion', { 'hierarchy-version': 2 }],
    ['a hierarchy-version that is text', 'ItemMismatch', { 'hierarchy-version': '1' }],
    ['no hierarchy-version', 'ItemMismatch', { 'hierarchy-version': undefined }],
    ['no create-time', 'ItemMismatch', { 'create-time': undefined }],
    ['a tablename', 'ItemMismatch', { tablename: LOGICAL }],
    ['a further number', 'ItemMismatch', { note: 1 }],
    ['a further list', 'ItemMismatch', { 'aws-crypto-ec:more': ['context'] }],
    ['no enc', 'ItemMismatch', { enc: undefined }],
    ['an enc that is text', 'ItemMismatch', { enc: 'text' }],
    ['an enc that KMS cannot have made', 'ItemMismatch', { enc: new Uint8Array(6145) }],
  ])('is refused without KMS with %s: %s', async (_what, name, change) => {
    const key = await newKey()
    for (const type of typesOf(key)) {
      await opened.tamper(key.branchKeyIdentifier, type, change)
      expect(await uses(key, type)).toEqual(refusedBy(name, 0))
    }
    expect(await opened.items(key.branchKeyIdentifier)).toHaveLength(3)
  })

  test.each<[what: string, name: string, version: string | undefined, calls: number]>([
    ['another version', 'BranchKeyCiphertextInvalid', `branch:version:${randomUUID()}`, 1],
    ['no version', 'ItemMismatch', undefined, 0],
    ['the prefix of a version', 'ItemMismatch', 'branch:version:', 0],
    ['a version without its prefix', 'ItemMismatch', randomUUID(), 0],
    ['a version that is no UUID', 'InvalidBranchKeyVersion', 'branch:version:newest', 0],
  ])('is refused as the active one with %s: %s', async (_what, name, version, calls) => {
    const key = await newKey()
    await opened.tamper(key.branchKeyIdentifier, 'branch:ACTIVE', { version })
    expect(await uses(key, 'branch:ACTIVE')).toEqual(refusedBy(name, calls))
  })

  // KS-54, KS-96
  test('is refused under another logical name', async () => {
    const key = await newKey()
    const storage = createKeyStorage({
      db: opened.db,
      tableName: TABLE,
      logicalKeyStoreName: 'Elsewhere',
    })
    for (const type of typesOf(key)) {
      expect(await uses(key, type, { storage })).toEqual(refusedBy('BranchKeyCiphertextInvalid', 1))
    }
  })

  test('is rejected with the ciphertext of another item of the same key', async () => {
    const key = await newKey()
    for (const type of typesOf(key)) {
      const [one, other] = typesOf(key).filter((each) => each !== type)
      const { enc: own } = await opened.item(key.branchKeyIdentifier, type)
      for (const from of [one, other]) {
        const { enc } = await opened.item(key.branchKeyIdentifier, from ?? '')
        await opened.tamper(key.branchKeyIdentifier, type, { enc })
        expect(await uses(key, type)).toEqual(refusedBy('BranchKeyCiphertextInvalid', 1))
      }
      await opened.tamper(key.branchKeyIdentifier, type, { enc: own })
      expect((await uses(key, type)).outcomes).toEqual(['used'])
    }
  })

  test('is refused where an older version was copied over the active one', async () => {
    const key = await newKey()
    const id = key.branchKeyIdentifier
    const version = await opened.item(id, key.versionType)
    await opened.open().keyStore.versionKey(key)
    const { type, ...rest } = version
    await opened.tamper(id, 'branch:ACTIVE', { ...rest, version: type })
    expect(await uses(key, 'branch:ACTIVE')).toEqual(refusedBy('BranchKeyCiphertextInvalid', 1))
  })

  test('is refused where the item of another tenant was copied', async () => {
    const [key, other] = [await newKey(), await newKey()]
    for (const [type, from] of [
      ['branch:ACTIVE', 'branch:ACTIVE'],
      ['beacon:ACTIVE', 'beacon:ACTIVE'],
      [key.versionType, other.versionType],
    ] as const) {
      const {
        'branch-key-id': _id,
        type: _type,
        ...rest
      } = await opened.item(other.branchKeyIdentifier, from)
      await opened.tamper(key.branchKeyIdentifier, type, rest)
      expect(await uses(key, type)).toEqual(refusedBy('BranchKeyCiphertextInvalid', 1))
    }
  })

  test('has neither ids nor values in its message', async () => {
    const key = await newKey()
    await opened.tamper(key.branchKeyIdentifier, 'branch:ACTIVE', { note: 'secret-value' })
    const { keyStore } = opened.open()
    const error = await keyStore.getActiveBranchKey(key).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      name: 'BranchKeyCiphertextInvalid',
      cause: { name: 'InvalidCiphertextException' },
    })
    for (const secret of [key.branchKeyIdentifier, key.branchKeyVersion, 'secret-value', 'one'])
      expect(String(error)).not.toContain(secret)
  })
})

describe.each(serviceStores())('a storage that gives something else on $name', (store) => {
  const opened = openTestKeyStore(store)

  // KS-88, KS-89
  test('is not believed, and KMS is not called', async () => {
    const { storage } = opened
    const { keyStore } = opened.open()
    const [one, other] = [await keyStore.createKey(), await keyStore.createKey()]
    const { branchKeyIdentifier } = one
    const active = await storage.getEncryptedActiveBranchKey(branchKeyIdentifier)
    const beacon = await storage.getEncryptedBeaconKey(branchKeyIdentifier)
    const version = await storage.getEncryptedBranchKeyVersion(
      branchKeyIdentifier,
      active.type.version,
    )
    const othersActive = await storage.getEncryptedActiveBranchKey(other.branchKeyIdentifier)
    const relabelled = { ...othersActive, branchKeyId: branchKeyIdentifier }
    const ofOtherStore = {
      ...active,
      encryptionContext: { ...active.encryptionContext, tablename: 'Elsewhere' },
    }
    const lies: [unknown, string][] = [
      [othersActive, 'UnexpectedItem'],
      [version, 'UnexpectedItem'],
      [beacon, 'UnexpectedItem'],
      [relabelled, 'EncryptedKeyMismatch'],
      [ofOtherStore, 'EncryptedKeyMismatch'],
      [{ ...active, kmsArn: opened.otherArn }, 'EncryptedKeyMismatch'],
      [{ ...active, createTime: '' }, 'EncryptedKeyMismatch'],
    ]
    for (const [lie, name] of lies) {
      const lying = { ...storage, getEncryptedActiveBranchKey: async () => lie as typeof active }
      const { keyStore: deceived, calls } = opened.open({ storage: lying })
      await expect(deceived.getActiveBranchKey(one)).rejects.toMatchObject({ name })
      await expect(deceived.versionKey(one)).rejects.toMatchObject({ name })
      expect(calls).toEqual([])
    }
    const lying = {
      ...storage,
      getEncryptedBranchKeyVersion: async () => version,
      getEncryptedBeaconKey: async () => active as never,
    }
    const { keyStore: deceived, calls } = opened.open({ storage: lying })
    await expect(
      deceived.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion: randomUUID() }),
    ).rejects.toMatchObject({ name: 'UnexpectedItem' })
    await expect(deceived.getBeaconKey(one)).rejects.toMatchObject({ name: 'UnexpectedItem' })
    expect(calls).toEqual([])
  })
})

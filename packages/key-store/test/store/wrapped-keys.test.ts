import type { Kms } from '@strongroom/kit/kms'
import { type Db, eachOperation } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createKeyStore } from '../../src/aws/create-key-store.ts'
import type { ActiveVersion, EncryptedHierarchicalKey } from '../../src/store/encrypted-key.ts'
import { createKeyStorage, type KeyStorage } from '../../src/store/storage.ts'
import { LOGICAL, rotationOf, TABLE } from '../support/branch-keys.ts'
import { openTestKeyStore } from '../support/open-key-store.ts'

describe.each(serviceStores())('between KMS and the storage, a key store on $name', (store) => {
  const opened = openTestKeyStore(store)

  /** A key store, the ciphertexts that its KMS has made, and what it asked of its storage and when. */
  function recorded(storage: KeyStorage = opened.storage) {
    const made: Uint8Array[] = []
    const asked: string[] = []
    const seeing = async <Answer extends { CiphertextBlob: Uint8Array }>(
      name: string,
      answering: Promise<Answer>,
    ): Promise<Answer> => {
      asked.push(name)
      const answer = await answering
      made.push(answer.CiphertextBlob)
      return answer
    }
    const kms: Kms = {
      ...opened.kms,
      generateDataKeyWithoutPlaintext: (input) =>
        seeing('KMS', opened.kms.generateDataKeyWithoutPlaintext(input)),
      reEncrypt: (input) => seeing('KMS', opened.kms.reEncrypt(input)),
    }
    const written: unknown[] = []
    const { keyStore } = opened.open({
      kms,
      storage: {
        ...storage,
        async writeNewEncryptedBranchKey(keys, options) {
          asked.push('WriteNewEncryptedBranchKey')
          written.push(keys)
          await storage.writeNewEncryptedBranchKey(keys, options)
        },
        async writeNewEncryptedBranchKeyVersion(keys, options) {
          asked.push('WriteNewEncryptedBranchKeyVersion')
          written.push(keys)
          await storage.writeNewEncryptedBranchKeyVersion(keys, options)
        },
        async getEncryptedActiveBranchKey(id, options) {
          asked.push('GetEncryptedActiveBranchKey')
          return storage.getEncryptedActiveBranchKey(id, options)
        },
      },
    })
    return { keyStore, made, asked, written }
  }

  const encOf = async (id: string, type: string) => (await opened.item(id, type)).enc

  // KS-71, KS-73, KS-75, KS-76
  test('stores what KMS wrapped for a new key, by one write, item by item', async () => {
    const { keyStore, made, asked, written } = recorded()
    const { branchKeyIdentifier: id } = await keyStore.createKey()
    expect(asked).toEqual(['KMS', 'KMS', 'KMS', 'WriteNewEncryptedBranchKey'])
    const { version } = await opened.item(id, 'branch:ACTIVE')
    expect([
      await encOf(id, String(version)),
      await encOf(id, 'branch:ACTIVE'),
      await encOf(id, 'beacon:ACTIVE'),
    ]).toEqual(made)
    expect(written).toMatchObject([
      {
        version: { type: { kind: 'HierarchicalSymmetricVersion' } },
        active: { type: { kind: 'ActiveHierarchicalSymmetricVersion' } },
        beacon: { type: { kind: 'ActiveHierarchicalSymmetricBeacon' } },
      },
    ])
  })

  // KS-81, KS-85, KS-86
  test('reads before it rotates, and stores what KMS wrapped over what it read', async () => {
    const { branchKeyIdentifier: id } = await opened.open().keyStore.createKey()
    const old = await opened.storage.getEncryptedActiveBranchKey(id)
    const { keyStore, made, asked, written } = recorded()
    const { branchKeyVersion } = await keyStore.versionKey({ branchKeyIdentifier: id })
    expect(asked).toEqual([
      'GetEncryptedActiveBranchKey',
      'KMS',
      'KMS',
      'KMS',
      'WriteNewEncryptedBranchKeyVersion',
    ])
    const [, version, active] = made
    expect(await encOf(id, `branch:version:${branchKeyVersion}`)).toEqual(version)
    expect(await encOf(id, 'branch:ACTIVE')).toEqual(active)
    expect(written).toMatchObject([{ active: { old, item: { ciphertextBlob: active } } }])
  })

  // KS-81
  test('reads consistently before it rotates', async () => {
    const reads: unknown[] = []
    const db: Db = eachOperation((name) => async (input) => {
      if (name === 'getItem') reads.push(input)
      return opened.db[name](input)
    })
    const storage = createKeyStorage({ db, tableName: TABLE, logicalKeyStoreName: LOGICAL })
    const { keyStore } = recorded(storage)
    const key = await keyStore.createKey()
    await keyStore.versionKey(key)
    expect(reads).toMatchObject([{ ConsistentRead: true }])
  })

  // KS-40
  test('cannot write a new version over anything but the active item of the same key', async () => {
    const { keyStore } = opened.open()
    const { branchKeyIdentifier: id } = await keyStore.createKey()
    const active = await opened.storage.getEncryptedActiveBranchKey(id)
    const version = await opened.storage.getEncryptedBranchKeyVersion(id, active.type.version)
    const beacon = await opened.storage.getEncryptedBeaconKey(id)
    for (const old of [version, beacon]) {
      const mistaken = rotationOf(old as unknown as EncryptedHierarchicalKey<ActiveVersion>)
      await expect(
        opened.storage.writeNewEncryptedBranchKeyVersion(mistaken),
      ).rejects.toMatchObject({ name: 'VersionRace' })
    }
    expect(await opened.storage.getEncryptedActiveBranchKey(id)).toEqual(active)
    expect(await opened.items(id)).toHaveLength(3)
  })

  // KS-3, KS-56
  test('has every operation of both specifications', () => {
    const { keyStore } = opened.open()
    expect(Object.keys(opened.storage).toSorted()).toEqual([
      'getEncryptedActiveBranchKey',
      'getEncryptedBeaconKey',
      'getEncryptedBranchKeyVersion',
      'getKeyStorageInfo',
      'writeNewEncryptedBranchKey',
      'writeNewEncryptedBranchKeyVersion',
    ])
    expect(Object.keys({ createKeyStore, ...keyStore }).toSorted()).toEqual([
      'createKey',
      'createKeyStore',
      'getActiveBranchKey',
      'getBeaconKey',
      'getBranchKeyVersion',
      'getKeyStoreInfo',
      'versionKey',
    ])
  })
})

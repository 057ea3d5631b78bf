import { randomUUID } from 'node:crypto'
import { eachOperation, type Item, type Value } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createKeyStorage } from '../../src/store/storage.ts'
import {
  KMS_ARN,
  LOGICAL,
  newBranchKey,
  rawItem,
  rotationOf,
  TABLE,
} from '../support/branch-keys.ts'
import { openKeyStorage } from '../support/open-storage.ts'

describe.each(serviceStores())('what does not fit on $name', (store) => {
  const opened = openKeyStorage(store)

  test.each(['branch-key-id', 'enc', 'kms-arn'])(
    'a key with an empty %s is refused before it is stored',
    async (attribute) => {
      const key = newBranchKey({ branchKeyId: attribute === 'branch-key-id' ? '' : randomUUID() })
      const { active } = key
      if (attribute === 'enc') active.ciphertextBlob = new Uint8Array(0)
      if (attribute === 'kms-arn') {
        active.kmsArn = ''
        active.encryptionContext = { ...active.encryptionContext, 'kms-arn': '' }
      }
      await expect(opened.storage.writeNewEncryptedBranchKey(key)).rejects.toMatchObject({
        name: 'ItemMismatch',
        table: TABLE,
        attributes: [attribute],
      })
      const { Count } = await opened.db.scan({
        TableName: TABLE,
        FilterExpression: 'enc = :beacon',
        ExpressionAttributeValues: { ':beacon': key.beacon.ciphertextBlob },
        ConsistentRead: true,
      })
      expect(Count).toBe(0)
    },
  )

  test('a key of another logical key store is refused before it is stored', async () => {
    const key = newBranchKey()
    const elsewhere = createKeyStorage({
      db: opened.db,
      tableName: TABLE,
      logicalKeyStoreName: 'Elsewhere',
    })
    await expect(elsewhere.writeNewEncryptedBranchKey(key)).rejects.toMatchObject({
      name: 'EncryptedKeyMismatch',
      attribute: 'tablename',
    })
    expect(await rawItem(opened.db, key.branchKeyId, 'branch:ACTIVE')).toBeUndefined()
  })

  // KS-40
  test('parts of different keys or versions are never written together', async () => {
    const [key, other] = [newBranchKey(), newBranchKey()]
    const mixed = [
      [{ ...key, beacon: other.beacon }, 'branch-key-id'],
      [{ ...key, active: other.active }, 'branch-key-id'],
      [{ ...key, active: newBranchKey({ branchKeyId: key.branchKeyId }).active }, 'version'],
    ] as const
    for (const [parts, attribute] of mixed) {
      await expect(opened.storage.writeNewEncryptedBranchKey(parts)).rejects.toMatchObject({
        name: 'EncryptedKeyMismatch',
        attribute,
      })
    }
    const rotation = rotationOf(key.active)
    const wrongOld = { ...rotation, active: { ...rotation.active, old: other.active } }
    await expect(opened.storage.writeNewEncryptedBranchKeyVersion(wrongOld)).rejects.toMatchObject({
      name: 'EncryptedKeyMismatch',
      attribute: 'branch-key-id',
    })
    expect(await rawItem(opened.db, key.branchKeyId, 'branch:ACTIVE')).toBeUndefined()
  })

  test('an empty id or version asks for nothing', async () => {
    const { storage } = opened
    for (const read of [
      () => storage.getEncryptedActiveBranchKey(''),
      () => storage.getEncryptedBeaconKey(''),
      () => storage.getEncryptedBranchKeyVersion('', randomUUID()),
      () => storage.getEncryptedBranchKeyVersion(randomUUID(), ''),
    ]) {
      await expect(read()).rejects.toMatchObject({ name: 'EmptyIdentifier' })
    }
  })

  const stored = (id: string): Item => ({
    'branch-key-id': id,
    type: 'branch:ACTIVE',
    version: `branch:version:${randomUUID()}`,
    enc: new Uint8Array(184),
    'kms-arn': KMS_ARN,
    'create-time': '2100-01-01T00:00:00.000000Z',
    'hierarchy-version': 1,
  })

  // KS-17
  test.each<[attribute: string, value: Value | undefined]>([
    ['version', undefined],
    ['version', 'branch:version:'],
    ['enc', undefined],
    ['enc', 'do-not-show'],
    ['kms-arn', undefined],
    ['create-time', undefined],
    ['hierarchy-version', undefined],
    ['hierarchy-version', '1'],
    ['tablename', 'do-not-show'],
    ['aws-crypto-ec:tenant', 42],
  ])(
    'an active item whose %s is wrong is not half a key but an error',
    async (attribute, value) => {
      const id = randomUUID()
      const { [attribute]: _replaced, ...rest } = stored(id)
      const damaged = value === undefined ? rest : { ...rest, [attribute]: value }
      await opened.db.putItem({ TableName: TABLE, Item: damaged })
      const error: unknown = await opened.storage
        .getEncryptedActiveBranchKey(id)
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        name: 'ItemMismatch',
        table: TABLE,
        key: { 'branch-key-id': id, type: 'branch:ACTIVE' },
        attributes: [attribute],
      })
      expect(String(error) + JSON.stringify(error)).not.toContain('do-not-show')
    },
  )

  // KS-21, KS-26
  test('a beacon key or version that lacks a field is an error too', async () => {
    const id = randomUUID()
    const version = randomUUID()
    const { enc: _enc, version: _version, ...rest } = stored(id)
    for (const type of ['beacon:ACTIVE', `branch:version:${version}`]) {
      await opened.db.putItem({ TableName: TABLE, Item: { ...rest, type } })
    }
    for (const read of [
      () => opened.storage.getEncryptedBeaconKey(id),
      () => opened.storage.getEncryptedBranchKeyVersion(id, version),
    ]) {
      await expect(read()).rejects.toMatchObject({ name: 'ItemMismatch', attributes: ['enc'] })
    }
  })

  test('an item of another hierarchy version is refused by a name of its own', async () => {
    const id = randomUUID()
    await opened.db.putItem({ TableName: TABLE, Item: { ...stored(id), 'hierarchy-version': 2 } })
    await expect(opened.storage.getEncryptedActiveBranchKey(id)).rejects.toMatchObject({
      name: 'UnsupportedHierarchyVersion',
      table: TABLE,
      key: { 'branch-key-id': id, type: 'branch:ACTIVE' },
    })
  })

  test('an unprefixed string attribute is read, because KMS decides about it', async () => {
    const id = randomUUID()
    await opened.db.putItem({ TableName: TABLE, Item: { ...stored(id), note: 'foreign' } })
    const key = await opened.storage.getEncryptedActiveBranchKey(id)
    expect(key.encryptionContext).toMatchObject({ note: 'foreign' })
  })

  // KS-18, KS-19, KS-22, KS-23, KS-24, KS-27, KS-28
  test.each(['another id', 'another type', 'another version'])(
    'a store that answers with %s is not believed',
    async (what) => {
      const [key, other] = [newBranchKey(), newBranchKey()]
      const { branchKeyId } = key
      const rotation = rotationOf(key.active)
      await opened.storage.writeNewEncryptedBranchKey(key)
      await opened.storage.writeNewEncryptedBranchKey(other)
      await opened.storage.writeNewEncryptedBranchKeyVersion(rotation)
      const versionType = `branch:version:${key.version.type.version}`
      const lies: Record<string, (type: string) => [id: string, type: string]> = {
        'another id': (type) => [
          other.branchKeyId,
          type === versionType ? `branch:version:${other.version.type.version}` : type,
        ],
        'another type': (type) => [
          branchKeyId,
          type === 'branch:ACTIVE' ? 'beacon:ACTIVE' : 'branch:ACTIVE',
        ],
        'another version': () => [branchKeyId, `branch:version:${rotation.version.type.version}`],
      }
      const db = eachOperation((name) => async (input) => {
        if (name !== 'getItem') return opened.db[name](input)
        const asked = (input as { Key: Item }).Key.type as string
        return { Item: await rawItem(opened.db, ...(lies[what]?.(asked) ?? ['', ''])) }
      })
      const lied = createKeyStorage({ db, tableName: TABLE, logicalKeyStoreName: LOGICAL })
      for (const read of [
        () => lied.getEncryptedActiveBranchKey(branchKeyId),
        () => lied.getEncryptedBranchKeyVersion(branchKeyId, key.version.type.version),
        () => lied.getEncryptedBeaconKey(branchKeyId),
      ]) {
        await expect(read()).rejects.toMatchObject({ name: 'UnexpectedItem', table: TABLE })
      }
    },
  )

  test('an error names no id and no value', async () => {
    const key = newBranchKey({ branchKeyId: 'very-private-id' })
    await opened.storage.writeNewEncryptedBranchKey(key)
    await opened.storage.writeNewEncryptedBranchKeyVersion(rotationOf(key.active))
    const failures = await Promise.allSettled([
      opened.storage.writeNewEncryptedBranchKeyVersion(rotationOf(key.active)),
      opened.storage.writeNewEncryptedBranchKey(newBranchKey({ branchKeyId: 'very-private-id' })),
      opened.storage.getEncryptedBranchKeyVersion('very-private-id', randomUUID()),
    ])
    for (const failure of failures) {
      expect(failure.status).toBe('rejected')
      expect(String((failure as { reason?: unknown }).reason)).not.toContain('very-private-id')
    }
  })
})

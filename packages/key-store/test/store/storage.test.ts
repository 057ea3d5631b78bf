import { randomUUID } from 'node:crypto'
import { type Db, eachOperation } from '@strongroom/kit/db'
import { everyStore, testStores } from '@strongroom/kit/testing/stores'
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

describe('making a key storage', () => {
  const given = { db: {} as Db, tableName: TABLE, logicalKeyStoreName: LOGICAL }

  // KS-1
  test.each(['db', 'tableName', 'logicalKeyStoreName'])('needs its %s', (name) => {
    const options = { ...given, [name]: undefined }
    expect(() => createKeyStorage(options)).toThrow(TypeError)
  })

  // KS-43
  test('reports its table and its logical name', () => {
    expect(createKeyStorage(given).getKeyStorageInfo()).toEqual({
      name: TABLE,
      logicalName: LOGICAL,
    })
  })
})

describe.each(testStores())('the items of a branch key on $name', (store) => {
  const opened = openKeyStorage(store)

  // KS-29, KS-30, KS-31, KS-32, KS-33, KS-34, KS-35, KS-36, KS-37
  test('are stored with the attributes of the record format', async () => {
    const custom = { 'aws-crypto-ec:department': 'admin', 'aws-crypto-ec:ключ': 'значение 🔑' }
    const version = '6024b9a5-f9cd-44ec-9ba3-ebfba597d31b'
    const createTime = '2100-01-01T18:15:17.223123Z'
    const key = newBranchKey({ branchKeyId: 'tenant-42', version, createTime, custom })
    await opened.storage.writeNewEncryptedBranchKey(key)
    const common = {
      'branch-key-id': 'tenant-42',
      'kms-arn': KMS_ARN,
      'create-time': createTime,
      'hierarchy-version': 1,
      ...custom,
    }
    expect(await rawItem(opened.db, 'tenant-42', `branch:version:${version}`)).toEqual({
      ...common,
      type: `branch:version:${version}`,
      enc: key.version.ciphertextBlob,
    })
    expect(await rawItem(opened.db, 'tenant-42', 'branch:ACTIVE')).toEqual({
      ...common,
      type: 'branch:ACTIVE',
      version: `branch:version:${version}`,
      enc: key.active.ciphertextBlob,
    })
    expect(await rawItem(opened.db, 'tenant-42', 'beacon:ACTIVE')).toEqual({
      ...common,
      type: 'beacon:ACTIVE',
      enc: key.beacon.ciphertextBlob,
    })
  })

  // KS-2, KS-31
  test('have a version on the active item only, and never a tablename', async () => {
    const key = newBranchKey()
    await opened.storage.writeNewEncryptedBranchKey(key)
    const names = async (type: string) =>
      Object.keys((await rawItem(opened.db, key.branchKeyId, type)) ?? {})
    const versionNames = await names(`branch:version:${key.version.type.version}`)
    const activeNames = await names('branch:ACTIVE')
    const beaconNames = await names('beacon:ACTIVE')
    expect(versionNames).not.toContain('version')
    expect(beaconNames).not.toContain('version')
    expect(activeNames).toContain('version')
    expect([...versionNames, ...activeNames, ...beaconNames]).not.toContain('tablename')
  })
})

describe.each(testStores())('the calls of a key storage on $name', (store) => {
  const opened = openKeyStorage(store)

  /** A storage on a table of another name, with everything it asks its client for. */
  function recorded() {
    const calls: [operation: string, input: unknown][] = []
    const db = eachOperation((name) => (input) => {
      calls.push([name, input])
      return opened.db[name](input)
    })
    const storage = createKeyStorage({ db, tableName: TABLE, logicalKeyStoreName: LOGICAL })
    return { calls, storage }
  }

  // KS-4, KS-5, KS-6, KS-7, KS-8, KS-9
  test('a new branch key is one TransactWriteItems of three puts of what is not there yet', async () => {
    const { calls, storage } = recorded()
    const key = newBranchKey()
    expect(await storage.writeNewEncryptedBranchKey(key)).toBeUndefined()
    const put = (type: string) => ({
      Put: expect.objectContaining({
        TableName: TABLE,
        Item: expect.objectContaining({ 'branch-key-id': key.branchKeyId, type }),
        ConditionExpression: 'attribute_not_exists(#0)',
        ExpressionAttributeNames: { '#0': 'branch-key-id' },
      }),
    })
    expect(calls).toEqual([
      [
        'transactWriteItems',
        {
          TransactItems: [
            put(`branch:version:${key.version.type.version}`),
            put('branch:ACTIVE'),
            put('beacon:ACTIVE'),
          ],
        },
      ],
    ])
  })

  // KS-11, KS-12, KS-13, KS-14
  test('a new version is one TransactWriteItems that replaces the active item that was read', async () => {
    const { calls, storage } = recorded()
    const key = newBranchKey()
    await opened.storage.writeNewEncryptedBranchKey(key)
    const rotation = rotationOf(key.active)
    const token = randomUUID()
    expect(await storage.writeNewEncryptedBranchKeyVersion(rotation, { token })).toBeUndefined()
    expect(calls).toEqual([
      [
        'transactWriteItems',
        {
          TransactItems: [
            {
              Put: expect.objectContaining({
                TableName: TABLE,
                Item: expect.objectContaining({
                  type: `branch:version:${rotation.version.type.version}`,
                }),
                ConditionExpression: 'attribute_not_exists(#0)',
                ExpressionAttributeNames: { '#0': 'branch-key-id' },
              }),
            },
            {
              Put: expect.objectContaining({
                TableName: TABLE,
                Item: expect.objectContaining({ type: 'branch:ACTIVE' }),
                ConditionExpression: 'attribute_exists(#0) AND #1 = :0',
                ExpressionAttributeNames: { '#0': 'branch-key-id', '#1': 'enc' },
                ExpressionAttributeValues: { ':0': key.active.ciphertextBlob },
              }),
            },
          ],
          ClientRequestToken: token,
        },
      ],
    ])
  })

  // KS-16, KS-20, KS-25
  test('each read is one GetItem by id and type, consistent by default', async () => {
    const { calls, storage } = recorded()
    const key = newBranchKey()
    await opened.storage.writeNewEncryptedBranchKey(key)
    const { branchKeyId } = key
    const { version } = key.version.type
    await storage.getEncryptedActiveBranchKey(branchKeyId)
    await storage.getEncryptedBranchKeyVersion(branchKeyId, version)
    await storage.getEncryptedBeaconKey(branchKeyId, { eventual: true })
    const get = (type: string, ConsistentRead: boolean) => [
      'getItem',
      { TableName: TABLE, Key: { 'branch-key-id': branchKeyId, type }, ConsistentRead },
    ]
    expect(calls).toEqual([
      get('branch:ACTIVE', true),
      get(`branch:version:${version}`, true),
      get('beacon:ACTIVE', false),
    ])
  })
})

describe.each(everyStore())('a key storage on $name', (store) => {
  const opened = openKeyStorage(store)

  // KS-3, KS-18, KS-19, KS-22, KS-23, KS-24, KS-27, KS-28, KS-38, KS-39
  test('gives back the active version, any version and the beacon key as they were written', async () => {
    const key = newBranchKey({ custom: { 'aws-crypto-ec:department': 'admin' } })
    await opened.storage.writeNewEncryptedBranchKey(key)
    const { branchKeyId } = key
    const { version } = key.version.type
    expect(await opened.storage.getEncryptedActiveBranchKey(branchKeyId)).toEqual(key.active)
    expect(await opened.storage.getEncryptedBranchKeyVersion(branchKeyId, version)).toEqual(
      key.version,
    )
    expect(await opened.storage.getEncryptedBeaconKey(branchKeyId)).toEqual(key.beacon)
  })

  // KS-2
  test('adds the logical name to the context of every key it reads', async () => {
    const key = newBranchKey()
    await opened.storage.writeNewEncryptedBranchKey(key)
    const elsewhere = createKeyStorage({
      db: opened.db,
      tableName: TABLE,
      logicalKeyStoreName: 'Elsewhere',
    })
    const read = await elsewhere.getEncryptedActiveBranchKey(key.branchKeyId)
    expect(read.encryptionContext).toMatchObject({ tablename: 'Elsewhere' })
  })

  test('keeps old versions and the beacon key when a key is rotated', async () => {
    const key = newBranchKey()
    const { branchKeyId } = key
    await opened.storage.writeNewEncryptedBranchKey(key)
    const rotation = rotationOf(key.active)
    await opened.storage.writeNewEncryptedBranchKeyVersion(rotation)
    const { storage } = opened
    expect(await storage.getEncryptedActiveBranchKey(branchKeyId)).toEqual(rotation.active.item)
    expect(
      await storage.getEncryptedBranchKeyVersion(branchKeyId, rotation.version.type.version),
    ).toEqual(rotation.version)
    expect(
      await storage.getEncryptedBranchKeyVersion(branchKeyId, key.version.type.version),
    ).toEqual(key.version)
    expect(await storage.getEncryptedBeaconKey(branchKeyId)).toEqual(key.beacon)
  })

  // KS-10, KS-41
  test('refuses to make a key that exists, and leaves it as it is', async () => {
    const key = newBranchKey()
    await opened.storage.writeNewEncryptedBranchKey(key)
    const again = newBranchKey({ branchKeyId: key.branchKeyId })
    await expect(opened.storage.writeNewEncryptedBranchKey(again)).rejects.toMatchObject({
      name: 'BranchKeyExists',
    })
    expect(await opened.storage.getEncryptedActiveBranchKey(key.branchKeyId)).toEqual(key.active)
    await expect(
      opened.storage.getEncryptedBranchKeyVersion(key.branchKeyId, again.version.type.version),
    ).rejects.toMatchObject({ name: 'BranchKeyNotFound' })
  })

  // KS-13, KS-14, KS-42
  test('refuses a version that exists, and a rotation of a key that does not', async () => {
    const key = newBranchKey()
    await opened.storage.writeNewEncryptedBranchKey(key)
    const sameVersion = rotationOf(key.active, key.version.type.version)
    await expect(
      opened.storage.writeNewEncryptedBranchKeyVersion(sameVersion),
    ).rejects.toMatchObject({ name: 'BranchKeyExists' })
    const nobodys = rotationOf(newBranchKey().active)
    await expect(opened.storage.writeNewEncryptedBranchKeyVersion(nobodys)).rejects.toMatchObject({
      name: 'BranchKeyNotFound',
    })
    expect(await opened.storage.getEncryptedActiveBranchKey(key.branchKeyId)).toEqual(key.active)
  })

  // KS-14, KS-15, KS-42
  test('of two simultaneous rotations one succeeds and the other fails with a race', async () => {
    for (let round = 0; round < 5; round++) {
      const key = newBranchKey()
      await opened.storage.writeNewEncryptedBranchKey(key)
      const rotations = [rotationOf(key.active), rotationOf(key.active)]
      const outcomes = await Promise.allSettled(
        rotations.map((each) => opened.storage.writeNewEncryptedBranchKeyVersion(each)),
      )
      const won = outcomes.findIndex(({ status }) => status === 'fulfilled')
      expect(outcomes[1 - won]).toMatchObject({ reason: { name: 'VersionRace' } })
      const [winner, loser] = [rotations[won], rotations[1 - won]]
      expect(await opened.storage.getEncryptedActiveBranchKey(key.branchKeyId)).toEqual(
        winner?.active.item,
      )
      const lost = loser?.version.type.version ?? ''
      await expect(
        opened.storage.getEncryptedBranchKeyVersion(key.branchKeyId, lost),
      ).rejects.toMatchObject({ name: 'BranchKeyNotFound' })
    }
  })

  // KS-15
  test('a rotation of what was read before another rotation is a race, however late', async () => {
    const key = newBranchKey()
    await opened.storage.writeNewEncryptedBranchKey(key)
    await opened.storage.writeNewEncryptedBranchKeyVersion(rotationOf(key.active))
    await expect(
      opened.storage.writeNewEncryptedBranchKeyVersion(rotationOf(key.active)),
    ).rejects.toMatchObject({ name: 'VersionRace' })
  })

  // KS-6, KS-7, KS-8, KS-41
  test('of twenty simultaneous creations of one id exactly one succeeds, whole', async () => {
    const branchKeyId = randomUUID()
    const keys = Array.from({ length: 20 }, () => newBranchKey({ branchKeyId }))
    const outcomes = await Promise.allSettled(
      keys.map((key) => opened.storage.writeNewEncryptedBranchKey(key)),
    )
    const winners = keys.filter((_, each) => outcomes[each]?.status === 'fulfilled')
    expect(winners).toHaveLength(1)
    const [winner] = winners
    expect(await opened.storage.getEncryptedActiveBranchKey(branchKeyId)).toEqual(winner?.active)
    expect(await opened.storage.getEncryptedBeaconKey(branchKeyId)).toEqual(winner?.beacon)
  })

  test('fails with BranchKeyNotFound for a key that does not exist', async () => {
    const { storage } = opened
    const id = randomUUID()
    for (const read of [
      () => storage.getEncryptedActiveBranchKey(id),
      () => storage.getEncryptedBranchKeyVersion(id, randomUUID()),
      () => storage.getEncryptedBeaconKey(id),
    ]) {
      await expect(read()).rejects.toMatchObject({ name: 'BranchKeyNotFound' })
    }
  })
})

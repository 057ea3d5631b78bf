import { randomUUID } from 'node:crypto'
import type { Kms } from '@strongroom/kit/kms'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { LOGICAL, TABLE } from '../support/branch-keys.ts'
import { openTestKeyStore } from '../support/open-key-store.ts'

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const bytes = expect.any(Uint8Array) as Uint8Array

describe.each(testStores())('a key store on $name', (store) => {
  const opened = openTestKeyStore(store)
  const custom = { department: 'admin', ключ: 'значение 🔑', '': 'nameless' }
  const prefixed = {
    'aws-crypto-ec:department': 'admin',
    'aws-crypto-ec:ключ': 'значение 🔑',
    'aws-crypto-ec:': 'nameless',
  }

  async function newKey(encryptionContext: Record<string, string> = custom) {
    const branchKeyIdentifier = `tenant-${randomUUID()}`
    await opened.open().keyStore.createKey({ branchKeyIdentifier, encryptionContext })
    const { branchKeyVersion } = await opened
      .open()
      .keyStore.getActiveBranchKey({ branchKeyIdentifier })
    return { branchKeyIdentifier, branchKeyVersion }
  }

  // KS-54, KS-67, KS-68, KS-69, KS-71, KS-73, KS-75, KS-76, KS-77
  test('makes three items of a new branch key, attribute for attribute', async () => {
    const id = `tenant-${randomUUID()}`
    const answer = await opened
      .open()
      .keyStore.createKey({ branchKeyIdentifier: id, encryptionContext: custom })
    expect(answer).toEqual({ branchKeyIdentifier: id })
    const active = await opened.item(id, 'branch:ACTIVE')
    const version = String(active.version).slice('branch:version:'.length)
    expect(version).toMatch(UUID_V4)
    const common = {
      'branch-key-id': id,
      enc: bytes,
      'kms-arn': opened.arn,
      'create-time': '2100-01-01T18:15:17.223000Z',
      'hierarchy-version': 1,
      ...prefixed,
    }
    const versionType = `branch:version:${version}`
    expect(await opened.items(id)).toEqual([
      { ...common, type: 'beacon:ACTIVE' },
      { ...common, type: 'branch:ACTIVE', version: versionType },
      { ...common, type: versionType },
    ])
    const encs = (await opened.items(id)).map(({ enc }) => Buffer.from(enc as Uint8Array))
    expect(new Set(encs.map((enc) => enc.toString('hex'))).size).toBe(3)
  })

  // KS-85, KS-86, KS-87, KS-105
  test('adds one item with a new version and replaces the active one, attribute for attribute', async () => {
    const { branchKeyIdentifier: id } = await newKey()
    const [beacon, oldActive, oldVersion] = await opened.items(id)
    opened.clock.advance({ days: 1, ms: 5 })
    const { branchKeyVersion } = await opened
      .open()
      .keyStore.versionKey({ branchKeyIdentifier: id })
    expect(branchKeyVersion).toMatch(UUID_V4)
    expect(oldActive?.version).not.toBe(`branch:version:${branchKeyVersion}`)
    const createTime = new Date(opened.clock.now()).toISOString().replace('Z', '000Z')
    const type = `branch:version:${branchKeyVersion}`
    const after = await opened.items(id)
    expect(after).toHaveLength(4)
    const item = (name: unknown) => after.find((each) => each.type === name)
    expect(item('beacon:ACTIVE')).toEqual(beacon)
    expect(item(oldVersion?.type)).toEqual(oldVersion)
    expect(item(type)).toEqual({ ...oldVersion, type, enc: bytes, 'create-time': createTime })
    expect(item('branch:ACTIVE')).toEqual({
      ...oldActive,
      version: type,
      enc: bytes,
      'create-time': createTime,
    })
    const encs = after.map(({ enc }) => Buffer.from(enc as Uint8Array).toString('hex'))
    expect(new Set(encs).size).toBe(4)
  })

  // KS-112, KS-113, KS-114, KS-115
  test('gives the materials of a branch key and of its beacon key', async () => {
    const { branchKeyIdentifier, branchKeyVersion } = await newKey()
    const { keyStore } = opened.open()
    const active = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
    expect(active).toEqual({
      branchKeyIdentifier,
      branchKeyVersion,
      branchKey: bytes,
      encryptionContext: custom,
    })
    expect(active.branchKey).toHaveLength(32)
    expect(await keyStore.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion })).toEqual(
      active,
    )
    const beacon = await keyStore.getBeaconKey({ branchKeyIdentifier })
    expect(beacon).toEqual({
      beaconKeyIdentifier: branchKeyIdentifier,
      beaconKey: bytes,
      encryptionContext: custom,
    })
    expect(beacon.beaconKey).toHaveLength(32)
    expect(beacon.beaconKey).not.toEqual(active.branchKey)
  })

  test('keeps old versions and the beacon key readable over rotations', async () => {
    const { branchKeyIdentifier } = await newKey()
    const { keyStore } = opened.open()
    const beacon = await keyStore.getBeaconKey({ branchKeyIdentifier })
    const versions = [await keyStore.getActiveBranchKey({ branchKeyIdentifier })]
    for (let rotation = 0; rotation < 3; rotation++) {
      const { branchKeyVersion } = await keyStore.versionKey({ branchKeyIdentifier })
      const active = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
      expect(active.branchKeyVersion).toBe(branchKeyVersion)
      versions.push(active)
    }
    for (const known of versions) {
      const { branchKeyVersion } = known
      const read = await keyStore.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion })
      expect(read).toEqual(known)
    }
    const keys = versions.map(({ branchKey }) => Buffer.from(branchKey).toString('hex'))
    expect(new Set(keys).size).toBe(4)
    expect(await keyStore.getBeaconKey({ branchKeyIdentifier })).toEqual(beacon)
  })

  // KS-66
  test('makes an id if none is given, with context or without', async () => {
    const { keyStore } = opened.open()
    for (const input of [undefined, {}, { encryptionContext: { tenant: 'a' } }]) {
      const { branchKeyIdentifier } = await keyStore.createKey(input)
      expect(branchKeyIdentifier).toMatch(UUID_V4)
      const { encryptionContext } = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
      expect(encryptionContext).toEqual(input?.encryptionContext ?? {})
    }
  })

  test('loses no pair of custom context, whatever it is called', async () => {
    const given = JSON.parse(
      '{"constructor":"c","type":"t","version":"v","tablename":"n","enc":"e","aws-crypto-ec:a":"b"}',
    ) as Record<string, string>
    const { branchKeyIdentifier } = await newKey(given)
    const { keyStore } = opened.open()
    await keyStore.versionKey({ branchKeyIdentifier })
    const active = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
    const { branchKeyVersion } = active
    const materials = [
      active,
      await keyStore.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion }),
      await keyStore.getBeaconKey({ branchKeyIdentifier }),
    ]
    for (const { encryptionContext } of materials) {
      expect(new Map(Object.entries(encryptionContext))).toEqual(new Map(Object.entries(given)))
      expect(Object.getPrototypeOf(encryptionContext)).toBe(Object.prototype)
    }
  })

  test('keeps a foreign attribute that KMS authenticates through a rotation', async () => {
    const { branchKeyIdentifier: id } = await newKey()
    const { enc, ...attributes } = await opened.item(id, 'branch:ACTIVE')
    const context = {
      ...(attributes as Record<string, string>),
      'hierarchy-version': '1',
      tablename: LOGICAL,
    }
    const { CiphertextBlob } = await opened.kms.reEncrypt({
      SourceKeyId: opened.arn,
      SourceEncryptionContext: context,
      CiphertextBlob: enc as Uint8Array,
      DestinationKeyId: opened.arn,
      DestinationEncryptionContext: { ...context, note: 'somebody else’s' },
    })
    await opened.tamper(id, 'branch:ACTIVE', { note: 'somebody else’s', enc: CiphertextBlob })
    const { keyStore } = opened.open()
    const { branchKeyVersion } = await keyStore.versionKey({ branchKeyIdentifier: id })
    const active = await keyStore.getActiveBranchKey({ branchKeyIdentifier: id })
    expect(active.encryptionContext).toEqual(custom)
    expect(await opened.item(id, `branch:version:${branchKeyVersion}`)).toMatchObject({
      note: 'somebody else’s',
    })
  })

  // KS-46, KS-56, KS-57
  test('says what it is', () => {
    const { keyStore } = opened.open({ id: 'the-first', grantTokens: ['a-token'] })
    expect(keyStore.getKeyStoreInfo()).toEqual({
      keyStoreId: 'the-first',
      keyStoreName: TABLE,
      logicalKeyStoreName: LOGICAL,
      grantTokens: ['a-token'],
      kmsConfiguration: { kind: 'kmsKeyArn', arn: opened.arn },
    })
    const { keyStoreId, grantTokens } = opened.open().keyStore.getKeyStoreInfo()
    expect(keyStoreId).toMatch(UUID_V4)
    expect(grantTokens).toEqual([])
  })

  test('reads what it wrote after the KMS key was rotated', async () => {
    const { branchKeyIdentifier } = await newKey()
    const { keyStore } = opened.open()
    const before = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
    await opened.kms.rotateKeyOnDemand({ KeyId: opened.arn })
    expect(await keyStore.getActiveBranchKey({ branchKeyIdentifier })).toEqual(before)
    await keyStore.versionKey({ branchKeyIdentifier })
  })

  test('gives each caller a buffer of its own, and leaves no other', async () => {
    const { branchKeyIdentifier } = await newKey()
    const decrypted: Uint8Array[] = []
    const kms: Kms = {
      ...opened.kms,
      async decrypt(input) {
        const answer = await opened.kms.decrypt(input)
        decrypted.push(answer.Plaintext)
        return answer
      },
    }
    const { keyStore } = opened.open({ kms })
    const first = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
    const copy = Uint8Array.from(first.branchKey)
    first.branchKey.fill(0)
    const second = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
    expect(second.branchKey).toEqual(copy)
    expect(second.branchKey.buffer.byteLength).toBe(32)
    const wiped = new Uint8Array(32)
    expect(second.branchKey).not.toEqual(wiped)
    expect(decrypted).toEqual([wiped, wiped])
  })
})

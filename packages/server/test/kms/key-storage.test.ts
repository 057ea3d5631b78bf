import { randomBytes, randomUUID } from 'node:crypto'
import { createTables } from '@strongroom/kit/tables'
import type { Db, Item } from '@strongroom/kit/db'
import { serverTable } from '@strongroom/kit/server-table'
import { everyStore } from '@strongroom/kit/testing/stores'
import type { BackingKey, KeyRecord, KeyStorage } from '@strongroom/kms/key-storage'
import { createKms } from '@strongroom/kms/kms'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKmsKeyStorage } from '../../src/kms/key-storage.ts'

const NOW = Date.parse('2100-01-01')

function newKey(): { record: KeyRecord; first: BackingKey } {
  const id = randomUUID()
  return {
    record: {
      id,
      arn: `arn:local:kms:local:000000000000:key/${id}`,
      description: '',
      createdAt: NOW,
      masterKeyCheck: Uint8Array.from(randomBytes(16)),
      state: 'Enabled',
      currentVersion: 1,
      revision: 1,
    },
    first: version(1),
  }
}

function version(number: number): BackingKey {
  return { version: number, createdAt: NOW + number, wrapped: Uint8Array.from(randomBytes(61)) }
}

describe.each(everyStore())('the keys of the embedded KMS on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  let keys: KeyStorage

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [serverTable])
    keys = createKmsKeyStorage(db)
  })
  afterAll(() => close())

  const created = async () => {
    const { record, first } = newKey()
    expect(await keys.create(record, first)).toBe(true)
    return { record, first, id: record.id }
  }
  const stored = async (id: string, SK: string) =>
    (await db.getItem({ TableName: serverTable.name, Key: { PK: `KMSKEY#${id}`, SK } })).Item

  test('are stored as an item for the key and one for each backing key', async () => {
    const { record, first, id } = await created()
    expect(await stored(id, 'STATE')).toEqual({ PK: `KMSKEY#${id}`, SK: 'STATE', ...record })
    expect(await stored(id, 'V#1')).toEqual({ PK: `KMSKEY#${id}`, SK: 'V#1', ...first })
  })

  test('are read unchanged', async () => {
    const { record, first, id } = await created()
    expect(await keys.load(id)).toEqual(record)
    expect(await keys.loadVersion(id, 1)).toEqual(first)
    expect(await keys.load(randomUUID())).toBeUndefined()
    expect(await keys.loadVersion(id, 2)).toBeUndefined()
    expect(await keys.list()).toContainEqual(record)
  })

  test('are not created twice', async () => {
    const { record, first, id } = await created()
    expect(await keys.create({ ...record, description: 'x' }, version(1))).toBe(false)
    expect([await keys.load(id), await keys.loadVersion(id, 1)]).toEqual([record, first])
  })

  test('get another version, which becomes the current one', async () => {
    const { record, first, id } = await created()
    const second = version(2)
    expect(await keys.addVersion(id, second, 1)).toBe(true)
    expect(await keys.load(id)).toEqual({ ...record, currentVersion: 2, revision: 2 })
    expect([await keys.loadVersion(id, 1), await keys.loadVersion(id, 2)]).toEqual([first, second])
  })

  test('change their state, with or without a deletion date', async () => {
    const { record, id } = await created()
    const deletionAt = NOW + 7 * 86_400_000
    expect(await keys.updateState(id, { state: 'PendingDeletion', deletionAt }, 1)).toBe(true)
    expect(await keys.load(id)).toEqual({
      ...record,
      state: 'PendingDeletion',
      deletionAt,
      revision: 2,
    })
    expect(await keys.updateState(id, { state: 'Disabled' }, 2)).toBe(true)
    expect(await keys.load(id)).toEqual({ ...record, state: 'Disabled', revision: 3 })
  })

  test('remember when their deletion was first seen to be due, until the state changes', async () => {
    const { record, id } = await created()
    const pending = { state: 'PendingDeletion', deletionAt: NOW } as const
    await keys.updateState(id, pending, 1)
    expect(await keys.updateDueSeenAt(id, NOW + 1, 1)).toBe(false)
    expect(await keys.updateDueSeenAt(id, NOW + 1, 2)).toBe(true)
    expect(await keys.load(id)).toEqual({ ...record, ...pending, dueSeenAt: NOW + 1, revision: 3 })
    expect(await keys.updateDueSeenAt(id, undefined, 3)).toBe(true)
    expect(await keys.load(id)).toEqual({ ...record, ...pending, revision: 4 })
    await keys.updateDueSeenAt(id, NOW + 2, 4)
    expect(await keys.updateState(id, { state: 'Disabled' }, 5)).toBe(true)
    expect(await keys.load(id)).toEqual({ ...record, state: 'Disabled', revision: 6 })
  })

  test('are removed with all their versions', async () => {
    const { id } = await created()
    await keys.addVersion(id, version(2), 1)
    expect(await keys.remove(id, 2)).toBe(true)
    for (const SK of ['STATE', 'V#1', 'V#2']) expect(await stored(id, SK)).toBeUndefined()
    expect(await keys.remove(id, 2)).toBe(false)
  })

  test('are not changed by a stale writer', async () => {
    const { id } = await created()
    await keys.updateState(id, { state: 'Disabled' }, 1)
    const before = await keys.load(id)
    expect(await keys.addVersion(id, version(2), 1)).toBe(false)
    expect(await keys.updateState(id, { state: 'Enabled' }, 1)).toBe(false)
    expect(await keys.remove(id, 1)).toBe(false)
    expect(await keys.load(id)).toEqual(before)
    expect(await keys.loadVersion(id, 2)).toBeUndefined()
  })

  test('are not created by an update of a missing key', async () => {
    const id = randomUUID()
    expect(await keys.addVersion(id, version(2), 1)).toBe(false)
    expect(await keys.updateState(id, { state: 'Enabled' }, 1)).toBe(false)
    expect([await keys.load(id), await keys.loadVersion(id, 2)]).toEqual([undefined, undefined])
  })

  test('are changed by exactly one of ten concurrent writers', async () => {
    const { id } = await created()
    const changes = await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const mine = createKmsKeyStorage(db)
        return index % 2 === 0
          ? mine.addVersion(id, version(2), 1)
          : mine.updateState(id, { state: 'Disabled' }, 1)
      }),
    )
    expect(changes.filter(Boolean)).toHaveLength(1)
    expect(await keys.load(id)).toMatchObject({ revision: 2 })
  })

  test('reject an item that was altered or copied from another key', async () => {
    const [one, two] = [await created(), await created()]
    const PK = `KMSKEY#${two.id}`
    const put = (item: Item) => db.putItem({ TableName: serverTable.name, Item: item })
    const damaged = {
      name: 'KMSInvalidStateException',
      message: 'A stored KMS key is damaged: restore the store from a backup',
    }
    await put({ ...(await stored(one.id, 'V#1')), PK, SK: 'V#2' })
    await expect(keys.loadVersion(two.id, 2)).rejects.toMatchObject(damaged)
    await put({ ...(await stored(two.id, 'V#1')), wrapped: 'text' })
    await expect(keys.loadVersion(two.id, 1)).rejects.toMatchObject(damaged)
    const whole = (await stored(two.id, 'STATE')) ?? {}
    for (const wrong of [
      { ...(await stored(one.id, 'STATE')), PK },
      { ...whole, state: 'Open' },
    ]) {
      await put(wrong)
      await expect(keys.load(two.id)).rejects.toMatchObject(damaged)
      await expect(keys.list()).rejects.toMatchObject(damaged)
    }
    await put(whole)
    expect(await keys.load(two.id)).toEqual(two.record)
  })

  test('let one KMS decrypt what another on the same store encrypted, also after a rotation', async () => {
    const [masterKey, isolated] = [randomBytes(32), await store.open()]
    await createTables(isolated.db, [serverTable])
    const start = () => createKms({ masterKey, storage: createKmsKeyStorage(isolated.db) })
    const [one, two] = [await start(), await start()]
    const { Arn: KeyId } = (await one.createKey()).KeyMetadata
    const before = await one.encrypt({ KeyId, Plaintext: Buffer.from('before') })
    await two.rotateKeyOnDemand({ KeyId })
    const after = await one.encrypt({ KeyId, Plaintext: Buffer.from('after') })
    for (const [{ CiphertextBlob }, text] of [
      [before, 'before'],
      [after, 'after'],
    ] as const) {
      const { Plaintext } = await two.decrypt({ KeyId, CiphertextBlob })
      expect(Buffer.from(Plaintext).toString()).toBe(text)
    }
    expect(await createKmsKeyStorage(isolated.db).list()).toMatchObject([{ currentVersion: 2 }])
    await isolated.close()
  })
})

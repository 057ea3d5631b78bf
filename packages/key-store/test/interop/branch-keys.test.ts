import { randomUUID } from 'node:crypto'
import type { NodeBranchKeyMaterial } from '@aws-crypto/material-management'
import { eachOperation, type Item } from '@strongroom/kit/db'
import { describe, expect, test } from 'vitest'
import type { BranchKeyMaterials } from '../../src/store/key-store.ts'
import { interopCases, openInterop } from './open-interop.ts'

const encryptionContext = {
  department: 'admin',
  ключ: 'значение 🔑',
  Ａ: 'fullwidth',
  '🔑': 'emoji',
}

describe.each(interopCases())('branch keys on $name', (where) => {
  const opened = openInterop(where)

  test('that we made and rotated, AWS reads', async () => {
    const { ours, theirs } = opened
    const { branchKeyIdentifier } = await ours.createKey({
      branchKeyIdentifier: randomUUID(),
      encryptionContext,
    })
    const first = await ours.getActiveBranchKey({ branchKeyIdentifier })
    expect(plain(await theirs.getActiveBranchKey(branchKeyIdentifier))).toEqual(first)
    await ours.versionKey({ branchKeyIdentifier })
    const second = await ours.getActiveBranchKey({ branchKeyIdentifier })
    expect(plain(await theirs.getActiveBranchKey(branchKeyIdentifier))).toEqual(second)
    for (const each of [first, second]) {
      const found = await theirs.getBranchKeyVersion(branchKeyIdentifier, each.branchKeyVersion)
      expect(plain(found)).toEqual(each)
    }
    expect(first).toMatchObject({ encryptionContext })
    expect(second.branchKey).not.toEqual(first.branchKey)
  })

  test('that AWS made and rotated, we read, with their beacon keys', async () => {
    const { ours, theirs } = opened
    const { branchKeyIdentifier } = await theirs.createKey({
      branchKeyIdentifier: randomUUID(),
      encryptionContext,
    })
    const first = plain(await theirs.getActiveBranchKey(branchKeyIdentifier))
    expect(await ours.getActiveBranchKey({ branchKeyIdentifier })).toEqual(first)
    const beacon = await ours.getBeaconKey({ branchKeyIdentifier })
    expect(beacon).toMatchObject({ encryptionContext })
    await theirs.versionKey({ branchKeyIdentifier })
    const second = plain(await theirs.getActiveBranchKey(branchKeyIdentifier))
    expect(await ours.getActiveBranchKey({ branchKeyIdentifier })).toEqual(second)
    for (const each of [first, second]) {
      const { branchKeyVersion } = each
      expect(await ours.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion })).toEqual(
        each,
      )
    }
    expect(await ours.getBeaconKey({ branchKeyIdentifier })).toEqual(beacon)
  })

  test('are read by fifty concurrent callers with one call to KMS, each into its own buffer', async () => {
    const { ours, cached, kmsCalls } = opened
    const key = await ours.createKey({ encryptionContext })
    const known = await ours.getActiveBranchKey(key)
    const branchKeys = cached()
    kmsCalls.length = 0
    const copies = await Promise.all(
      Array.from({ length: 50 }, () => branchKeys.getActiveBranchKey(key)),
    )
    expect(kmsCalls).toEqual(['Decrypt'])
    for (const copy of copies) {
      expect(copy).toEqual(known)
      copy.branchKey.fill(0)
    }
  })

  test('are rotated by each in turn, and all versions stay readable for both', async () => {
    const { ours, theirs } = opened
    for (const maker of [ours, theirs]) {
      const { branchKeyIdentifier } = await maker.createKey()
      const versions = [await ours.getActiveBranchKey({ branchKeyIdentifier })]
      for (const rotator of [theirs, ours]) {
        await rotator.versionKey({ branchKeyIdentifier })
        versions.push(await ours.getActiveBranchKey({ branchKeyIdentifier }))
      }
      expect(new Set(versions.map(({ branchKeyVersion }) => branchKeyVersion)).size).toBe(3)
      for (const each of versions) {
        const { branchKeyVersion } = each
        expect(await ours.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion })).toEqual(
          each,
        )
        expect(
          plain(await theirs.getBranchKeyVersion(branchKeyIdentifier, branchKeyVersion)),
        ).toEqual(each)
      }
    }
  })

  test('are stored with the same attributes by either library', async () => {
    const shapes = []
    for (const maker of [opened.ours, opened.theirs]) {
      const { branchKeyIdentifier } = await maker.createKey({
        branchKeyIdentifier: randomUUID(),
        encryptionContext,
      })
      await maker.versionKey({ branchKeyIdentifier })
      shapes.push((await itemsOf(branchKeyIdentifier)).map(shapeOf))
    }
    expect(shapes[0]).toHaveLength(4)
    expect(shapes[0]).toEqual(shapes[1])
  })

  test('that AWS rotates between our read and our write are a race, and AWS has won', async () => {
    const { db, ours, oursOn, theirs } = opened
    const { branchKeyIdentifier } = await ours.createKey()
    const late = oursOn(
      eachOperation((name) => async (input) => {
        if (name === 'transactWriteItems') await theirs.versionKey({ branchKeyIdentifier })
        return db[name](input)
      }),
    )
    await expect(late.versionKey({ branchKeyIdentifier })).rejects.toMatchObject({
      name: 'VersionRace',
    })
    expect(await ours.getActiveBranchKey({ branchKeyIdentifier })).toEqual(
      plain(await theirs.getActiveBranchKey(branchKeyIdentifier)),
    )
    expect(await itemsOf(branchKeyIdentifier)).toHaveLength(4)
  })

  async function itemsOf(branchKeyIdentifier: string): Promise<Item[]> {
    const { Items = [] } = await opened.db.query({
      TableName: opened.tableName,
      KeyConditionExpression: '#id = :id',
      ExpressionAttributeNames: { '#id': 'branch-key-id' },
      ExpressionAttributeValues: { ':id': branchKeyIdentifier },
      ConsistentRead: true,
    })
    return Items
  }
})

/** What AWS hands out, as we hand it out. */
function plain(material: NodeBranchKeyMaterial): BranchKeyMaterials {
  return {
    branchKeyIdentifier: material.branchKeyIdentifier,
    branchKeyVersion: material.branchKeyVersion.toString(),
    branchKey: new Uint8Array(material.branchKey()),
    encryptionContext: { ...material.encryptionContext },
  }
}

/** An item with what differs from key to key replaced by its form. */
function shapeOf(item: Item): [name: string, form: string][] {
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
  const form = (value: unknown) =>
    value instanceof Uint8Array
      ? `${value.length} bytes`
      : JSON.stringify(value)
          .replaceAll(uuid, 'uuid')
          .replace(/^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"$/, 'time')
  return Object.entries(item)
    .map(([name, value]): [string, string] => [name, form(value)])
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
}

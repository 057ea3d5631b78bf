import { randomUUID } from 'node:crypto'
import type { Db, Item } from '@strongroom/kit/db'
import { everyStore } from '@strongroom/kit/testing/stores'
import { beforeAll, describe, expect, test } from 'vitest'
import { createKeyListing, type KeyListing, type KeyPage } from '../../src/branch-keys/listing.ts'
import { LOGICAL, newBranchKey, rotationOf, TABLE } from '../support/branch-keys.ts'
import { openKeyStorage } from '../support/open-storage.ts'

describe.each(everyStore())('a listing of branch keys on $name', (store) => {
  const opened = openKeyStorage(store)
  const made = Array.from({ length: 12 }, () => newBranchKey())
  const damagedId = randomUUID()
  const newerId = randomUUID()
  let listing: KeyListing

  beforeAll(async () => {
    const { db, storage } = opened
    listing = createKeyListing({ db, tableName: TABLE, logicalKeyStoreName: LOGICAL })
    for (const key of made) await storage.writeNewEncryptedBranchKey(key)
    const newer = newBranchKey({ branchKeyId: newerId })
    await storage.writeNewEncryptedBranchKey(newer)
    const Key = { 'branch-key-id': newerId, type: 'branch:ACTIVE' }
    await db.updateItem({
      TableName: TABLE,
      Key,
      UpdateExpression: 'SET #v = :two',
      ExpressionAttributeNames: { '#v': 'hierarchy-version' },
      ExpressionAttributeValues: { ':two': 2 },
    })
    const foreign: Item[] = [
      { 'branch-key-id': damagedId, type: 'branch:ACTIVE' },
      { 'branch-key-id': made[0]?.branchKeyId ?? '', type: 'branch:MUTATION_COMMITMENT' },
      { 'branch-key-id': made[0]?.branchKeyId ?? '', type: 'branch:MUTATION_INDEX', page: 3 },
      { 'branch-key-id': 'somebody else', type: 'anything' },
    ]
    for (const item of foreign) await db.putItem({ TableName: TABLE, Item: item })
  })

  const ids = ({ keys }: KeyPage) => keys.map(({ branchKeyId }) => branchKeyId)

  test('has every key once, whatever else is in the table', async () => {
    const page = await listing.listBranchKeys()
    expect(ids(page).toSorted()).toEqual(made.map(({ branchKeyId }) => branchKeyId).toSorted())
    expect(page.keys).toEqual(expect.arrayContaining(made.map(({ active }) => active)))
    expect(page.next).toBeUndefined()
  })

  test('has what cannot be read beside what can, by table and key', async () => {
    const { unreadable } = await listing.listBranchKeys()
    expect(unreadable).toHaveLength(2)
    expect(unreadable).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: 'ItemMismatch',
          table: TABLE,
          key: { 'branch-key-id': damagedId, type: 'branch:ACTIVE' },
        }),
        expect.objectContaining({
          name: 'UnsupportedHierarchyVersion',
          table: TABLE,
          key: { 'branch-key-id': newerId, type: 'branch:ACTIVE' },
        }),
      ]),
    )
  })

  test('comes in pages, with no key skipped or repeated', async () => {
    const seen: string[] = []
    let after: Item | undefined
    do {
      const page: KeyPage = await listing.listBranchKeys({ limit: 3, after })
      expect(page.keys.length + page.unreadable.length).toBeLessThanOrEqual(3)
      seen.push(...ids(page))
      after = page.next
    } while (after)
    expect(seen.toSorted()).toEqual(made.map(({ branchKeyId }) => branchKeyId).toSorted())
  })

  test('is full although the store returns less than a page', async () => {
    const db: Db = { ...opened.db, scan: (input) => opened.db.scan({ ...input, Limit: 1 }) }
    const tedious = createKeyListing({ db, tableName: TABLE, logicalKeyStoreName: LOGICAL })
    const page = await tedious.listBranchKeys({ limit: 5 })
    expect(page.keys.length + page.unreadable.length).toBe(5)
    expect(page.next).toBeDefined()
    const all = await tedious.listBranchKeys()
    expect(ids(all).toSorted()).toEqual(made.map(({ branchKeyId }) => branchKeyId).toSorted())
  })

  test('of one key has all versions, the active one and the beacon key, and counts rows of others', async () => {
    const [key] = made
    if (!key) throw new Error('made none')
    const first = rotationOf(key.active)
    await opened.storage.writeNewEncryptedBranchKeyVersion(first)
    const second = rotationOf(first.active.item)
    await opened.storage.writeNewEncryptedBranchKeyVersion(second)
    const parts = await listing.listBranchKeyParts(key.branchKeyId)
    expect(parts).toEqual({
      active: second.active.item,
      versions: expect.arrayContaining([key.version, first.version, second.version]),
      beacon: key.beacon,
      unreadable: [],
      foreign: 2,
    })
    expect(parts.versions).toHaveLength(3)
  })

  test('of one key has what cannot be read beside what can', async () => {
    const { active, versions, beacon, unreadable } = await listing.listBranchKeyParts(newerId)
    expect({ active, versions: versions.length }).toEqual({ active: undefined, versions: 1 })
    expect(beacon).toBeDefined()
    expect(unreadable).toMatchObject([{ name: 'UnsupportedHierarchyVersion' }])
    expect(await listing.listBranchKeyParts(damagedId)).toMatchObject({
      versions: [],
      unreadable: [{ name: 'ItemMismatch' }],
    })
  })

  test('of a key that was never made has nothing', async () => {
    expect(await listing.listBranchKeyParts(randomUUID())).toEqual({
      active: undefined,
      versions: [],
      beacon: undefined,
      unreadable: [],
      foreign: 0,
    })
  })

  test('of an empty id asks for nothing', async () => {
    await expect(listing.listBranchKeyParts('')).rejects.toMatchObject({ name: 'EmptyIdentifier' })
  })
})

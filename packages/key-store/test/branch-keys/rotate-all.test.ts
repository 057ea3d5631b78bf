import type { Db, Item } from '@strongroom/kit/db'
import { everyStore } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import type { BranchKeys } from '../../src/branch-keys/service.ts'
import { keyStoreError } from '../../src/errors.ts'
import {
  type RotatableKeys,
  rotateAll,
  type RotationOutcome,
} from '../../src/branch-keys/rotate-all.ts'
import { openBranchKeys } from '../../src/start.ts'
import { TABLE } from '../support/branch-keys.ts'
import { openKeyStoreService } from '../support/open-service.ts'

const DAY = 24 * 60 * 60
const never = new AbortController().signal

describe.each(everyStore())('rotating all keys of an age on $name', (store) => {
  const opened = openKeyStoreService(store)
  let made = 0

  /** Keys of one test, among those of all others. */
  async function ownKeys(ageDays: readonly number[]) {
    const prefix = `run${made++}:`
    const branchKeys = openBranchKeys(opened)
    const ids: string[] = []
    for (const [number, days] of ageDays.entries()) {
      const before = ageDays[number - 1] ?? days
      opened.clock.advance({ days: before - days })
      const encryptionContext = { tenant: String(number) }
      ids.push((await branchKeys.create({ id: `${prefix}${number}`, encryptionContext })).id)
    }
    opened.clock.advance({ days: ageDays.at(-1) ?? 0 })
    return { ids, keys: only(branchKeys, prefix), branchKeys }
  }

  function only(branchKeys: BranchKeys, prefix: string): RotatableKeys {
    return {
      rotate: (id) => branchKeys.rotate(id),
      async *pages() {
        let after: Item | undefined
        do {
          const page = await branchKeys.list({ limit: 2, after })
          const isOwn = ({ id }: { id: string }) => id.startsWith(prefix)
          yield { items: page.items.filter(isOwn), unreadable: page.unreadable.filter(isOwn) }
          after = page.next
        } while (after)
      },
    }
  }

  const ages = async (branchKeys: BranchKeys, ids: string[]) =>
    Promise.all(ids.map(async (id) => (await branchKeys.describe(id)).active?.ageSeconds))

  test('rotates the old ones and leaves the young ones', async () => {
    const { ids, keys, branchKeys } = await ownKeys([100, 91, 90, 89, 1])
    const options = { olderThanSeconds: 90 * DAY, stop: never }
    expect(await rotateAll(keys, options)).toEqual({
      rotated: 3,
      young: 2,
      failed: [],
      stopped: false,
    })
    expect(await ages(branchKeys, ids)).toEqual([0, 0, 0, 89 * DAY, 1 * DAY])
    expect(await rotateAll(keys, options)).toMatchObject({ rotated: 0, young: 5 })
  })

  test('stops after the current key, and continues from there when run again', async () => {
    const { keys } = await ownKeys([10, 10, 10, 10])
    const stopping = new AbortController()
    const first = await rotateAll(keys, {
      olderThanSeconds: 5 * DAY,
      stop: stopping.signal,
      onKey: () => stopping.abort(),
    })
    expect(first).toMatchObject({ rotated: 1, stopped: true })
    expect(await rotateAll(keys, { olderThanSeconds: 5 * DAY, stop: never })).toEqual({
      rotated: 3,
      young: 1,
      failed: [],
      stopped: false,
    })
  })

  test('treats a key of unknown age as old', async () => {
    const { ids, keys } = await ownKeys([0])
    await alter(opened.db, ids[0], { 'create-time': 'once' })
    const seen: unknown[] = []
    const outcome = await rotateAll(keys, {
      olderThanSeconds: DAY,
      stop: never,
      onKey: (key) => void seen.push(key),
    })
    expect(seen).toMatchObject([{ id: ids[0], ageSeconds: null }])
    // Its time was altered, so KMS does not know it any more.
    expect(outcome.failed).toMatchObject([
      { id: ids[0], problem: keyStoreError.entry('not_authentic').message },
    ])
  })

  test('continues after a key that cannot be rotated, and lists it with its error', async () => {
    const { ids, keys } = await ownKeys([9, 9, 9])
    await alter(opened.db, ids[0], { 'aws-crypto-ec:tenant': 'other' })
    await alter(opened.db, ids[1], { enc: 'not bytes' })
    const outcome = await rotateAll(keys, { olderThanSeconds: DAY, stop: never })
    expect(outcome).toMatchObject({ rotated: 1, young: 0, stopped: false })
    expect(outcome.failed.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
      { id: ids[0], problem: keyStoreError.entry('not_authentic').message },
      { id: ids[1], problem: expect.stringContaining('Cannot read an item') },
    ])
  })

  test('counts a key that somebody else has just rotated as rotated', async () => {
    const { ids, keys } = await ownKeys([9])
    const outcomes: RotationOutcome[] = []
    const raced: RotatableKeys = {
      ...keys,
      rotate: async () => {
        throw keyStoreError('version_race')
      },
    }
    const outcome = await rotateAll(raced, {
      olderThanSeconds: DAY,
      stop: never,
      onKey: (key) => void outcomes.push(key.outcome),
    })
    expect(ids).toHaveLength(1)
    expect([outcome, outcomes]).toEqual([
      { rotated: 1, young: 0, failed: [], stopped: false },
      ['raced'],
    ])
  })
})

async function alter(db: Db, id: string | undefined, changed: Item) {
  const Key = { 'branch-key-id': id ?? '', type: 'branch:ACTIVE' }
  const { Item: found } = await db.getItem({ TableName: TABLE, Key })
  await db.putItem({ TableName: TABLE, Item: { ...found, ...changed } })
}

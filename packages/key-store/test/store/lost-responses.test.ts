import { randomUUID } from 'node:crypto'
import { retryingDb } from '@strongroom/kit/retrying-db'
import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createKeyStorage } from '../../src/store/storage.ts'
import { LOGICAL, newBranchKey, rotationOf, TABLE } from '../support/branch-keys.ts'
import { openKeyStorage } from '../support/open-storage.ts'

const lost = 'The response was lost after the write'

describe.each(serviceStores())('key storage whose answers get lost on $name', (store) => {
  const opened = openKeyStorage(store)

  function losing() {
    const faults = { seed: 3, lostResponse: 1, throttle: 0.2, conflict: 0.2 }
    const db = retryingDb(hostileDb(opened.db, faults), { attempts: 40, pause: async () => {} })
    return createKeyStorage({ db, tableName: TABLE, logicalKeyStoreName: LOGICAL })
  }

  test.each([
    ['with the same token', () => ({ token: randomUUID() })],
    ['without a token', () => ({})],
  ])('a creation that is repeated %s succeeds', async (_how, options) => {
    const key = newBranchKey()
    const given = options()
    await expect(losing().writeNewEncryptedBranchKey(key, given)).rejects.toThrow(lost)
    await opened.storage.writeNewEncryptedBranchKey(key, given)
    expect(await opened.storage.getEncryptedActiveBranchKey(key.branchKeyId)).toEqual(key.active)
  })

  test.each([
    ['with the same token', () => ({ token: randomUUID() })],
    ['without a token', () => ({})],
  ])('a rotation that is repeated %s succeeds and is no race', async (_how, options) => {
    const key = newBranchKey()
    await opened.storage.writeNewEncryptedBranchKey(key)
    const rotation = rotationOf(key.active)
    const given = options()
    await expect(losing().writeNewEncryptedBranchKeyVersion(rotation, given)).rejects.toThrow(lost)
    await opened.storage.writeNewEncryptedBranchKeyVersion(rotation, given)
    expect(await opened.storage.getEncryptedActiveBranchKey(key.branchKeyId)).toEqual(
      rotation.active.item,
    )
  })

  test('a conflict that no retry waited out is neither a race nor a missing or existing key', async () => {
    const key = newBranchKey()
    await opened.storage.writeNewEncryptedBranchKey(key)
    const db = hostileDb(opened.db, { seed: 1, conflict: 1 })
    const busy = createKeyStorage({ db, tableName: TABLE, logicalKeyStoreName: LOGICAL })
    const conflict = { name: 'TransactionFailed' }
    await expect(
      busy.writeNewEncryptedBranchKeyVersion(rotationOf(key.active)),
    ).rejects.toMatchObject(conflict)
    await expect(busy.writeNewEncryptedBranchKey(newBranchKey())).rejects.toMatchObject(conflict)
  })

  test('a rotation that is repeated after the next one has succeeded long ago, and undoes nothing', async () => {
    const key = newBranchKey()
    await opened.storage.writeNewEncryptedBranchKey(key)
    const first = rotationOf(key.active)
    await expect(losing().writeNewEncryptedBranchKeyVersion(first)).rejects.toThrow(lost)
    const second = rotationOf(first.active.item)
    await opened.storage.writeNewEncryptedBranchKeyVersion(second)
    await opened.storage.writeNewEncryptedBranchKeyVersion(first)
    expect(await opened.storage.getEncryptedActiveBranchKey(key.branchKeyId)).toEqual(
      second.active.item,
    )
  })
})

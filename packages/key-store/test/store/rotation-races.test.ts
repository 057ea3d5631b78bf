import { randomUUID } from 'node:crypto'
import { type Db, eachOperation } from '@strongroom/kit/db'
import { retryingDb } from '@strongroom/kit/retrying-db'
import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { everyStore, testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { createKeyStorage, type KeyStorage } from '../../src/store/storage.ts'
import { LOGICAL, TABLE } from '../support/branch-keys.ts'
import { openTestKeyStore } from '../support/open-key-store.ts'

const encryptionContext = { tenant: 'one' }
const storageOn = (db: Db) =>
  createKeyStorage({ db, tableName: TABLE, logicalKeyStoreName: LOGICAL })

describe.each(everyStore())('simultaneous writes of branch keys on $name', (store) => {
  const opened = openTestKeyStore(store)

  /** Delays writes until this many callers have read the active item. */
  function meeting(readers: number): KeyStorage {
    let arrived = 0
    let allHere = () => {}
    const everybody = new Promise<void>((resolve) => {
      allHere = resolve
    })
    return {
      ...opened.storage,
      async getEncryptedActiveBranchKey(id) {
        const active = await opened.storage.getEncryptedActiveBranchKey(id)
        if (++arrived === readers) allHere()
        await everybody
        return active
      },
    }
  }

  // KS-15, KS-87
  test('of two rotations of what both have read one succeeds, and the other is a race', async () => {
    const { keyStore } = opened.open()
    for (let round = 0; round < 5; round++) {
      const key = await keyStore.createKey()
      const before = await keyStore.getActiveBranchKey(key)
      const { keyStore: contended } = opened.open({ storage: meeting(2) })
      const outcomes = await Promise.allSettled([
        contended.versionKey(key),
        contended.versionKey(key),
      ])
      const won = outcomes.filter((each) => each.status === 'fulfilled')
      const lost = outcomes.filter((each) => each.status === 'rejected')
      expect(won).toHaveLength(1)
      expect(lost).toMatchObject([{ reason: { name: 'VersionRace' } }])
      const active = await keyStore.getActiveBranchKey(key)
      expect(active.branchKeyVersion).toBe(won[0]?.value.branchKeyVersion)
      const types = (await opened.items(key.branchKeyIdentifier)).map(({ type }) => type)
      expect(types).toHaveLength(4)
      expect(new Set(types)).toEqual(
        new Set([
          'beacon:ACTIVE',
          'branch:ACTIVE',
          `branch:version:${before.branchKeyVersion}`,
          `branch:version:${active.branchKeyVersion}`,
        ]),
      )
      const { branchKeyIdentifier } = key
      const { branchKeyVersion } = active
      const version = await keyStore.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion })
      expect(version).toEqual(active)
    }
  })

  test('ten concurrent rotations create as many versions as succeed, and the others are races', async () => {
    const { keyStore } = opened.open()
    const key = await keyStore.createKey()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => keyStore.versionKey(key)),
    )
    const made = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const failed = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(made.length).toBeGreaterThan(0)
    for (const error of failed) expect(error).toMatchObject({ name: 'VersionRace' })
    expect(await opened.items(key.branchKeyIdentifier)).toHaveLength(3 + made.length)
    const { branchKeyVersion } = await keyStore.getActiveBranchKey(key)
    expect(made.map((each) => each.branchKeyVersion)).toContain(branchKeyVersion)
  })

  test('of ten creations of one id one succeeds, and all read the same key after', async () => {
    const { keyStore } = opened.open()
    const input = { branchKeyIdentifier: randomUUID(), encryptionContext }
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => keyStore.createKey(input)),
    )
    const refused = outcomes.filter((each) => each.status === 'rejected')
    expect(refused).toHaveLength(9)
    for (const { reason } of refused) expect(reason).toMatchObject({ name: 'BranchKeyExists' })
    const reads = await Promise.all(outcomes.map(() => keyStore.getActiveBranchKey(input)))
    expect(new Set(reads.map(({ branchKeyVersion }) => branchKeyVersion)).size).toBe(1)
    expect(await opened.items(input.branchKeyIdentifier)).toHaveLength(3)
  })
})

describe.each(testStores())('writes of branch keys whose answers get lost on $name', (store) => {
  const opened = openTestKeyStore(store)

  /** Executes every call, but sometimes loses the response. */
  function losing(answers: number) {
    let left = answers
    const tokens: unknown[] = []
    const db = eachOperation((name) => async (input) => {
      const answer = await opened.db[name](input)
      if (name !== 'transactWriteItems') return answer
      tokens.push((input as { ClientRequestToken?: string }).ClientRequestToken)
      if (left-- > 0)
        throw Object.assign(new Error('The answer got lost'), { name: 'TimeoutError' })
      return answer
    })
    return { tokens, storage: storageOn(retryingDb(db, { pause: async () => {} })) }
  }

  // KS-86
  test('a rotation succeeds, is no race, and happens once', async () => {
    const { keyStore } = opened.open()
    const key = await keyStore.createKey()
    const { storage, tokens } = losing(2)
    const { branchKeyVersion } = await opened.open({ storage }).keyStore.versionKey(key)
    expect((await keyStore.getActiveBranchKey(key)).branchKeyVersion).toBe(branchKeyVersion)
    expect(await opened.items(key.branchKeyIdentifier)).toHaveLength(4)
    expect(tokens).toHaveLength(3)
    expect(new Set(tokens).size).toBe(1)
  })

  // KS-76
  test('a creation succeeds, and does not find that the key exists', async () => {
    const branchKeyIdentifier = randomUUID()
    const { storage, tokens } = losing(1)
    const { keyStore } = opened.open({ storage })
    await keyStore.createKey({ branchKeyIdentifier, encryptionContext })
    expect(await opened.items(branchKeyIdentifier)).toHaveLength(3)
    expect(new Set(tokens).size).toBe(1)
    await opened.open().keyStore.getActiveBranchKey({ branchKeyIdentifier })
  })

  test('each write has a token of its own', async () => {
    const { storage, tokens } = losing(0)
    const { keyStore } = opened.open({ storage })
    const key = await keyStore.createKey()
    await keyStore.versionKey(key)
    await keyStore.versionKey(key)
    expect(new Set(tokens).size).toBe(3)
  })

  test('a race is still a race if responses are lost', async () => {
    const { keyStore } = opened.open()
    const key = await keyStore.createKey()
    const { storage } = losing(1)
    const outrun: KeyStorage = {
      ...storage,
      async getEncryptedActiveBranchKey(id) {
        const active = await storage.getEncryptedActiveBranchKey(id)
        await keyStore.versionKey(key)
        return active
      },
    }
    await expect(opened.open({ storage: outrun }).keyStore.versionKey(key)).rejects.toMatchObject({
      name: 'VersionRace',
    })
    expect(await opened.items(key.branchKeyIdentifier)).toHaveLength(4)
  })

  test('a conflict that does not pass is passed on as what it is, and nothing is written', async () => {
    const { keyStore } = opened.open()
    const key = await keyStore.createKey()
    const db = hostileDb(opened.db, { seed: 1, conflict: 1 })
    const storage = storageOn(retryingDb(db, { pause: async () => {} }))
    await expect(opened.open({ storage }).keyStore.versionKey(key)).rejects.toMatchObject({
      name: 'TransactionFailed',
    })
    expect(await opened.items(key.branchKeyIdentifier)).toHaveLength(3)
  })
})

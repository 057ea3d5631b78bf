import { randomBytes } from 'node:crypto'
import { createKms } from '@strongroom/kms/kms'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTables } from '../src/tables.ts'
import type { Db, Item } from '../src/db.ts'
import type { Kms, KmsKey } from '../src/kms.ts'
import { retryingDb } from '../src/retrying-db.ts'
import { createServerSecrets } from '../src/server-secrets.ts'
import { serverTable } from '../src/server-table.ts'
import { everyStore } from '../src/testing/stores.ts'
import { hostileDb } from '../src/testing/hostile-db.ts'
import { testClock } from '../src/testing/test-clock.ts'
import { testKmsKey } from '../src/testing/test-secrets.ts'

const NOW = Date.parse('2100-01-01') / 1000
const DAY = 86_400

/** The same key, with the calls that open something counted. */
function counted({ kms, arn }: KmsKey) {
  const calls = { decrypt: 0 }
  const decrypt: Kms['decrypt'] = (input) => {
    calls.decrypt++
    return kms.decrypt(input)
  }
  return { calls, key: { arn, kms: { ...kms, decrypt } } }
}

describe.each(everyStore())('server secrets on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  let key: KmsKey
  let names = 0

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [serverTable])
    key = await testKmsKey()
  })
  afterAll(() => close())

  const newName = () => `secret-${++names}`
  const itemKey = (name: string, version: number) => ({ PK: `SECRET#${name}`, SK: `V#${version}` })
  const stored = async (name: string, version = 1) =>
    (await db.getItem({ TableName: serverTable.name, Key: itemKey(name, version) })).Item
  const put = (Item: Item) => db.putItem({ TableName: serverTable.name, Item })

  /** Any number of processes on one store and one clock. */
  function processes() {
    const clock = testClock()
    return { clock, start: () => createServerSecrets({ db, key, clock }) }
  }

  test('are 32 bytes that are created once and are the same after a restart', async () => {
    const name = newName()
    const { start } = processes()
    const made = await start().current(name)
    expect([made.version, made.key.length]).toEqual([1, 32])
    expect(await start().current(name)).toEqual(made)
    expect(await start().accepted(name)).toEqual([made])
    expect((await start().current(newName())).key).not.toEqual(made.key)
  })

  test('are stored encrypted and bound to name and version', async () => {
    const name = newName()
    const made = await processes().start().current(name)
    const item = await stored(name)
    expect(item).toEqual({
      PK: `SECRET#${name}`,
      SK: 'V#1',
      name,
      version: 1,
      sealed: expect.any(Uint8Array),
      createdAt: NOW,
      activeFrom: NOW,
    })
    const sealed = item?.['sealed'] as Uint8Array
    expect(Buffer.from(sealed).includes(Buffer.from(made.key))).toBe(false)
    const opened = await key.kms.decrypt({
      KeyId: key.arn,
      CiphertextBlob: sealed,
      EncryptionContext: { name, version: '1' },
    })
    expect(Uint8Array.from(opened.Plaintext)).toEqual(made.key)
  })

  test('are the same for twenty servers that start concurrently', async () => {
    const name = newName()
    const { start } = processes()
    const made = await Promise.all(Array.from({ length: 20 }, () => start().current(name)))
    const [first] = made
    for (const each of made) expect(each).toEqual(first)
    expect(await start().current(name)).toEqual(first)
  })

  test('are decrypted by KMS once for each process, not for each use', async () => {
    const name = newName()
    const { clock } = processes()
    const { calls, key: countedKey } = counted(key)
    const secrets = createServerSecrets({ db, key: countedKey, clock })
    await Promise.all(Array.from({ length: 10 }, () => secrets.current(name)))
    clock.advance({ minutes: 3 })
    await secrets.accepted(name)
    expect(calls.decrypt).toBe(1)
    await secrets.rotate(name, { overlapSeconds: DAY })
    expect(await secrets.accepted(name)).toHaveLength(2)
  })

  test('are decrypted by KMS again before five minutes have passed, however often they are used', async () => {
    const name = newName()
    const { clock } = processes()
    const disabled = { now: false }
    const decrypt: Kms['decrypt'] = async (input) => {
      if (disabled.now) throw Object.assign(new Error('off'), { name: 'DisabledException' })
      return key.kms.decrypt(input)
    }
    const secrets = createServerSecrets({
      db,
      key: { ...key, kms: { ...key.kms, decrypt } },
      clock,
    })
    for (const warmSeconds of [0, 55, 185, 235]) {
      disabled.now = false
      clock.advance({ minutes: 10 })
      for (let seconds = 0; seconds <= warmSeconds; seconds += 5) {
        await secrets.current(name)
        clock.advance({ seconds: 5 })
      }
      disabled.now = true
      for (let seconds = 0; seconds < 295; seconds += 5) {
        await secrets.current(name).catch(() => {})
        clock.advance({ seconds: 5 })
      }
      await expect(secrets.current(name)).rejects.toThrow('off')
      await expect(secrets.accepted(name)).rejects.toThrow('off')
    }
  })

  test('are copies, so that a caller that changes one does not affect others', async () => {
    const name = newName()
    const secrets = processes().start()
    const { key: mine } = await secrets.current(name)
    const before = Uint8Array.from(mine)
    mine.fill(0)
    expect((await secrets.current(name)).key).toEqual(before)
  })

  test('that are rotated are accepted immediately and used when every process must have read them', async () => {
    const name = newName()
    const { clock, start } = processes()
    const [one, two] = [start(), start()]
    const first = await one.current(name)
    // From now on they look for changes at different times.
    clock.advance({ seconds: 30 })
    await two.current(name)
    await start().rotate(name, { overlapSeconds: DAY })

    for (let seconds = 0; seconds < 300; seconds += 7) {
      clock.advance({ seconds: 7 })
      for (const maker of [one, two]) {
        const made = await maker.current(name)
        for (const checker of [one, two]) {
          expect(await checker.accepted(name)).toContainEqual(made)
        }
      }
    }
    const second = await one.current(name)
    expect(second.version).toBe(2)
    expect(second.key).not.toEqual(first.key)
    expect(await two.accepted(name)).toEqual([second, first])
  })

  test('have the current version as the first of the accepted ones', async () => {
    const name = newName()
    const { clock, start } = processes()
    const secrets = start()
    await secrets.current(name)
    await secrets.rotate(name, { overlapSeconds: DAY })
    const versions = async () => (await secrets.accepted(name)).map(({ version }) => version)
    expect(await versions()).toEqual([1, 2])
    clock.advance({ minutes: 2 })
    expect(await versions()).toEqual([2, 1])
    expect((await secrets.current(name)).version).toBe(2)
  })

  test('that were replaced are accepted for the overlap, then rejected and removed', async () => {
    const name = newName()
    const { clock, start } = processes()
    const secrets = start()
    await secrets.current(name)
    const rotated = await secrets.rotate(name, { overlapSeconds: DAY })
    expect(rotated).toEqual({
      name,
      version: 2,
      createdAt: NOW,
      activeFrom: NOW + 120,
      acceptedUntil: undefined,
    })
    expect(await stored(name)).toMatchObject({ acceptedUntil: NOW + 120 + DAY })

    clock.advance({ seconds: DAY + 119 })
    expect(await secrets.accepted(name)).toHaveLength(2)
    clock.advance({ seconds: 1 })
    expect((await secrets.accepted(name)).map(({ version }) => version)).toEqual([2])
    clock.advance({ minutes: 1 })
    await secrets.current(name)
    expect(await stored(name)).toBeUndefined()
  })

  test('that are rotated without overlap are replaced immediately, and within a minute in other processes', async () => {
    const name = newName()
    const { clock, start } = processes()
    const [here, elsewhere] = [start(), start()]
    await elsewhere.current(name)
    await here.rotate(name, { overlapSeconds: 30 * DAY })
    await here.rotate(name, { overlapSeconds: 0 })
    const versions = async (secrets: typeof here) =>
      (await secrets.accepted(name)).map(({ version }) => version)
    expect(await versions(here)).toEqual([3])
    clock.advance({ minutes: 1 })
    expect(await versions(elsewhere)).toEqual([3])
  })

  test('that another process rotated are read again after the clock was set back', async () => {
    const name = newName()
    const start = testClock().now()
    let now = start
    const secrets = createServerSecrets({ db, key, clock: { now: () => now } })
    await secrets.current(name)
    now -= DAY * 1000
    await createServerSecrets({ db, key, clock: testClock(start) }).rotate(name, {
      overlapSeconds: 30 * DAY,
    })
    expect((await secrets.accepted(name)).map(({ version }) => version)).toEqual([1, 2])
  })

  test('get one new version for each concurrent rotation that succeeds, and the others fail', async () => {
    const name = newName()
    const { start } = processes()
    await start().current(name)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => start().rotate(name, { overlapSeconds: DAY })),
    )
    const made = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(made.length).toBeGreaterThan(0)
    expect(made.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual(
      made.map((_, index) => index + 2),
    )
    for (const each of outcomes) {
      if (each.status === 'fulfilled') continue
      expect(each.reason).toMatchObject({ code: 'secret.rotated_meanwhile' })
    }
    const versions = (await start().list()).filter((each) => each.name === name)
    expect(versions.filter(({ acceptedUntil }) => acceptedUntil === undefined)).toHaveLength(1)
    expect(versions).toHaveLength(made.length + 1)
  })

  test('are listed by name and version, newest first, without their values', async () => {
    const name = newName()
    const { start } = processes()
    const secrets = start()
    await secrets.current(name)
    for (let version = 2; version <= 11; version++)
      await secrets.rotate(name, { overlapSeconds: DAY })
    const listed = await start().list()
    const mine = listed.filter((each) => each.name === name)
    expect(mine.map(({ version }) => version)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    expect(mine.at(-1)).toEqual({
      name,
      version: 1,
      createdAt: NOW,
      activeFrom: NOW,
      acceptedUntil: NOW + 120 + DAY,
    })
    expect(listed.map((each) => each.name)).toEqual(listed.map((each) => each.name).toSorted())
  })

  test('cannot be rotated before they exist, nor with an invalid overlap', async () => {
    const { start } = processes()
    const code = (name: string) => expect.objectContaining({ code: `secret.${name}` })
    await expect(start().rotate('unknown', { overlapSeconds: 1 })).rejects.toThrow(
      code('not_found'),
    )
    expect(await stored('unknown')).toBeUndefined()
    for (const overlapSeconds of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e12]) {
      await expect(start().rotate('unknown', { overlapSeconds })).rejects.toThrow(
        code('invalid_overlap'),
      )
    }
  })

  test.each(['', 'Cursor', 'a b', '-a', 'a-', 'a#b', 'x'.repeat(65)])(
    'cannot be named "%s"',
    async (name) => {
      const secrets = processes().start()
      const invalid = expect.objectContaining({ code: 'secret.invalid_name' })
      await expect(secrets.current(name)).rejects.toThrow(invalid)
      await expect(secrets.accepted(name)).rejects.toThrow(invalid)
      await expect(secrets.rotate(name, { overlapSeconds: 0 })).rejects.toThrow(invalid)
    },
  )

  describe('fail with one line if KMS does not decrypt them', () => {
    const refusal = async (name: string, usedKey = key) => {
      const secrets = createServerSecrets({ db, key: usedKey, clock: testClock() })
      const error = await secrets.current(name).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error).toMatchObject({ name: 'Failure', code: 'failed' })
      const { message } = error as Error
      expect(message).not.toContain('\n')
      return message
    }

    test('because another key of the same KMS encrypted them', async () => {
      const name = newName()
      const kms = await createKms({ masterKey: randomBytes(32), storage: memoryKeyStorage() })
      const [one, two] = [await kms.createKey(), await kms.createKey()]
      const clock = testClock()
      await createServerSecrets({ db, key: { kms, arn: one.KeyMetadata.Arn }, clock }).current(name)
      expect(await refusal(name, { kms, arn: two.KeyMetadata.Arn })).toBe(
        `Cannot open the server secret ${name}, version 1, because it was encrypted with another KMS key. Configure the key that this store was created with.`,
      )
    })

    test('because another KMS encrypted them', async () => {
      const name = newName()
      await processes().start().current(name)
      expect(await refusal(name, await testKmsKey())).toContain('encrypted by another KMS')
    })

    test('because an item was moved to another name or version, or altered', async () => {
      const [name, other] = [newName(), newName()]
      await processes().start().current(name)
      const item = (await stored(name)) ?? {}
      await put({ ...item, PK: `SECRET#${other}`, name: other })
      expect(await refusal(other)).toContain('it was altered, moved')
      await put({ ...item, PK: `SECRET#${other}` })
      expect(await refusal(other)).toContain('it was altered, moved')
      await put({ ...item, SK: 'V#2' })
      expect(await refusal(name)).toContain('it was altered, moved')
      await db.deleteItem({ TableName: serverTable.name, Key: itemKey(name, 2) })
      await db.deleteItem({ TableName: serverTable.name, Key: itemKey(other, 1) })

      const sealed = Uint8Array.from(item['sealed'] as Uint8Array)
      sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1
      await put({ ...item, sealed })
      expect(await refusal(name)).toContain('it was altered, moved')
    })

    test('because the plaintext is not a key', async () => {
      const name = newName()
      await processes().start().current(name)
      const { CiphertextBlob: sealed } = await key.kms.encrypt({
        KeyId: key.arn,
        Plaintext: Buffer.from('short'),
        EncryptionContext: { name, version: '1' },
      })
      await put({ ...(await stored(name)), sealed })
      expect(await refusal(name)).toContain('it was altered, moved')
    })
  })

  test('pass an outage of KMS through, and work again after it', async () => {
    const name = newName()
    await processes().start().current(name)
    let reachable = false
    const decrypt: Kms['decrypt'] = async (input) => {
      if (reachable) return key.kms.decrypt(input)
      throw Object.assign(new Error('connect'), { name: 'TimeoutError' })
    }
    const usedKey = { arn: key.arn, kms: { ...key.kms, decrypt } }
    const secrets = createServerSecrets({ db, key: usedKey, clock: testClock() })
    await expect(secrets.current(name)).rejects.toThrow('connect')
    reachable = true
    expect((await secrets.current(name)).version).toBe(1)
  })

  test('whose creation was not confirmed are the same afterwards', async () => {
    const name = newName()
    const clock = testClock()
    const losing = retryingDb(hostileDb(db, { seed: 7, lostResponse: 1 }))
    const unlucky = createServerSecrets({ db: losing, key, clock })
    await expect(unlucky.current(name)).rejects.toThrow('was lost')
    const made = await unlucky.current(name)
    expect(await processes().start().current(name)).toEqual(made)
  })

  test('reject an item with an unknown attribute', async () => {
    const name = newName()
    await processes().start().current(name)
    await put({ ...(await stored(name)), plain: 'x' })
    await expect(processes().start().current(name)).rejects.toThrow('check plain')
  })
})

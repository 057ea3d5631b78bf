import { link, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@strongroom/kit/clock'
import { createTables } from '@strongroom/kit/create-tables'
import { serverTable } from '@strongroom/kit/server-table'
import { verifyAudit } from '@strongroom/kms/audit-verify'
import { createKms, type EmbeddedKms } from '@strongroom/kms/kms'
import { openMasterKeyFile } from '@strongroom/kms/master-key-file'
import { wrappingBy } from '@strongroom/kms/master-key'
import { finishFiles, finishKeys, rekey } from '@strongroom/kms/rekey'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openEmbeddedKms } from '../src/embedded-kms.ts'
import { createKmsKeys } from '../src/kms-keys.ts'
import { settings } from '../src/settings.ts'
import { openStore, type Store } from '../src/store.ts'

type Storage = ReturnType<typeof createKmsKeys>

/** Cheap, because nobody attacks a test. */
const cost = { N: 2, r: 1, p: 1 }
const PASSPHRASE = 'STRONGROOM_MASTER_KEY_PASSPHRASE'

describe('a change of the master key', () => {
  let directory: string
  let store: Store
  let storage: Storage

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
    store = await openStore(settings.parse({ STRONGROOM_DATA: directory }))
    await createTables(store.db, [serverTable])
    storage = createKmsKeys(store.db)
  })
  afterEach(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  const file = () => join(directory, 'keys', 'master.key')
  const line = () => readFile(file(), 'utf8')
  const files = async () => (await readdir(join(directory, 'keys'))).toSorted()
  const start = (env = {}) =>
    openEmbeddedKms(store.db, settings.parse({ STRONGROOM_DATA: directory, ...env }), {
      clock: systemClock,
    })
  const items = async () =>
    (await store.db.scan({ TableName: serverTable.name, ConsistentRead: true })).Items ?? []

  /** Two keys, one of them rotated, and what they have encrypted. */
  const filled = async () => {
    const { kms, id, close } = await start()
    const blobs: Uint8Array[] = []
    const seal = async (KeyId: string) => {
      const input = { KeyId, Plaintext: Buffer.from('hello') }
      blobs.push((await kms.encrypt(input)).CiphertextBlob)
    }
    await seal(id)
    await kms.rotateKeyOnDemand({ KeyId: id })
    await seal(id)
    const { KeyId: other } = (await kms.createKey()).KeyMetadata
    await seal(other)
    close()
    return { blobs, id, other }
  }
  const opened = (kms: EmbeddedKms, blobs: Uint8Array[]) =>
    Promise.all(
      blobs.map(async (CiphertextBlob) =>
        Buffer.from((await kms.decrypt({ CiphertextBlob })).Plaintext).toString(),
      ),
    )
  const allOpen = async (blobs: Uint8Array[], env = {}) => {
    const { kms, close } = await start(env)
    expect(await opened(kms, blobs)).toEqual(blobs.map(() => 'hello'))
    close()
  }

  test('opens all that was sealed before, with a new master key and nothing of the old', async () => {
    const { blobs } = await filled()
    const [oldLine, oldKey] = [await line(), await openMasterKeyFile(file())]
    const old = wrappingBy(oldKey)
    const running = await start()
    const done = await running.rekey({ caller: 'test' })
    running.close()

    expect(await line()).not.toBe(oldLine)
    expect((await stat(file())).mode & 0o777).toBe(0o600)
    await allOpen(blobs)
    await expect(createKms({ masterKey: oldKey, storage })).rejects.toThrow('another master key')
    for (const { id, currentVersion } of await storage.list()) {
      for (let version = 1; version <= currentVersion; version++) {
        const { wrapped } = (await storage.loadVersion(id, version)) ?? {}
        expect(wrapped && old.unwrap(id, version, wrapped)).toBeUndefined()
      }
    }
    expect((await items()).filter((item) => 'nextWrapped' in item || 'next' in item)).toEqual([])
    expect(done).toEqual({ keys: 2, old: expect.stringContaining('master.key.old-') })
    expect(await readFile(done.old, 'utf8')).toBe(oldLine)
    expect(await files()).toHaveLength(3)
  })

  test('stands in the audit log once, as does one that was refused', async () => {
    await filled()
    const [first, second] = [await start(), await start()]
    await first.rekey({ caller: 'test' })
    await expect(second.rekey({ caller: 'test' })).rejects.toThrow('another master key')
    first.close()
    second.close()
    const log = join(directory, 'keys', 'kms-audit.log')
    const records = (await readFile(log, 'utf8')).trim().split('\n')
    expect(
      records
        .map((text) => JSON.parse(text) as Record<string, string>)
        .filter(({ operation }) => operation === 'ReplaceMasterKey')
        .map(({ caller, outcome }) => [caller, outcome]),
    ).toEqual([
      ['test', 'Success'],
      ['test', 'WrongMasterKey'],
    ])
    expect((await verifyAudit(log)).findings).toEqual([])
  })

  test('is finished or starts over after a crash before or after any of its steps', async () => {
    const { blobs } = await filled()
    let [steps, changes] = [0, 0]
    for (let finished = false; !finished; steps++) {
      for (const moment of ['before', 'after'] as const) {
        const before = await line()
        const { dying, called } = dyingStorage(storage, steps, moment)
        const masterKey = await openMasterKeyFile(file())
        const done = await rekey({ storage: dying, file: file(), masterKey, changed() {} })
          .then(() => true)
          .catch(unlessKilled)
        const decided = called.includes('decide')
        await allOpen(blobs)
        const isNew = (await line()) !== before
        const left = (await items()).filter((item) => 'nextWrapped' in item)
        const change = await storage.change()
        expect([moment, isNew, decided && (change ?? left.length)]).toEqual([
          moment,
          decided,
          decided && 0,
        ])
        changes += Number(decided)
        expect((await files()).filter((name) => name.includes('.next-')).length).toBeLessThan(2)
        finished = done === true
      }
    }
    // Besides the last: begin, two of stage, decide, two of promote, end.
    expect(steps).toBe(8)
    // One old master key for each, and the audit log.
    expect(await files()).toHaveLength(changes + 2)
  })

  test('is finished by a later start also if the one that finishes it crashes', async () => {
    const { blobs } = await filled()
    const masterKey = await openMasterKeyFile(file())
    const { dying } = dyingStorage(storage, 'decide', 'after')
    const cut = rekey({ storage: dying, file: file(), masterKey, changed() {} })
    await expect(cut).rejects.toThrow('killed')
    // As if the machine had stopped between the two steps of the exchange of files.
    const { current } = (await storage.change()) ?? { current: new Uint8Array() }
    await link(file(), `${file()}.old-${Buffer.from(current).toString('hex', 0, 8)}`)
    await finishFiles(storage, file())
    const wrapping = wrappingBy(await openMasterKeyFile(file()))
    for (let step = 0; await storage.change(); step++) {
      const { dying: starting } = dyingStorage(storage, step, 'after')
      await finishKeys(starting, wrapping, () => {}).catch(unlessKilled)
    }
    await allOpen(blobs)
    expect((await items()).filter((item) => 'nextWrapped' in item)).toEqual([])
  })

  test('needs the old passphrase until it is decided, and from then on the new one', async () => {
    const { blobs } = await filled()
    const changeTo = async (passphrase: string, step: string, present = {}) => {
      const { dying } = dyingStorage(storage, step, 'after')
      const masterKey = await openMasterKeyFile(file(), present)
      const change = { storage: dying, file: file(), masterKey, passphrase, cost, changed() {} }
      await expect(rekey(change)).rejects.toThrow('killed')
    }
    await changeTo('open sesame', 'stage')
    await allOpen(blobs)
    await changeTo('open sesame', 'decide')
    await expect(start()).rejects.toThrow('protected by a passphrase')
    await expect(start({ [PASSPHRASE]: 'open barley' })).rejects.toThrow('not the passphrase')
    await allOpen(blobs, { [PASSPHRASE]: 'open sesame' })
    await changeTo('open wheat', 'stage', { passphrase: 'open sesame' })
    await allOpen(blobs, { [PASSPHRASE]: 'open sesame' })
  })

  test('of several at once one succeeds', async () => {
    const { blobs } = await filled()
    const running = await Promise.all(Array.from({ length: 5 }, () => start()))
    const ended = await Promise.allSettled(running.map((kms) => kms.rekey({ caller: 'test' })))
    for (const { close } of running) close()
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await allOpen(blobs)
    expect(await files()).toHaveLength(3)
  })

  test('writes nothing more once another one has taken its place', async () => {
    const { blobs } = await filled()
    const masterKey = await openMasterKeyFile(file())
    const change = (own: Partial<Storage>) =>
      rekey({ storage: { ...storage, ...own }, file: file(), masterKey, changed() {} })
    let second: ReturnType<typeof rekey> | undefined
    const first = change({
      // The second one has staged every key when the first one begins to.
      stage: (...input) =>
        new Promise((resolve, reject) => {
          second = change({
            async decide(next) {
              storage.stage(...input).then(resolve, reject)
              await first.catch(() => {})
              return storage.decide(next)
            },
          })
        }),
    })
    await expect(first).rejects.toThrow('is being changed by another process')
    expect(await second).toMatchObject({ keys: 2 })
    await allOpen(blobs)
    expect((await files()).filter((name) => name.includes('.next-'))).toEqual([])
  })

  test('loses no key that is made, rotated or disabled at the same moment', async () => {
    const { blobs, other } = await filled()
    const { kms, rekey: change, close } = await start()
    const writing = Promise.allSettled(
      Array.from({ length: 10 }, async (_, index) => {
        await kms.rotateKeyOnDemand({ KeyId: other })
        if (index % 3 === 0) await kms.disableKey({ KeyId: other })
        if (index % 3 === 1) await kms.enableKey({ KeyId: other })
        const { KeyId } = (await kms.createKey()).KeyMetadata
        const sealed = await kms.encrypt({ KeyId, Plaintext: Buffer.from('hello') })
        blobs.push(sealed.CiphertextBlob)
      }),
    )
    await change({ caller: 'test' })
    await writing
    close()
    const after = await start()
    await after.kms.enableKey({ KeyId: other })
    expect(await opened(after.kms, blobs)).toEqual(blobs.map(() => 'hello'))
    await after.kms.rotateKeyOnDemand({ KeyId: other })
    await after.kms.createKey()
    after.close()
  })

  test('leaves a running KMS what it has in memory, and tells it of the rest', async () => {
    const { blobs, id, other } = await filled()
    const running = await start()
    const [own, others] = [blobs.slice(0, 2), blobs.slice(2)]
    expect(await opened(running.kms, own)).toEqual(['hello', 'hello'])
    const changing = await start()
    await changing.rekey({ caller: 'test' })
    changing.close()

    expect(await opened(running.kms, own)).toEqual(['hello', 'hello'])
    await running.kms.disableKey({ KeyId: other })
    await running.kms.enableKey({ KeyId: other })
    const before = await items()
    const again = 'start this process again if it was changed'
    await expect(opened(running.kms, others)).rejects.toThrow(again)
    await expect(running.kms.rotateKeyOnDemand({ KeyId: id })).rejects.toThrow(again)
    await expect(running.kms.createKey()).rejects.toThrow('another master key')
    await expect(running.rekey({ caller: 'test' })).rejects.toThrow('another master key')
    expect(await items()).toEqual(before)
    running.close()
    await allOpen(blobs)
  })

  test('that was cut short is named to whoever makes or rotates a key', async () => {
    const { id } = await filled()
    const masterKey = await openMasterKeyFile(file())
    const { dying } = dyingStorage(storage, 'begin', 'after')
    const cut = rekey({ storage: dying, file: file(), masterKey, changed() {} })
    await expect(cut).rejects.toThrow('killed')
    const { kms, rekey: change, close } = await start()
    const message = 'run "strongroom kms rekey" again if that was cut short'
    await expect(kms.createKey()).rejects.toThrow(message)
    await expect(kms.rotateKeyOnDemand({ KeyId: id })).rejects.toThrow(message)
    await change({ caller: 'test' })
    close()
    const after = await start()
    await after.kms.rotateKeyOnDemand({ KeyId: id })
    after.close()
  })

  test('takes a key with as many backing keys as one can have', async () => {
    const { kms, id, rekey: change, close } = await start()
    const input = { KeyId: id, Plaintext: Buffer.from('hello') }
    const blob = (await kms.encrypt(input)).CiphertextBlob
    for (let version = 2; version <= 99; version++) await kms.rotateKeyOnDemand({ KeyId: id })
    expect(await change({ caller: 'test' })).toMatchObject({ keys: 1 })
    close()
    await allOpen([blob])
  })

  test('is refused, with nothing written, where a key is damaged', async () => {
    const { id } = await filled()
    const Key = { PK: `KMSKEY#${id}`, SK: 'V#1' }
    const { Item = {} } = await store.db.getItem({ TableName: serverTable.name, Key })
    await store.db.putItem({
      TableName: serverTable.name,
      Item: { ...Item, wrapped: new Uint8Array(61) },
    })
    const [before, keyFile] = [await items(), await line()]
    const { rekey: change, close } = await start()
    await expect(change({ caller: 'test' })).rejects.toThrow('is damaged: restore it from a backup')
    close()
    expect([await items(), await line()]).toEqual([before, keyFile])
  })

  test('is given up, with nothing left behind, where the new file cannot be written', async () => {
    await filled()
    const [before, keyFile] = [await files(), await line()]
    const { rekey: change, close } = await start()
    await expect(change({ caller: 'test', passphrase: '' })).rejects.toThrow('cannot be empty')
    close()
    expect([await files(), await line()]).toEqual([before, keyFile])
    expect(await storage.change()).toBeUndefined()
  })
})

function unlessKilled(error: Error): void {
  if (error.message !== 'killed') throw error
}

/** Between reads nothing changes. */
const writes = ['begin', 'stage', 'decide', 'promote', 'end']

/** A store whose process is killed at a write, by its number or name: from then on nothing is done. */
function dyingStorage(storage: Storage, at: number | string, moment: 'before' | 'after') {
  const called: string[] = []
  let step = 0
  let dead = false
  const dying = Object.fromEntries(
    Object.entries(storage).map(([name, run]) => [
      name,
      async (...args: never[]) => {
        const isLast = (writes.includes(name) && at === step++) || at === name
        if (dead || (isLast && moment === 'before')) {
          dead = true
          throw new Error('killed')
        }
        called.push(name)
        const result: unknown = await (run as (...input: never[]) => Promise<unknown>)(...args)
        if (!isLast) return result
        dead = true
        throw new Error('killed')
      },
    ]),
  ) as unknown as Storage
  return { dying, called }
}

import { link } from 'node:fs/promises'
import { wrappingBy } from '@strongroom/kms/master-key/key'
import { openMasterKeyFile } from '@strongroom/kms/master-key/file'
import { finishFiles, finishKeys, rekey } from '@strongroom/kms/rekey'
import { describe, expect, test } from 'vitest'
import { type RekeyStorage, rekeyBench } from '../rekey-bench.ts'

/** Cheap parameters for tests. */
const cost = { N: 2, r: 1, p: 1 }
const PASSPHRASE = 'STRONGROOM_MASTER_KEY_PASSPHRASE'

describe('a rekey', () => {
  test('is finished or starts over after a crash before or after any of its steps', async () => {
    const { storage, file, line, files, items, filled, allOpen } = await rekeyBench()
    const { blobs } = await filled()
    let [steps, changes] = [0, 0]
    for (let finished = false; !finished; steps++) {
      for (const moment of ['before', 'after'] as const) {
        const before = await line()
        const { dying, called } = dyingStorage(storage, steps, moment)
        const masterKey = await openMasterKeyFile(file)
        const done = await rekey({ storage: dying, file, masterKey, changed() {} })
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

  test('is finished by a later start even if the finishing start crashes', async () => {
    const { storage, file, items, filled, allOpen } = await rekeyBench()
    const { blobs } = await filled()
    const masterKey = await openMasterKeyFile(file)
    const { dying } = dyingStorage(storage, 'decide', 'after')
    const cut = rekey({ storage: dying, file, masterKey, changed() {} })
    await expect(cut).rejects.toThrow('killed')
    // As if the machine had stopped between the two steps of the exchange of files.
    const { current } = (await storage.change()) ?? { current: new Uint8Array() }
    await link(file, `${file}.old-${Buffer.from(current).toString('hex', 0, 8)}`)
    await finishFiles(storage, file)
    const wrapping = wrappingBy(await openMasterKeyFile(file))
    for (let step = 0; await storage.change(); step++) {
      const { dying: starting } = dyingStorage(storage, step, 'after')
      await finishKeys(starting, wrapping, () => {}).catch(unlessKilled)
    }
    await allOpen(blobs)
    expect((await items()).filter((item) => 'nextWrapped' in item)).toEqual([])
  })

  test('requires the old passphrase until it is decided, and then the new one', async () => {
    const { storage, file, start, filled, allOpen } = await rekeyBench()
    const { blobs } = await filled()
    const changeTo = async (passphrase: string, step: string, present = {}) => {
      const { dying } = dyingStorage(storage, step, 'after')
      const masterKey = await openMasterKeyFile(file, present)
      const change = { storage: dying, file, masterKey, passphrase, cost, changed() {} }
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

  test('is reported by the creation or rotation of a key if it was interrupted', async () => {
    const { storage, file, start, filled } = await rekeyBench()
    const { id } = await filled()
    const masterKey = await openMasterKeyFile(file)
    const { dying } = dyingStorage(storage, 'begin', 'after')
    const cut = rekey({ storage: dying, file, masterKey, changed() {} })
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
})

function unlessKilled(error: Error): void {
  if (error.message !== 'killed') throw error
}

/** Between reads nothing changes. */
const writes = ['begin', 'stage', 'decide', 'promote', 'end']

/** A store whose process is killed at a write, by its number or name: from then on nothing is done. */
function dyingStorage(storage: RekeyStorage, at: number | string, moment: 'before' | 'after') {
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
  ) as unknown as RekeyStorage
  return { dying, called }
}

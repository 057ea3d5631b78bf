import { openMasterKeyFile } from '@strongroom/kms/master-key/file'
import { rekey } from '@strongroom/kms/rekey'
import { describe, expect, test } from 'vitest'
import { type RekeyStorage, rekeyBench } from '../rekey-bench.ts'

describe('a rekey', () => {
  test('succeeds once among several concurrent ones', async () => {
    const { files, start, filled, allOpen } = await rekeyBench()
    const { blobs } = await filled()
    const running = await Promise.all(Array.from({ length: 5 }, () => start()))
    const ended = await Promise.allSettled(running.map((kms) => kms.rekey({ caller: 'test' })))
    for (const { close } of running) close()
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await allOpen(blobs)
    expect(await files()).toHaveLength(3)
  })

  test('writes nothing after another one has replaced it', async () => {
    const { storage, file, files, filled, allOpen } = await rekeyBench()
    const { blobs } = await filled()
    const masterKey = await openMasterKeyFile(file)
    const change = (own: Partial<RekeyStorage>) =>
      rekey({ storage: { ...storage, ...own }, file, masterKey, changed() {} })
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

  test('loses no key that is created, rotated or disabled concurrently', async () => {
    const { start, filled, opened } = await rekeyBench()
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
})

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { serverTable } from '@strongroom/kit/server-table'
import { verifyAudit } from '@strongroom/kms/audit-verify'
import { createKms } from '@strongroom/kms/kms'
import { wrappingBy } from '@strongroom/kms/master-key/key'
import { openMasterKeyFile } from '@strongroom/kms/master-key/file'
import { describe, expect, test } from 'vitest'
import { rekeyBench } from '../rekey-bench.ts'

describe('a rekey', () => {
  test('keeps all ciphertexts readable with only the new master key', async () => {
    const { storage, file, line, files, start, items, filled, allOpen } = await rekeyBench()
    const { blobs } = await filled()
    const [oldLine, oldKey] = [await line(), await openMasterKeyFile(file)]
    const old = wrappingBy(oldKey)
    const running = await start()
    const done = await running.rekey({ caller: 'test' })
    running.close()

    expect(await line()).not.toBe(oldLine)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
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

  test('has one record in the audit log, even if it fails', async () => {
    const { directory, start, filled } = await rekeyBench()
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

  test('lets a running KMS use the keys in its memory, and fails its other calls', async () => {
    const { start, items, filled, opened, allOpen } = await rekeyBench()
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

  test('supports a key with the maximum number of backing keys', async () => {
    const { start, allOpen } = await rekeyBench()
    const { kms, id, rekey: change, close } = await start()
    const input = { KeyId: id, Plaintext: Buffer.from('hello') }
    const blob = (await kms.encrypt(input)).CiphertextBlob
    for (let version = 2; version <= 99; version++) await kms.rotateKeyOnDemand({ KeyId: id })
    expect(await change({ caller: 'test' })).toMatchObject({ keys: 1 })
    close()
    await allOpen([blob])
  })

  test('fails without a write if a key is damaged', async () => {
    const { store, line, start, items, filled } = await rekeyBench()
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

  test('is cancelled without a trace if the new file cannot be written', async () => {
    const { storage, line, files, start, filled } = await rekeyBench()
    await filled()
    const [before, keyFile] = [await files(), await line()]
    const { rekey: change, close } = await start()
    await expect(change({ caller: 'test', passphrase: '' })).rejects.toThrow('cannot be empty')
    close()
    expect([await files(), await line()]).toEqual([before, keyFile])
    expect(await storage.change()).toBeUndefined()
  })
})

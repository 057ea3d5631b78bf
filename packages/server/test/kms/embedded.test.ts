import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@strongroom/platform/clock'
import { createTables } from '@strongroom/kit/tables'
import { serverTable } from '@strongroom/kit/server-table'
import { silentLog } from '@strongroom/kit/log'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { verifyAudit } from '@strongroom/kms/audit-verify'
import { createKms } from '@strongroom/kms/kms'
import { createMasterKeyFile } from '@strongroom/kms/master-key/file'
import { protectCheaply } from '@strongroom/kms/testing/cheap-passphrase'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openEmbeddedKms, ensureOwnKey } from '../../src/kms/embedded.ts'
import { openKms } from '../../src/kms/open.ts'
import { createKmsKeyStorage } from '../../src/kms/key-storage.ts'
import { settings } from '../../src/settings.ts'
import { openStore, type Store } from '../../src/store.ts'

const context = { purpose: 'test' }

describe('the embedded KMS', () => {
  let directory: string
  let store: Store

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
    store = await openStore(settings.parse({ STRONGROOM_DATA: directory }))
    await createTables(store.db, [serverTable])
  })
  afterEach(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  const masterKey = () => join(directory, 'keys', 'master.key')
  const configured = (env = {}) => settings.parse({ STRONGROOM_DATA: directory, ...env })
  const open = async (env = {}, askPassphrase?: () => Promise<string>) => {
    const kms = await openKms(configured(env), store, { clock: systemClock, askPassphrase })
    onTestFinished(() => kms.close())
    return kms
  }
  const encrypt = async (text: string) => {
    const { kms, arn } = (await open()).key
    const input = { KeyId: arn, Plaintext: Buffer.from(text), EncryptionContext: context }
    return (await kms.encrypt(input)).CiphertextBlob
  }
  const decrypt = async (CiphertextBlob: Uint8Array, env = {}) => {
    const { kms, arn } = (await open(env)).key
    const input = { KeyId: arn, CiphertextBlob, EncryptionContext: context }
    return Buffer.from((await kms.decrypt(input)).Plaintext).toString()
  }
  const items = async () =>
    (await store.db.scan({ TableName: serverTable.name, ConsistentRead: true })).Items ?? []

  /** The error of a failed start; also checks that nothing was created or changed. */
  const refusal = async (env = {}, askPassphrase?: () => Promise<string>) => {
    const before = [await readdir(directory, { recursive: true }), await items()]
    const error = await open(env, askPassphrase).then(
      () => 'opened',
      (reason: Error) => reason.message,
    )
    expect([await readdir(directory, { recursive: true }), await items()]).toEqual(before)
    expect(error).not.toContain('\n')
    return error
  }

  test('creates its master key, readable only by its owner, and its key on the first start', async () => {
    const { key } = await open()
    expect((await stat(masterKey())).mode & 0o777).toBe(0o600)
    expect((await stat(join(directory, 'keys'))).mode & 0o777).toBe(0o700)
    const stored = await items()
    expect(stored.map(({ PK, SK }) => [PK, SK])).toEqual(
      expect.arrayContaining([
        ['KMSKEY', 'OWN'],
        [`KMSKEY#${key.arn.split('/')[1]}`, 'STATE'],
        [`KMSKEY#${key.arn.split('/')[1]}`, 'V#1'],
      ]),
    )
    expect(stored).toHaveLength(3)
    expect(stored).toContainEqual({ PK: 'KMSKEY', SK: 'OWN', id: key.arn.split('/')[1] })
  })

  test('decrypts with the same key after a restart', async () => {
    const blob = await encrypt('hello')
    expect(await decrypt(blob)).toBe('hello')
    expect(await createKmsKeyStorage(store.db).list()).toHaveLength(1)
  })

  test('is the same for twenty servers that start concurrently for the first time', async () => {
    const opened = await Promise.all(Array.from({ length: 20 }, () => open()))
    expect(new Set(opened.map(({ key }) => key.arn)).size).toBe(1)
    const keys = await createKmsKeyStorage(store.db).list()
    expect(keys.map(({ arn }) => arn)).toEqual([opened[0]?.key.arn])
    expect(await opened[1]?.check()).toBeUndefined()
  })

  test('uses the key that another server recorded first', async () => {
    const storage = createKmsKeyStorage(store.db)
    const kms = await createKms({ masterKey: randomBytes(32), storage })
    const slow = {
      ...kms,
      async createKey() {
        const made = await kms.createKey()
        await ensureOwnKey(store.db, storage, kms)
        return made
      },
    }
    const id = await ensureOwnKey(store.db, storage, slow)
    expect((await storage.list()).map((key) => key.id)).toEqual([id])
  })

  test('deletes its own key if another server was first', async () => {
    const storage = createKmsKeyStorage(store.db)
    const kms = await createKms({ masterKey: randomBytes(32), storage })
    let first = ''
    const slow = {
      ...kms,
      async createKey() {
        first = await ensureOwnKey(store.db, storage, kms)
        return kms.createKey()
      },
    }
    expect(await ensureOwnKey(store.db, storage, slow)).toBe(first)
    expect((await storage.list()).map((key) => key.id)).toEqual([first])
  })

  test('continues after an interrupted first start', async () => {
    const storage = createKmsKeyStorage(store.db)
    const first = await openEmbeddedKms(store.db, configured(), { clock: systemClock })
    await store.db.deleteItem({ TableName: serverTable.name, Key: { PK: 'KMSKEY', SK: 'OWN' } })
    expect((await open()).key.arn).toContain(first.id)
    first.close()
    expect(await storage.list()).toHaveLength(1)
  })

  test('encrypts with its own key even if programs created others', async () => {
    const { kms, id, close } = await openEmbeddedKms(store.db, configured(), { clock: systemClock })
    await kms.createKey()
    close()
    expect((await open()).key.arn).toContain(id)
  })

  test('uses a master key that was put there before the first start', async () => {
    await open()
    const line = await readFile(masterKey(), 'utf8')
    for (const { PK, SK } of await items()) {
      await store.db.deleteItem({
        TableName: serverTable.name,
        Key: { PK: PK ?? '', SK: SK ?? '' },
      })
    }
    await open()
    expect(await readFile(masterKey(), 'utf8')).toBe(line)
  })

  test('reads its master key from the configured file', async () => {
    const elsewhere = join(directory, 'other-volume', 'key')
    await open({ STRONGROOM_MASTER_KEY_FILE: elsewhere })
    expect((await stat(elsewhere)).mode & 0o777).toBe(0o600)
    await expect(stat(masterKey())).rejects.toThrow('ENOENT')
    expect(await refusal()).toContain('is missing')
  })

  test('is not recreated when its master key is missing', async () => {
    const blob = await encrypt('hello')
    await rename(masterKey(), `${masterKey()}.away`)
    expect(await refusal()).toBe(
      `The master key file "${masterKey()}" is missing, and without it nothing opens what the KMS has encrypted: put it back, or set STRONGROOM_MASTER_KEY_FILE`,
    )
    await rename(`${masterKey()}.away`, masterKey())
    expect(await decrypt(blob)).toBe('hello')
  })

  test('rejects another master key', async () => {
    const blob = await encrypt('hello')
    const mine = await readFile(masterKey(), 'utf8')
    const other = join(directory, 'other', 'key')
    await createMasterKeyFile(other)
    await writeFile(masterKey(), await readFile(other))
    expect(await refusal()).toMatch(/belong to another master key/)
    await writeFile(masterKey(), mine)
    expect(await decrypt(blob)).toBe('hello')
  })

  test('rejects a master key that is damaged or readable by others', async () => {
    await open()
    await chmod(masterKey(), 0o644)
    expect(await refusal()).toContain(`chmod 600 "${masterKey()}"`)
    await chmod(masterKey(), 0o600)
    await writeFile(masterKey(), 'not a key\n')
    expect(await refusal()).toContain('is not a master key file')
  })

  test('reads the passphrase of its master key from the settings, a file or a prompt', async () => {
    const passphrase = { STRONGROOM_MASTER_KEY_PASSPHRASE: 'open sesame' }
    await open(passphrase)
    expect(await readFile(masterKey(), 'utf8')).toContain(':scrypt:')
    await protectCheaply(masterKey(), 'open sesame', 'open sesame')
    expect(await refusal()).toContain('set STRONGROOM_MASTER_KEY_PASSPHRASE_FILE')
    expect(await refusal({ STRONGROOM_MASTER_KEY_PASSPHRASE: 'open barley' })).toContain(
      'This is not the passphrase',
    )
    expect(await refusal({}, async () => 'open wheat')).toContain('This is not the passphrase')

    await open({}, async () => 'open sesame')
    await writeFile(join(directory, 'passphrase'), 'open sesame\n')
    await open({ STRONGROOM_MASTER_KEY_PASSPHRASE_FILE: join(directory, 'passphrase') })
  })

  test('is not ready while its key is disabled', async () => {
    const { check } = await open()
    const { kms, id, close } = await openEmbeddedKms(store.db, configured(), { clock: systemClock })
    onTestFinished(close)
    await kms.disableKey({ KeyId: id })
    await expect(check()).rejects.toThrow('The KMS key cannot be used: it is Disabled')
    await expect((await open()).check()).rejects.toThrow('Disabled')
    await kms.enableKey({ KeyId: id })
    await check()
  })

  test('reports that its key was deleted', async () => {
    const clock = testClock()
    const { kms, id, close } = await openEmbeddedKms(store.db, configured(), { clock })
    onTestFinished(close)
    await kms.scheduleKeyDeletion({ KeyId: id, PendingWindowInDays: 7 })
    clock.advance({ days: 8 })
    await kms.sweep()
    clock.advance({ hours: 1 })
    await kms.sweep()
    expect(await refusal()).toContain('The KMS key of this store was deleted')
    await rename(masterKey(), `${masterKey()}.away`)
    expect(await refusal()).toContain('is missing')
    await expect(stat(masterKey())).rejects.toThrow('ENOENT')
  })

  test('deletes keys with a past deletion date in two sweeps an hour apart, also while it runs', async () => {
    const clock = testClock()
    const timers = testTimers(clock)
    const first = await openEmbeddedKms(store.db, configured(), { clock })
    onTestFinished(first.close)
    const { KeyMetadata: other } = await first.kms.createKey()
    await first.kms.scheduleKeyDeletion({ KeyId: other.KeyId, PendingWindowInDays: 7 })
    clock.advance({ days: 8 })
    const sweep = { log: silentLog, startTimer: timers.start }
    const running = await openKms(configured(), store, { clock, sweep })
    expect((await items()).map(({ PK }) => PK)).toContain(`KMSKEY#${other.KeyId}`)
    await timers.pass({ seconds: 3600 })
    await running.close()
    expect((await items()).map(({ PK }) => PK)).not.toContain(`KMSKEY#${other.KeyId}`)
    expect((await items()).map(({ PK }) => PK)).toContain(`KMSKEY#${first.id}`)
  })

  test('records every call except readiness checks in the audit log', async () => {
    const blob = await encrypt('hello')
    await decrypt(blob)
    const { check } = await open()
    await check()
    const log = join(directory, 'keys', 'kms-audit.log')
    expect((await stat(log)).mode & 0o777).toBe(0o600)
    const lines = (await readFile(log, 'utf8')).trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { operation: string }).operation)).toEqual([
      'CreateKey',
      'Encrypt',
      'Decrypt',
    ])
    expect((await verifyAudit(log)).findings).toEqual([])
  })

  test('has a separate key for another prefix with the same master key', async () => {
    const { key } = await open()
    const env = { STRONGROOM_DATA: directory, STRONGROOM_TABLE_PREFIX: 'two-' }
    const second = await openStore(settings.parse(env))
    await createTables(second.db, [serverTable])
    const other = await openKms(settings.parse(env), second, { clock: systemClock })
    expect(other.key.arn).not.toBe(key.arn)
    await other.close()
    await second.close()
  })
})

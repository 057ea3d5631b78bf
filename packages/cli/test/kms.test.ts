import { appendFile, chmod, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Item } from '@strongroom/kit/db'
import { serverTable } from '@strongroom/kit/server-table'
import { settings } from '@strongroom/server/settings'
import { openStore } from '@strongroom/server/store'
import { describe, expect, test } from 'vitest'
import { firstStart } from './first-start.ts'
import { inProcess } from './in-process.ts'
import { withoutNotices } from './notices.ts'
import { serverSecret } from './server-secret.ts'
import { emptyDirectory, strongroom } from './strongroom.ts'

const ARN = /^arn:local:kms:local:\d{12}:key\/[0-9a-f-]{36}$/

async function data(cwd: string, name = 'data') {
  const keys = join(cwd, name, 'keys')
  return { keys, masterKey: join(keys, 'master.key'), audit: join(keys, 'kms-audit.log') }
}

describe('strongroom kms', () => {
  test('shows that there is no key yet and creates none', async () => {
    const cwd = await emptyDirectory()
    await inProcess(['tables', 'create'], { cwd })
    const { code, stdout } = await inProcess(['kms', 'status'], { cwd })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Key +none yet: the first start/)])
    expect(await readdir(join(cwd, 'data'))).not.toContain('keys')
  })

  test('creates a master key file for a first start that cannot write it, and never replaces one', async () => {
    const cwd = await emptyDirectory()
    const file = join(cwd, 'secrets', 'master.key')
    const created = await inProcess(['kms', 'master-key', 'create', file, '--json'], { cwd })
    expect([created.code, JSON.parse(created.stdout)]).toEqual([0, { file, protection: 'none' }])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const content = await readFile(file)
    const again = await inProcess(['kms', 'master-key', 'create'], {
      cwd,
      env: { STRONGROOM_MASTER_KEY_FILE: file },
    })
    expect([again.code, again.stderr]).toEqual([
      1,
      `A master key already exists in "${file}": it was not changed\n`,
    ])
    // As the only file of a directory that is full or read-only.
    await chmod(join(cwd, 'secrets'), 0o500)
    const env = { STRONGROOM_MASTER_KEY_FILE: file }
    expect((await inProcess(['keys', 'create'], { cwd, env })).code).toBe(0)
    expect(await readFile(file)).toEqual(content)
    expect(await readdir(join(cwd, 'data', 'keys'))).not.toContain('master.key')
  })

  test('creates one key when several processes start concurrently for the first time', async () => {
    const cwd = await emptyDirectory()
    const started = await Promise.all(
      Array.from({ length: 4 }, () => strongroom(['keys', 'create'], { cwd })),
    )
    for (const { code, stderr } of started) {
      expect([code, withoutNotices(stderr)]).toEqual([0, ''])
    }
    const { code, stdout } = await inProcess(['kms', 'status'], { cwd })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Key +arn:/)])
  })

  test('shows the key and rotates it', async () => {
    const cwd = await emptyDirectory()
    const { masterKey, audit } = await data(cwd)
    await firstStart(cwd)
    const rotated = await inProcess(['kms', 'rotate', '--json'], { cwd })
    expect(JSON.parse(rotated.stdout)).toEqual({
      arn: expect.stringMatching(ARN),
      version: 2,
    })
    const { stdout } = await inProcess(['kms', 'status', '--json'], { cwd })
    expect(JSON.parse(stdout)).toEqual({
      key: {
        arn: expect.stringMatching(ARN),
        state: 'Enabled',
        versions: 2,
        newestVersionAt: expect.stringMatching(/^\d{4}-/),
      },
      masterKey: { file: masterKey, protection: 'none', change: null },
      auditLog: audit,
      problem: null,
    })
    const shown = (await inProcess(['kms', 'status'], { cwd })).stdout
    expect(shown).toContain(`Master key  ${masterKey}, without a passphrase\n`)
    expect(shown).toMatch(/Versions +2, the newest from \d{4}-\d\d-\d\d\n/)
  })

  test('shows a problem, and other commands report it in one line', async () => {
    const cwd = await emptyDirectory()
    const { masterKey } = await data(cwd)
    await firstStart(cwd)
    await rename(masterKey, `${masterKey}.away`)
    const missing = await inProcess(['kms', 'status'], { cwd })
    expect([missing.code, missing.stdout]).toEqual([
      1,
      expect.stringContaining('Problem     The master key is missing\n'),
    ])
    for (const command of [['kms', 'rotate'], ['keys', 'create'], ['serve']]) {
      const refused = await inProcess(command, { cwd, env: { PORT: '0' } })
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([
        1,
        '',
        `The master key file "${masterKey}" is missing, and without it nothing opens what the KMS has encrypted: put it back, or set STRONGROOM_MASTER_KEY_FILE\n`,
      ])
    }
    expect(await readdir(join(cwd, 'data', 'keys'))).not.toContain('master.key')

    await firstStart(cwd, { data: 'other' })
    await writeFile(masterKey, await readFile((await data(cwd, 'other')).masterKey), {
      mode: 0o600,
    })
    const wrong = await inProcess(['kms', 'status', '--json'], { cwd })
    expect([wrong.code, JSON.parse(wrong.stdout)]).toMatchObject([
      1,
      { problem: 'The key is wrapped by another master key' },
    ])
  })

  test('shows that the key is damaged, incomplete or deleted', async () => {
    const cwd = await emptyDirectory()
    await serverSecret(cwd)
    const TableName = serverTable.name
    /** Changes an item of the key; undefined removes it. */
    const alter = async (sortKey: string, change: (item: Item) => Item | undefined) => {
      const store = await openStore(settings.parse({ STRONGROOM_DATA: join(cwd, 'data') }))
      const { Items = [] } = await store.db.scan({ TableName })
      const item = Items.find(({ PK, SK }) => String(PK).startsWith('KMSKEY#') && SK === sortKey)
      const { PK = '', SK = '' } = item ?? {}
      const altered = item && change(item)
      if (altered) await store.db.putItem({ TableName, Item: altered })
      else await store.db.deleteItem({ TableName, Key: { PK, SK } })
      await store.close()
    }
    const status = async () => {
      const { code, stdout } = await inProcess(['kms', 'status'], { cwd })
      return [code, stdout]
    }
    await alter('V#1', (item) => ({ ...item, wrapped: new Uint8Array(61) }))
    const damaged = 'Problem     Version 1 of the key is damaged: restore it from a backup\n'
    expect(await status()).toEqual([1, expect.stringContaining(damaged)])
    await alter('V#1', () => undefined)
    expect(await status()).toEqual([
      1,
      expect.stringMatching(
        /^Key +arn:[^]*\nVersions +1\n[^]*\nProblem +Version 1 .* is missing: /,
      ),
    ])
    await alter('STATE', () => undefined)
    expect(await status()).toEqual([
      1,
      expect.stringMatching(/^Key +none\n[^]*\nProblem +The key was deleted/),
    ])
  })

  test('requires the embedded KMS', async () => {
    const env = {
      KMS_ENDPOINT: 'http://127.0.0.1:9',
      KMS_KEY_ARN: 'arn:aws:kms:eu-central-1:111122223333:key/x',
    }
    const cwd = await emptyDirectory()
    const { code, stderr } = await inProcess(['kms', 'status'], { cwd, env })
    expect([code, stderr]).toEqual([
      1,
      'This command requires the embedded KMS, but another KMS is configured: use its own tools, or unset STRONGROOM_KMS and KMS_ENDPOINT\n',
    ])
    expect(await readdir(cwd)).toEqual([])
  })

  test('sets, changes and removes the passphrase of the master key', async () => {
    const cwd = await emptyDirectory()
    const { masterKey } = await data(cwd)
    await firstStart(cwd)
    const printed: string[] = []
    const passphrase = async (command: string, { stdin, present }: Record<string, string> = {}) => {
      const env = { ...(present && { STRONGROOM_MASTER_KEY_PASSPHRASE: present }) }
      const line = ['kms', 'passphrase', command]
      const done =
        stdin === undefined
          ? await inProcess(line, { cwd, env })
          : await strongroom([...line, '--fd', '0'], { cwd, stdin, env })
      printed.push(done.stdout, done.stderr)
      return [done.code, done.stdout + done.stderr]
    }
    const rotate = async () => (await inProcess(['kms', 'rotate'], { cwd })).code

    expect(await passphrase('change', { stdin: 'x', present: 'y' })).toEqual([
      1,
      `${masterKey} is not protected by a passphrase: use "strongroom kms passphrase set"\n`,
    ])
    expect(await passphrase('set')).toEqual([
      2,
      'No terminal to ask on: pass the new passphrase with --fd\n',
    ])
    expect(await passphrase('set', { stdin: 'open sesame\n' })).toEqual([
      0,
      `${masterKey} is protected by the passphrase: pass it to the server in STRONGROOM_MASTER_KEY_PASSPHRASE_FILE\n`,
    ])
    expect((await stat(masterKey)).mode & 0o777).toBe(0o600)
    expect(await rotate()).toBe(1)
    expect(await passphrase('set', { present: 'open wheat' })).toEqual([
      1,
      `${masterKey} is already protected by a passphrase: use "strongroom kms passphrase change"\n`,
    ])
    expect(await passphrase('change', { stdin: 'open rye', present: 'open barley' })).toEqual([
      1,
      expect.stringContaining('This is not the passphrase'),
    ])
    expect(await passphrase('change', { stdin: 'open rye', present: 'open sesame' })).toEqual([
      0,
      expect.any(String),
    ])
    expect(await passphrase('remove', { present: 'open rye' })).toEqual([
      0,
      `${masterKey} is no longer protected by a passphrase\n`,
    ])
    expect(await rotate()).toBe(0)
    expect(printed.join('')).not.toMatch(/open (?:sesame|barley|wheat|rye)/)
  })

  test('verifies the audit log', async () => {
    const cwd = await emptyDirectory()
    const { audit } = await data(cwd)
    const verify = () => inProcess(['kms', 'audit', 'verify'], { cwd })
    const none = await verify()
    expect([none.code, none.stderr]).toEqual([
      1,
      `Audit log ${audit} not found: set STRONGROOM_DATA\n`,
    ])
    await firstStart(cwd)
    await inProcess(['kms', 'rotate'], { cwd })
    const whole = await verify()
    expect([whole.code, whole.stdout]).toEqual([
      0,
      expect.stringMatching(/^2 records in .*, intact; the last has the hash [0-9a-f]{64}\n$/),
    ])
    const text = await readFile(audit, 'utf8')
    await writeFile(audit, text.replace('RotateKeyOnDemand', 'RotateNothing'))
    await appendFile(audit, '{"cut')
    const altered = await inProcess(['kms', 'audit', 'verify', '--json'], { cwd })
    expect([altered.code, JSON.parse(altered.stdout)]).toMatchObject([
      1,
      {
        records: 1,
        findings: [
          { line: 2, kind: 'altered' },
          { line: 3, kind: 'torn' },
        ],
      },
    ])
  })
})

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { protectCheaply } from '@strongroom/kms/testing/cheap-passphrase'
import { describe, expect, test } from 'vitest'
import { firstStart } from './first-start.ts'
import { inProcess } from './in-process.ts'
import { serverSecret } from './server-secret.ts'
import { emptyDirectory, start, strongroom } from './strongroom.ts'

const present = (passphrase: string) => ({ STRONGROOM_MASTER_KEY_PASSPHRASE: passphrase })

/** A deployment with a secret that the KMS has sealed. */
async function deployment() {
  const cwd = await emptyDirectory()
  const secret = await serverSecret(cwd)
  const keys = join(cwd, 'data', 'keys')
  const masterKey = join(keys, 'master.key')
  return {
    cwd,
    keys,
    masterKey,
    line: () => readFile(masterKey, 'utf8'),
    isOpen: async (env = {}) => isDeepStrictEqual(await serverSecret(cwd, { env }), secret),
    status: async (env = {}) => {
      const { code, stdout } = await inProcess(['kms', 'status', '--json'], { cwd, env })
      return [code, JSON.parse(stdout)] as unknown
    },
  }
}

describe('strongroom kms rekey', () => {
  test('replaces the master key and says where the old one is and what to do', async () => {
    const { cwd, masterKey, line, isOpen, status } = await deployment()
    const before = await line()
    const { code, stdout, stderr } = await inProcess(['kms', 'rekey'], { cwd })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(
      `${masterKey} has a new master key, without a passphrase; 1 key is wrapped by it\n`,
    )
    const [, old = ''] =
      /^The old one is in (\S+): only backups made until now need it/m.exec(stdout) ?? []
    expect(await readFile(old, 'utf8')).toBe(before)
    expect(stdout).toMatch(/^Restart every server, worker and "kms serve":/m)
    expect(await line()).not.toBe(before)
    expect(await isOpen()).toBe(true)
    expect(await status()).toMatchObject([0, { problem: null, masterKey: { change: null } }])

    await writeFile(masterKey, before)
    const refused = await inProcess(['secrets', 'rotate', 'cursor'], { cwd })
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('belong to another master key'),
    ])
  })

  test('writes a record to the audit log and one JSON document', async () => {
    const { cwd, keys, masterKey } = await deployment()
    const { stdout } = await inProcess(['kms', 'rekey', '--json'], { cwd })
    expect(JSON.parse(stdout)).toEqual({
      file: masterKey,
      protection: 'none',
      old: expect.stringContaining(`${masterKey}.old-`),
      keys: 1,
    })
    const log = await readFile(join(keys, 'kms-audit.log'), 'utf8')
    const [record = ''] = log.split('\n').filter((each) => each.includes('ReplaceMasterKey'))
    expect(JSON.parse(record)).toMatchObject({ caller: 'command-line', outcome: 'Success' })
    expect((await inProcess(['kms', 'audit', 'verify'], { cwd })).code).toBe(0)
  })

  test('protects the new master key with a passphrase', async () => {
    const { cwd, isOpen } = await deployment()
    const set = await strongroom(['kms', 'rekey', '--fd', '0'], { cwd, stdin: 'open sesame\n' })
    expect([set.code, set.stdout]).toEqual([0, expect.stringContaining('by the passphrase')])
    expect(await isOpen(present('open sesame'))).toBe(true)
    expect(set.stdout + set.stderr).not.toContain('sesame')
  })

  test('asks for a passphrase if the old master key had one, unless --no-passphrase is set', async () => {
    const { cwd, masterKey, line, isOpen } = await deployment()
    await protectCheaply(masterKey, 'open sesame')
    const before = await line()

    const unasked = await inProcess(['kms', 'rekey'], { cwd, env: present('open sesame') })
    expect([unasked.code, unasked.stderr]).toEqual([
      2,
      'No terminal to ask on: pass the new passphrase with --fd\n',
    ])
    const both = await inProcess(['kms', 'rekey', '--fd', '0', '--no-passphrase'], {
      cwd,
      env: present('open sesame'),
    })
    expect([both.code, both.stderr]).toEqual([2, 'Use either --fd or --no-passphrase, not both\n'])
    expect(await line()).toBe(before)

    const none = await inProcess(['kms', 'rekey', '--no-passphrase'], {
      cwd,
      env: present('open sesame'),
    })
    expect([none.code, none.stdout]).toEqual([0, expect.stringContaining('without a passphrase')])
    expect(await isOpen()).toBe(true)
    expect(unasked.stderr + none.stdout).not.toContain('sesame')
  })

  test('changes nothing with the wrong passphrase', async () => {
    const { cwd, keys, masterKey, line, isOpen } = await deployment()
    await protectCheaply(masterKey, 'open sesame')
    const before = [await line(), await readdir(keys)]
    const { code, stderr } = await inProcess(['kms', 'rekey', '--no-passphrase'], {
      cwd,
      env: present('open barley'),
    })
    expect([code, stderr]).toEqual([1, expect.stringContaining('This is not the passphrase')])
    expect([await line(), await readdir(keys)]).toEqual(before)
    expect(await isOpen(present('open sesame'))).toBe(true)
  })

  test('fails if another deployment would lose its master key', async () => {
    const { cwd, line, isOpen } = await deployment()
    const before = await line()
    await firstStart(cwd, { env: { STRONGROOM_TABLE_PREFIX: 'test-' } })
    const { code, stderr } = await inProcess(['kms', 'rekey'], { cwd })
    expect([code, stderr]).toEqual([
      1,
      'The KMS keys in test-strongroom-server are wrapped by the same master key and could no longer be opened: give each deployment its own data directory first\n',
    ])
    expect(await line()).toBe(before)
    expect(await isOpen()).toBe(true)
  })

  test('leaves all keys usable when it is killed, and can be run again', async () => {
    const { cwd, keys, isOpen, status } = await deployment()
    const { process: child, finished } = start(['kms', 'rekey'], { cwd })
    while (
      child.exitCode === null &&
      !(await readdir(keys)).some((name) => name.includes('.next-'))
    )
      await turn()
    child.kill('SIGKILL')
    await finished
    expect(await isOpen()).toBe(true)
    expect((await inProcess(['kms', 'rekey'], { cwd })).code).toBe(0)
    expect(await isOpen()).toBe(true)
    expect(await status()).toMatchObject([0, { problem: null, masterKey: { change: null } }])
    expect((await readdir(keys)).filter((name) => name.includes('.next-'))).toEqual([])
  })
})

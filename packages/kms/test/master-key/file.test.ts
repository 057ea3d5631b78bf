import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { realpathSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { isMasterKeyError } from '../../src/master-key/errors.ts'
import {
  changePassphrase,
  createMasterKeyFile,
  openMasterKeyFile,
} from '../../src/master-key/file.ts'
import { freshDirectory } from '../support/kms.ts'

const freshPath = () => join(freshDirectory(), 'keys', 'master.key')
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('a master key file', () => {
  test('is made for its owner alone, and opens to the key that was made', async () => {
    const path = freshPath()
    const made = await createMasterKeyFile(path)
    expect(made).toHaveLength(32)
    expect(await openMasterKeyFile(path)).toEqual(made)
    expect(modeOf(path)).toBe('600')
    expect(modeOf(join(path, '..'))).toBe('700')
    expect(readdirSync(join(path, '..'))).toEqual(['master.key'])
  })

  test('is never replaced', async () => {
    const path = freshPath()
    const made = await createMasterKeyFile(path)
    await expect(createMasterKeyFile(path)).rejects.toMatchObject({ name: 'MasterKeyExists' })
    expect(await openMasterKeyFile(path)).toEqual(made)
    expect(readdirSync(join(path, '..'))).toEqual(['master.key'])
  })

  test('is made once when many make it at the same time', async () => {
    const path = freshPath()
    const makers = await Promise.allSettled(
      Array.from({ length: 20 }, () => createMasterKeyFile(path)),
    )
    const made = makers.filter((maker) => maker.status === 'fulfilled')
    const refused = makers.filter((maker) => maker.status === 'rejected')
    expect(made).toHaveLength(1)
    expect(refused.every(({ reason }) => isMasterKeyError(reason, 'MasterKeyExists'))).toBe(true)
    expect(await openMasterKeyFile(path)).toEqual(made[0]?.value)
  })

  test('that is missing is an error, and opening makes none', async () => {
    const path = freshPath()
    await expect(openMasterKeyFile(path)).rejects.toMatchObject({ name: 'MasterKeyMissing' })
    await expect(changePassphrase(path, { to: 'x' })).rejects.toMatchObject({
      name: 'MasterKeyMissing',
    })
    expect(existsSync(join(path, '..'))).toBe(false)
  })

  test('that others may read is refused, with the command that mends it', async () => {
    const path = freshPath()
    const made = await createMasterKeyFile(path)
    for (const mode of [0o640, 0o604, 0o620, 0o602, 0o777]) {
      chmodSync(path, mode)
      await expect(openMasterKeyFile(path)).rejects.toMatchObject({ name: 'MasterKeyExposed' })
      await expect(openMasterKeyFile(path)).rejects.toThrow(`run chmod 600 "${path}"`)
    }
    execFileSync('chmod', ['600', path])
    expect(await openMasterKeyFile(path)).toEqual(made)
    chmodSync(path, 0o400)
    expect(await openMasterKeyFile(path)).toEqual(made)
  })

  test('that systemd gives to a service may be readable for a group, and no other file', async () => {
    const path = freshPath()
    const made = await createMasterKeyFile(path)
    chmodSync(path, 0o440)
    vi.stubEnv('CREDENTIALS_DIRECTORY', realpathSync(join(path, '..')))
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await openMasterKeyFile(path)).toEqual(made)
    for (const mode of [0o444, 0o460]) {
      chmodSync(path, mode)
      await expect(openMasterKeyFile(path)).rejects.toMatchObject({ name: 'MasterKeyExposed' })
    }
    chmodSync(path, 0o440)
    vi.stubEnv('CREDENTIALS_DIRECTORY', realpathSync(join(path, '../..')))
    await expect(openMasterKeyFile(path)).rejects.toMatchObject({ name: 'MasterKeyExposed' })
  })

  test('that others may replace is refused, with the command that mends it', async () => {
    const path = freshPath()
    const directory = join(path, '..')
    await createMasterKeyFile(path)
    for (const mode of [0o720, 0o702, 0o1777]) {
      chmodSync(directory, mode)
      await expect(openMasterKeyFile(path)).rejects.toMatchObject({ name: 'MasterKeyExposed' })
      await expect(openMasterKeyFile(path)).rejects.toThrow(`run chmod 700 "${directory}"`)
    }
    chmodSync(directory, 0o755)
    await openMasterKeyFile(path)
  })

  test('is not made where others may replace it', async () => {
    const path = freshPath()
    const directory = join(path, '..')
    mkdirSync(directory)
    chmodSync(directory, 0o777)
    await expect(createMasterKeyFile(path)).rejects.toMatchObject({ name: 'MasterKeyExposed' })
    expect(readdirSync(directory)).toEqual([])
  })

  test('behind a link is judged by the directory that it is in', async () => {
    const path = freshPath()
    const made = await createMasterKeyFile(path)
    const link = join(freshDirectory(), 'link')
    symlinkSync(path, link)
    expect(await openMasterKeyFile(link)).toEqual(made)
    chmodSync(join(path, '..'), 0o777)
    await expect(openMasterKeyFile(link)).rejects.toMatchObject({ name: 'MasterKeyExposed' })
  })

  test('that was cut off at any position is reported as such', async () => {
    const path = freshPath()
    await createMasterKeyFile(path)
    const whole = readFileSync(path, 'utf8')
    for (let length = 0; length < whole.length; length += 1) {
      writeFileSync(path, whole.slice(0, length))
      await expect(openMasterKeyFile(path), `${length}`).rejects.toMatchObject({
        name: 'MasterKeyTruncated',
      })
    }
  })

  test('that was altered anywhere is refused', async () => {
    const path = freshPath()
    await createMasterKeyFile(path)
    const whole = readFileSync(path, 'utf8')
    const versionEnd = 'strongroom-master-key:1:'.length
    for (let at = 0; at < whole.length; at += 1) {
      const other = whole[at] === 'A' ? 'B' : 'A'
      writeFileSync(path, `${whole.slice(0, at)}${other}${whole.slice(at + 1)}`)
      const last = at === whole.length - 1
      const expected = last
        ? 'MasterKeyTruncated'
        : at < versionEnd
          ? 'MasterKeyForeign'
          : 'MasterKeyDamaged'
      await expect(openMasterKeyFile(path), `${at}`).rejects.toMatchObject({ name: expected })
    }
  })

  test.each([
    ['another file', 'ssh-ed25519 AAAA\n'],
    ['a large file', 'x'.repeat(100_000)],
    ['a file of a later version', 'strongroom-master-key:2:plain::AAAA:0000\n'],
  ])('that is %s is distinguished from a damaged one', async (_title, content) => {
    const path = freshPath()
    await createMasterKeyFile(path)
    writeFileSync(path, content)
    await expect(openMasterKeyFile(path)).rejects.toMatchObject({ name: 'MasterKeyForeign' })
  })

  test('that is a directory, or a pipe without a writer, is rejected immediately', async () => {
    const [directory, pipe] = [join(freshDirectory(), 'keys'), join(freshDirectory(), 'pipe')]
    mkdirSync(directory, { mode: 0o755 })
    execFileSync('mkfifo', ['-m', '600', pipe])
    for (const path of [directory, pipe]) {
      await expect(openMasterKeyFile(path)).rejects.toMatchObject({ name: 'MasterKeyForeign' })
      await expect(openMasterKeyFile(path)).rejects.toThrow(`"${path}" is not a file`)
    }
  })

  test('opens after an editor gave it the line ends of another system', async () => {
    const path = freshPath()
    const made = await createMasterKeyFile(path)
    writeFileSync(path, readFileSync(path, 'utf8').replace('\n', '\r\n'))
    expect(await openMasterKeyFile(path)).toEqual(made)
  })

  test('has no secret in any of its messages', async () => {
    const path = freshPath()
    const made = await createMasterKeyFile(path)
    const encoded = Buffer.from(made).toString('base64url')
    const whole = readFileSync(path, 'utf8')
    expect(whole).toContain(encoded)
    writeFileSync(path, whole.replace('plain', 'other'))
    const message = await openMasterKeyFile(path).catch((error: Error) => error.message)
    expect(message).toBe(`"${path}" is damaged: restore it from a backup`)
  })
})

describe('what a crash leaves behind', () => {
  test('while a file is created leaves no key, and the next creation removes the rest', async () => {
    const path = freshPath()
    const directory = join(path, '..')
    mkdirSync(directory, { mode: 0o700 })
    const leftover = join(directory, '.master.key.0123456789ab.tmp')
    writeFileSync(leftover, 'strongroom-master-key:1:plain::', { mode: 0o600 })
    utimesSync(leftover, 0, 0)
    await expect(openMasterKeyFile(path)).rejects.toMatchObject({ name: 'MasterKeyMissing' })
    const made = await createMasterKeyFile(path)
    expect(readdirSync(directory)).toEqual(['master.key'])
    expect(await openMasterKeyFile(path)).toEqual(made)
  })

  test('is left alone if it is a link that somebody planted', async () => {
    const path = freshPath()
    await createMasterKeyFile(path)
    const old = join(path, '..', 'notes')
    writeFileSync(old, 'notes')
    utimesSync(old, 0, 0)
    const link = join(path, '..', '.master.key.0123456789ab.tmp')
    symlinkSync(old, link)
    await changePassphrase(path, {})
    expect(existsSync(link)).toBe(true)
    expect(readFileSync(old, 'utf8')).toBe('notes')
  })

  test('is left alone while it is young, because another process may be at work', async () => {
    const path = freshPath()
    await createMasterKeyFile(path)
    const young = join(path, '..', '.master.key.0123456789ab.tmp')
    writeFileSync(young, '', { mode: 0o600 })
    await changePassphrase(path, {})
    expect(existsSync(young)).toBe(true)
  })
})

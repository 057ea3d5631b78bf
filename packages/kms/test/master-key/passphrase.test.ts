import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  changePassphrase,
  createMasterKeyFile,
  openMasterKeyFile,
} from '../../src/master-key/file.ts'
import { freshDirectory } from '../support/kms.ts'

/** Quick to try; files say themselves what they cost. */
const cost = { N: 2 ** 10, r: 8, p: 1 }

async function freshFile(passphrase?: string) {
  const path = join(freshDirectory(), 'keys', 'master.key')
  const masterKey = await createMasterKeyFile(path, { passphrase, cost })
  return { path, masterKey, directory: join(path, '..') }
}

describe('a file with a passphrase', () => {
  test('opens with it alone', async () => {
    const { path, masterKey } = await freshFile('correct horse')
    expect(await openMasterKeyFile(path, { passphrase: 'correct horse' })).toEqual(masterKey)
    await expect(openMasterKeyFile(path, { passphrase: 'Correct horse' })).rejects.toMatchObject({
      name: 'WrongPassphrase',
    })
    await expect(openMasterKeyFile(path, { passphrase: '' })).rejects.toMatchObject({
      name: 'WrongPassphrase',
    })
    await expect(openMasterKeyFile(path)).rejects.toMatchObject({ name: 'PassphraseNeeded' })
  })

  test('does not hold the key', async () => {
    const { path, masterKey } = await freshFile('correct horse')
    const content = readFileSync(path, 'utf8')
    expect(content).not.toContain(Buffer.from(masterKey).toString('base64url'))
    expect(content).not.toContain('horse')
  })

  test('opens with the passphrase as another keyboard types it', async () => {
    const { path, masterKey } = await freshFile('caf\u00e9')
    expect(await openMasterKeyFile(path, { passphrase: 'cafe\u0301' })).toEqual(masterKey)
  })

  test('costs 128 MiB to try by default', async () => {
    const path = join(freshDirectory(), 'keys', 'master.key')
    const masterKey = await createMasterKeyFile(path, { passphrase: 'x' })
    expect(readFileSync(path, 'utf8')).toContain(':scrypt:N=131072,r=8,p=1:')
    expect(await openMasterKeyFile(path, { passphrase: 'x' })).toEqual(masterKey)
  })

  test('that was damaged or cut off is distinguished from a wrong passphrase', async () => {
    const { path } = await freshFile('x')
    const whole = readFileSync(path, 'utf8')
    for (let at = whole.indexOf(':scrypt') + 1; at < whole.length - 1; at += 3) {
      const other = whole[at] === '1' ? '2' : '1'
      writeFileSync(path, `${whole.slice(0, at)}${other}${whole.slice(at + 1)}`)
      await expect(openMasterKeyFile(path, { passphrase: 'x' }), `${at}`).rejects.toMatchObject({
        name: 'MasterKeyDamaged',
      })
    }
    writeFileSync(path, whole.slice(0, -1))
    await expect(openMasterKeyFile(path, { passphrase: 'x' })).rejects.toMatchObject({
      name: 'MasterKeyTruncated',
    })
  })

  test.each([
    'N=1073741824,r=8,p=1',
    'N=131072,r=999,p=1',
    'N=131072,r=8,p=99',
    'N=1000,r=8,p=1',
    'N=0,r=8,p=1',
    'N=1,r=8,p=1',
    'N=1024,r=0,p=1',
    'N=1e9,r=8,p=1',
    '',
  ])('that asks for %o is refused, so that it cannot exhaust the machine', async (asked) => {
    const { path } = await freshFile('x')
    const [content = ''] = readFileSync(path, 'utf8').replace('N=1024,r=8,p=1', asked).split('\n')
    const body = content.slice(0, content.lastIndexOf(':'))
    writeFileSync(path, `${body}:${checksum(body)}\n`)
    await expect(openMasterKeyFile(path, { passphrase: 'x' })).rejects.toMatchObject({
      name: 'MasterKeyDamaged',
    })
  })

  test('whose cost was altered along with its checksum does not open', async () => {
    const { path } = await freshFile('x')
    const [content = ''] = readFileSync(path, 'utf8').replace('N=1024', 'N=2048').split('\n')
    const body = content.slice(0, content.lastIndexOf(':'))
    writeFileSync(path, `${body}:${checksum(body)}\n`)
    await expect(openMasterKeyFile(path, { passphrase: 'x' })).rejects.toMatchObject({
      name: 'WrongPassphrase',
    })
  })

  test('is not made with an empty one, or with a cost that would not be read', async () => {
    const path = join(freshDirectory(), 'keys', 'master.key')
    await expect(createMasterKeyFile(path, { passphrase: '' })).rejects.toMatchObject({
      name: 'PassphraseNeeded',
    })
    const tooMuch = { N: 2 ** 25, r: 8, p: 1 }
    await expect(createMasterKeyFile(path, { passphrase: 'x', cost: tooMuch })).rejects.toThrow(
      RangeError,
    )
  })
})

describe('a change of the passphrase', () => {
  test('leaves the key what it is', async () => {
    const { path, masterKey, directory } = await freshFile()
    await changePassphrase(path, { to: 'first', cost })
    expect(await openMasterKeyFile(path, { passphrase: 'first' })).toEqual(masterKey)
    await changePassphrase(path, { from: 'first', to: 'second', cost })
    await expect(openMasterKeyFile(path, { passphrase: 'first' })).rejects.toMatchObject({
      name: 'WrongPassphrase',
    })
    expect(await openMasterKeyFile(path, { passphrase: 'second' })).toEqual(masterKey)
    await changePassphrase(path, { from: 'second' })
    expect(await openMasterKeyFile(path)).toEqual(masterKey)
    expect(readdirSync(directory)).toEqual(['master.key'])
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('of a file behind a link changes the file, and the link stays', async () => {
    const { path, masterKey, directory } = await freshFile()
    const link = join(directory, 'link')
    symlinkSync(path, link)
    await changePassphrase(link, { to: 'first', cost })
    expect(await openMasterKeyFile(path, { passphrase: 'first' })).toEqual(masterKey)
    expect(readlinkSync(link)).toBe(path)
  })

  test('needs the present one, and changes nothing without it', async () => {
    const { path } = await freshFile('first')
    const before = readFileSync(path, 'utf8')
    await expect(changePassphrase(path, { from: 'wrong', to: 'x', cost })).rejects.toMatchObject({
      name: 'WrongPassphrase',
    })
    await expect(changePassphrase(path, { to: 'x', cost })).rejects.toMatchObject({
      name: 'PassphraseNeeded',
    })
    await expect(changePassphrase(path, { from: 'first', to: '', cost })).rejects.toMatchObject({
      name: 'PassphraseNeeded',
    })
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  test('that crashed before its last step has changed nothing, and can be made again', async () => {
    const { path, masterKey, directory } = await freshFile('first')
    const halfway = join(directory, '.master.key.0123456789ab.tmp')
    for (const left of ['', 'strongroom-master-key:1:plain::AAAA', readFileSync(path, 'utf8')]) {
      writeFileSync(halfway, left, { mode: 0o600 })
      utimesSync(halfway, 0, 0)
      expect(await openMasterKeyFile(path, { passphrase: 'first' })).toEqual(masterKey)
      await changePassphrase(path, { from: 'first', to: 'first', cost })
      expect(readdirSync(directory)).toEqual(['master.key'])
    }
    expect(await openMasterKeyFile(path, { passphrase: 'first' })).toEqual(masterKey)
  })

  test('by two at the same time leaves one of the two, whole', async () => {
    const { path, masterKey } = await freshFile()
    const changes = await Promise.allSettled([
      changePassphrase(path, { to: 'one', cost }),
      changePassphrase(path, { to: 'two', cost }),
    ])
    const refused = changes.filter((each) => each.status === 'rejected')
    expect(refused.length).toBeLessThan(2)
    for (const { reason } of refused) {
      expect(String(reason)).toContain('was changed by another process: try again')
    }
    const opened = await Promise.allSettled(
      ['one', 'two'].map((passphrase) => openMasterKeyFile(path, { passphrase })),
    )
    const right = opened.filter((each) => each.status === 'fulfilled')
    expect(right.map(({ value }) => value)).toEqual([masterKey])
  })
})

function checksum(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}

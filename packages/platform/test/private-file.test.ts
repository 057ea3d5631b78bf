import {
  chownSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  createPrivateFile,
  createPrivateFileSync,
  isOwnDirectory,
  openOwnFile,
  openPrivateLog,
  replaceFile,
  temporaryPath,
} from '../src/private-file.ts'

const NOBODY = 65_534
let directory: string
let victim: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'strongroom-private-'))
  victim = join(directory, 'victim')
  path = join(directory, 'file')
  writeFileSync(victim, 'untouched', { mode: 0o666 })
})

const modeOf = (file: string) => statSync(file).mode & 0o777

describe.each([
  { variant: 'createPrivateFile', create: async () => (await createPrivateFile(path)).close() },
  { variant: 'createPrivateFileSync', create: async () => closeSync(createPrivateFileSync(path)) },
])('$variant', ({ create }) => {
  test('refuses a planted link, also one that leads nowhere', async () => {
    symlinkSync(victim, path)
    await expect(create()).rejects.toThrow('EEXIST')
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
    path = join(directory, 'dangling')
    symlinkSync(join(directory, 'nowhere'), path)
    await expect(create()).rejects.toThrow('EEXIST')
    expect(existsSync(join(directory, 'nowhere'))).toBe(false)
  })

  test('refuses a planted file that everyone can read', async () => {
    writeFileSync(path, '', { mode: 0o666 })
    await expect(create()).rejects.toThrow('EEXIST')
    expect(readFileSync(path, 'utf8')).toBe('')
  })

  test.each([0o000, 0o777])('creates a file for its owner only with the umask %i', async (mask) => {
    const before = process.umask(mask)
    onTestFinished(() => void process.umask(before))
    await create()
    expect(modeOf(path)).toBe(0o600)
  })
})

describe('replaceFile', () => {
  test('replaces a planted link instead of following it', async () => {
    symlinkSync(victim, path)
    await replaceFile(path, 'new', 0o644)
    expect([lstatSync(path).isFile(), readFileSync(path, 'utf8')]).toEqual([true, 'new'])
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
  })

  test('gives the file its own permissions, not those of a planted one', async () => {
    writeFileSync(path, '', { mode: 0o666 })
    await replaceFile(path, 'new', 0o600)
    expect(modeOf(path)).toBe(0o600)
    expect(readdirSync(directory).toSorted()).toEqual(['file', 'victim'])
  })
})

describe('openPrivateLog', () => {
  test('refuses a planted link', () => {
    symlinkSync(victim, path)
    expect(() => openPrivateLog(path)).toThrow('ELOOP')
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
  })

  test('appends, and removes the access of others', () => {
    writeFileSync(path, 'one\n', { mode: 0o666 })
    const log = openPrivateLog(path)
    writeSync(log, 'two\n')
    closeSync(log)
    expect([modeOf(path), readFileSync(path, 'utf8')]).toEqual([0o600, 'one\ntwo\n'])
  })
})

test('temporary paths of one file differ', () => {
  expect(temporaryPath(path)).toMatch(new RegExp(`^${path}\\.${process.pid}-[0-9a-f]{16}\\.tmp$`))
  expect(temporaryPath(path)).not.toBe(temporaryPath(path))
})

describe('what is own', () => {
  test('is not a link, and a file is not a directory', async () => {
    symlinkSync(victim, path)
    symlinkSync(directory, join(directory, 'elsewhere'))
    expect(await openOwnFile(path)).toBeUndefined()
    expect(await openOwnFile(directory)).toBeUndefined()
    expect(await isOwnDirectory(join(directory, 'elsewhere'))).toBe(false)
    expect(await isOwnDirectory(victim)).toBe(false)
    expect(await isOwnDirectory(directory)).toBe(true)
    await using own = await openOwnFile(victim)
    expect(await own?.readFile('utf8')).toBe('untouched')
  })

  test.runIf(process.getuid?.() === 0)('belongs to this user', async () => {
    chownSync(victim, NOBODY, NOBODY)
    expect(await openOwnFile(victim)).toBeUndefined()
    chownSync(directory, NOBODY, NOBODY)
    expect(await isOwnDirectory(directory)).toBe(false)
  })
})

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Environment } from '../../../src/storage/lmdb/lmdb.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import { assertSoundFile } from '../../../src/storage/lmdb/pages.ts'
import { WriteQueue } from '../../../src/storage/write-queue.ts'
import type { Transaction } from '../../../src/storage/transaction.ts'
import {
  bundle,
  COUNTERS,
  start,
  temporaryDirectory,
  type Program,
} from '../../support/programs/harness.ts'

async function filledDirectory(): Promise<string> {
  const directory = join(temporaryDirectory(), 'data')
  const storage = openStorage({ directory, sweepIntervalMs: 0 })
  const table = await storage.createTable(COUNTERS)
  await storage.write((tx) => {
    for (let i = 0; i < 500; i++) tx.put(table, { id: `${i}`, text: 'x'.repeat(500) }, undefined)
  })
  await storage.overwrite(table, { id: 'large', text: 'x'.repeat(100_000) })
  await storage.close()
  return directory
}

function contents(directory: string): Map<string, string> {
  const names = readdirSync(directory).filter((name) => name !== 'lock.mdb')
  return new Map(names.map((name) => [name, readFileSync(join(directory, name), 'base64')]))
}

/** The error of a failed open; also checks that the directory is unchanged. */
function refusal(directory: string): string {
  const before = contents(directory)
  try {
    void openStorage({ directory, sweepIntervalMs: 0 }).close()
    return 'opened'
  } catch (error) {
    const changed = !isDeepStrictEqual(contents(directory), before)
    return changed ? 'changed' : (error as Error).message
  }
}

describe('a directory that must not be opened', () => {
  test('one of a newer format is refused with both versions named', async () => {
    const directory = await filledDirectory()
    const file = join(directory, 'format.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"format":5', '"format":6'))
    expect(refusal(directory)).toContain(
      'it was written by a newer version (format 6, and this version knows formats up to 5): start that version again, or restore a backup that this version made',
    )
  })

  test('one of an older format is refused until it is converted', async () => {
    const directory = await filledDirectory()
    const file = join(directory, 'format.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"format":5', '"format":1'))
    expect(refusal(directory)).toContain(
      'an older version wrote it (format 1, and this version needs 5): start the server, which makes a copy of it and converts it',
    )
  })

  test('one with files of something else is refused and left alone', () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'thesis.txt'), 'mine')
    expect(refusal(directory)).toContain(
      'it is not empty and not a data directory (it contains "thesis.txt")',
    )
  })

  test('one with an LMDB file of another program is refused', async () => {
    const directory = await filledDirectory()
    rmSync(join(directory, 'format.json'))
    expect(refusal(directory)).toContain('so it is not a data directory of this engine')
  })

  test.each([
    ['random bytes', () => Buffer.alloc(100_000, 0x5a)],
    ['a few bytes', () => Buffer.from('hello')],
    ['only zeros', () => Buffer.alloc(65_536)],
  ])('a data file of %s is refused', async (_, bytes) => {
    const directory = await filledDirectory()
    writeFileSync(join(directory, 'data.mdb'), bytes())
    expect(refusal(directory)).toContain(
      'data.mdb is not a data file of this engine, or its header is damaged',
    )
  })

  test('a damaged second header page is noticed', async () => {
    const directory = await filledDirectory()
    const file = join(directory, 'data.mdb')
    const bytes = readFileSync(file)
    bytes.fill(0, 8192, 8192 + 200)
    writeFileSync(file, bytes)
    expect(refusal(directory)).toContain('data.mdb has a damaged header')
  })

  test('a data file that was cut off, anywhere, is refused before it can end the process', async () => {
    const directory = await filledDirectory()
    const file = join(directory, 'data.mdb')
    const { length } = readFileSync(file)
    for (const size of [length - 8192, Math.floor(length / 2), 8192 * 3, 8192 * 2 + 17]) {
      truncateSync(file, size)
      expect(refusal(directory)).toMatch(/data\.mdb is cut off: it has \d+ bytes/)
    }
  })

  test('a data file without the unused pages at its end is sound', async () => {
    const directory = await filledDirectory()
    const file = join(directory, 'data.mdb')
    const bytes = readFileSync(file)
    // Both headers record ten pages more than there are, which LMDB may do.
    for (const header of [0, 8192]) {
      bytes.writeBigUInt64LE(bytes.readBigUInt64LE(header + 144) + 10n, header + 144)
    }
    writeFileSync(file, bytes)
    expect(() => assertSoundFile(directory)).not.toThrow()
    const storage = openStorage({ directory, sweepIntervalMs: 0 })
    onTestFinished(() => storage.close())
    expect(storage.count(storage.table('counters')!)).toBe(501)
  })

  test('a path that is a file is refused', () => {
    const file = join(temporaryDirectory(), 'file')
    writeFileSync(file, 'x')
    expect(() => openStorage({ directory: file })).toThrow('Cannot open the data directory')
  })

  test.runIf(process.seteuid)('one that belongs to somebody else is refused', () => {
    // Not in the temporary directory of tests, which other users cannot reach.
    const directory = mkdtempSync('/tmp/strongroom-closed-')
    onTestFinished(() => rmSync(directory, { recursive: true }))
    chmodSync(directory, 0o000)
    const us = process.geteuid?.() ?? 0
    // Root can read everything, so the test switches to another user.
    if (us === 0) process.seteuid?.(NOBODY)
    try {
      expect(() => openStorage({ directory })).toThrow(
        `Cannot open the data directory "${directory}": it cannot be read (EACCES`,
      )
    } finally {
      if (us === 0) process.seteuid?.(us)
    }
  })
})

const NOBODY = 65_534

const canMount = (() => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const probe = '/tmp/strongroom-mount-probe'
  mkdirSync(probe, { recursive: true })
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe])
  if (status === 0) spawnSync('umount', [probe])
  rmSync(probe, { recursive: true, force: true })
  return status === 0
})()

const canLimit = spawnSync('prlimit', ['--version']).status === 0

function mounted(size: string): string {
  const directory = temporaryDirectory()
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory])
  onTestFinished(() => void spawnSync('umount', ['-l', directory]))
  return directory
}

/** What the program printed when it was full, when there was room again, and how it ended. */
async function fillAndMakeRoom(
  program: Program,
  makeRoom: () => void,
): Promise<{ full: { message: string }; room: object; end: object }> {
  const full = JSON.parse(await program.line((line) => line.includes('"full"'))) as {
    message: string
  }
  makeRoom()
  program.child.stdin.write('\n')
  const room = JSON.parse(await program.line((line) => line.includes('"room"'))) as object
  return { full, room, end: await program.ended }
}

const RECOVERED = {
  full: { name: 'InternalServerError', together: true, stillFull: true, readable: '0-0' },
  room: { written: true, exact: true, problems: [] },
  end: { code: 0, signal: null, stderr: '' },
}

describe('a disk that is full', () => {
  test.skipIf(!canMount)(
    'every write of the commit fails, reads continue, and writes work again when there is room',
    { timeout: 60_000 },
    async () => {
      const disk = mounted('6m')
      const ballast = join(disk, 'ballast')
      writeFileSync(ballast, Buffer.alloc(3 << 20))
      const script = await bundle('fill')
      const program = start([process.execPath, script, join(disk, 'data')])
      const outcome = await fillAndMakeRoom(program, () => rmSync(ballast))
      expect(outcome).toMatchObject(RECOVERED)
      expect(outcome.full.message).toContain('no space is left on its disk. Free some space')
      expect(outcome.full.message).toContain('Nothing of this request was stored')
      expect(outcome.full).toHaveProperty('code', 'ENOSPC')
    },
  )

  test.skipIf(!canMount)('does not take a new directory, and says so', async () => {
    const script = await bundle('opener')
    for (const size of ['20k', '24k', '64k']) {
      const opener = start([process.execPath, script, '1', join(mounted(size), 'data')])
      expect(await opener.ended).toEqual({ code: 0, signal: null, stderr: '' })
      expect(opener.lines).toEqual([expect.stringContaining('no space is left on its disk')])
    }
  })

  test.skipIf(!canLimit)(
    'a file size limit is reported and survived in the same way',
    { timeout: 60_000 },
    async () => {
      const directory = join(temporaryDirectory(), 'data')
      const script = await bundle('fill')
      const limited = 'ulimit -S -f 2048; exec "$0" "$@"'
      const program = start(['bash', '-c', limited, process.execPath, script, directory])
      const raise = (): void => {
        spawnSync('prlimit', ['--pid', String(program.child.pid), '--fsize=unlimited'])
      }
      const outcome = await fillAndMakeRoom(program, raise)
      expect(outcome).toMatchObject(RECOVERED)
      expect(outcome.full.message).toContain('the file size limit of the process')
    },
  )

  test('a directory where the system allows none is refused', () => {
    const file = join(temporaryDirectory(), 'file')
    writeFileSync(file, '')
    const impossible = [file, join(file, 'data'), ...(existsSync('/proc') ? ['/proc/x/data'] : [])]
    for (const directory of impossible) {
      expect(() => openStorage({ directory })).toThrow('it cannot be created')
    }
  })

  test.skipIf(!canMount)('a directory on a read-only disk is refused', async () => {
    const disk = mounted('6m')
    cpSync(await filledDirectory(), join(disk, 'data'), { recursive: true })
    spawnSync('mount', ['-o', 'remount,ro', disk])
    expect(refusal(join(disk, 'data'))).toMatch(/Cannot open the data directory.*(EROFS|read-only)/)
    expect(() => openStorage({ directory: join(disk, 'new') })).toThrow('it cannot be created')
  })
})

describe('a transaction that cannot even begin', () => {
  test('rejects all that waits, and everything later, instead of leaving it pending', async () => {
    const listeners: ((code: number) => void)[] = []
    // lmdb settles no promise in this case, and nothing short of a broken disk causes it.
    const env = {
      root: { childTransaction: () => new Promise(() => undefined) },
      onCommitFailure: (listener: (code: number) => void) => {
        listeners.push(listener)
      },
      commits: { rejected: 0 },
    } as unknown as Environment
    const queue = new WriteQueue(env, {} as Transaction, '/data')
    const waiting = [queue.push(() => 1), queue.push(() => 2)]
    for (const listener of listeners) listener(-30795)
    const text = 'an earlier I/O error made its file unusable to this process'
    for (const each of waiting) await expect(each).rejects.toThrow(text)
    await expect(queue.push(() => 3)).rejects.toThrow(text)
    await expect(queue.close()).resolves.toBeUndefined()
  })
})

describe('a catalog that cannot be read', () => {
  test('has writes refused instead of leaving them pending', async () => {
    const storage = openStorage({ directory: temporaryDirectory(), sweepIntervalMs: 0 })
    const { meta } = storage.environment
    await meta.transaction(() => {
      void meta.put(['table', 'broken'], null)
      void meta.put('version', 99)
    })
    const outcomes = await Promise.allSettled([storage.write(() => 1), storage.write(() => 2)])
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected'])
    await storage.close()
  })
})

describe('the files', () => {
  test('can be read by their owner only, also in a directory that others may enter', async () => {
    const directory = temporaryDirectory()
    chmodSync(directory, 0o755)
    const storage = openStorage({ directory, sweepIntervalMs: 0 })
    await storage.createTable(COUNTERS)
    await storage.close()
    const modes = readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o777)
    expect(modes).toEqual([0o600, 0o600, 0o600])
  })
})

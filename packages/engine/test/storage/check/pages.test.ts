import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkDirectory, type CheckProgress } from '../../../src/storage/check/directory.ts'
import { FORMAT_VERSION } from '../../../src/storage/lmdb/format.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import { DataBytes, filledDirectory, type FoundPage } from '../../support/checked-directory.ts'
import { bundle, COUNTERS, start, temporaryDirectory } from '../../support/programs/harness.ts'

const PAGE = 8192
const isSlow = process.env['SLOW'] === '1'

/** Every page takes a minute. */
function sample<T>(all: readonly T[]): T[] {
  const step = isSlow ? 1 : Math.ceil(all.length / 5)
  return all.filter((_, index) => index % step === 0)
}

async function messages(directory: string): Promise<string[]> {
  const { problems } = await checkDirectory(directory)
  return problems.map(({ kind, remedy, message }) => `${kind} ${remedy}: ${message}`)
}

describe('an undamaged directory', () => {
  test('has no problems, and is not changed by the check', async () => {
    const directory = await filledDirectory()
    const before = readFileSync(join(directory, 'data.mdb'))
    const report = await checkDirectory(directory)
    expect(report).toMatchObject({
      format: FORMAT_VERSION,
      items: 1002,
      entries: 1000,
      problems: [],
    })
    expect(report.pages).toBeGreaterThan(50)
    expect(report.changes).toBeGreaterThan(1000)
    expect(readFileSync(join(directory, 'data.mdb')).equals(before)).toBe(true)
    expect(readdirSync(directory).toSorted()).toEqual(['data.mdb', 'format.json', 'lock.mdb'])
  })

  test('may have no table and no item', async () => {
    const directory = join(temporaryDirectory(), 'data')
    await openStorage({ directory, sweepIntervalMs: 0 }).close()
    expect(await messages(directory)).toEqual([])
  })

  test('is reported with its progress', async () => {
    const seen: CheckProgress[] = []
    await checkDirectory(await filledDirectory(), { onProgress: (each) => void seen.push(each) })
    expect(seen.some(({ what, done, total }) => what === 'records' && done < total)).toBe(true)
  })
})

describe('damaged pages', () => {
  const kinds: [string, 'free' | 'main', FoundPage['kind']][] = [
    ['branch', 'main', 'branch'],
    ['leaf', 'main', 'leaf'],
    ['overflow', 'main', 'overflow'],
    ['free list', 'free', 'leaf'],
  ]
  const damages: Record<string, (bytes: Buffer, at: number) => void> = {
    'filled with zeros': (bytes, at) => void bytes.fill(0, at, at + PAGE),
    'filled with ones': (bytes, at) => void bytes.fill(0xff, at, at + PAGE),
    'filled with text': (bytes, at) => void bytes.fill('garbage', at, at + PAGE),
    'replaced by another page': (bytes, at) => void bytes.copy(bytes, at, 0, PAGE),
    'given another number': (bytes, at) => void bytes.writeUInt32LE(at / PAGE + 1, at),
    'given other flags': (bytes, at) => void bytes.writeUInt16LE(0x20, at + 18),
    'given other bounds': (bytes, at) => void bytes.writeUInt32LE(0xffff_fffe, at + 20),
  }
  for (const [name, tree, kind] of kinds) {
    test.each(Object.keys(damages))(`a ${name} page that is %s is found`, async (damage) => {
      const directory = await filledDirectory()
      const data = new DataBytes(directory)
      const pages = sample(data.pages(tree).filter((page) => page.kind === kind))
      expect(pages.length).toBeGreaterThan(0)
      const whole = Buffer.from(data.bytes)
      for (const { at } of pages) {
        damages[damage]!(data.bytes, at)
        data.save()
        const [first = 'nothing'] = await messages(directory)
        expect(first).toMatch(/^page restore: The tree "\w+" is damaged: /)
        whole.copy(data.bytes, at, at, at + PAGE)
      }
    })
  }

  test('nodes out of the page, overlapping nodes and keys in the wrong order are found', async () => {
    const directory = await filledDirectory()
    const data = new DataBytes(directory)
    const whole = Buffer.from(data.bytes)
    const leaf = data
      .pages('main')
      .find(({ kind, at }) => kind === 'leaf' && data.bytes.readUInt16LE(at + 20) > 10)!.at
    const damageOf = async (damage: (bytes: Buffer) => void) => {
      damage(data.bytes)
      data.save()
      whole.copy(data.bytes)
      return messages(directory)
    }
    const [first, second] = [leaf + 24, leaf + 26]
    const swapped = await damageOf((bytes) => {
      const [a, b] = [bytes.readUInt16LE(first), bytes.readUInt16LE(second)]
      bytes.writeUInt16LE(b, first)
      bytes.writeUInt16LE(a, second)
    })
    expect(swapped).toEqual([expect.stringContaining('has keys in the wrong order')])
    expect(await damageOf((bytes) => bytes.writeUInt16LE(0xfff0, first))).toEqual([
      expect.stringContaining('has a node at byte'),
    ])
    expect(
      await damageOf((bytes) => bytes.writeUInt16LE(bytes.readUInt16LE(second), first)),
    ).toEqual([expect.stringMatching(/wrong order|overlap/)])
    const node = leaf + 24 + data.bytes.readUInt16LE(first)
    expect(await damageOf((bytes) => bytes.writeUInt16LE(0xffff, node + 6))).toEqual([
      expect.stringContaining('has a node at byte'),
    ])
  })

  test('a page that is used twice, and a used page in the free list are found', async () => {
    const directory = await filledDirectory()
    const data = new DataBytes(directory)
    const whole = Buffer.from(data.bytes)
    const branch = data.pages('main').find(({ kind }) => kind === 'branch')!.at
    const nodeOf = (i: number) => branch + 24 + data.bytes.readUInt16LE(branch + 24 + 2 * i)
    data.bytes.copy(data.bytes, nodeOf(1), nodeOf(0), nodeOf(0) + 6)
    data.save()
    expect((await messages(directory))[0]).toContain('which is used twice')
    whole.copy(data.bytes)
    const free = data.pages('free').at(-1)!.at
    const node = free + 24 + data.bytes.readUInt16LE(free + 24)
    const record = node + 8 + 8
    expect(data.bytes.readBigInt64LE(record)).toBeGreaterThan(0n)
    for (
      let at = record + 8;
      at < record + 8 + 8 * Number(data.bytes.readBigInt64LE(record));
      at += 8
    )
      data.bytes.writeBigInt64LE(BigInt(branch / PAGE), at)
    data.save()
    expect(await messages(directory)).toEqual([
      expect.stringMatching(
        /^page restore: The list of free pages is damaged: page \d+ is in use$/,
      ),
    ])
  })

  test('a header with wrong figures, roots or depths is found', async () => {
    const directory = await filledDirectory()
    const data = new DataBytes(directory)
    const whole = Buffer.from(data.bytes)
    // Depth, entries and root of the main tree, and the root of the free list.
    for (const [offset, size] of [
      [72 + 6, 2],
      [72 + 32, 4],
      [72 + 40, 4],
      [24 + 40, 4],
      [72 + 4, 2],
    ] as const) {
      for (const value of [1, 99, 2 ** (8 * size) - 1]) {
        whole.copy(data.bytes)
        if (data.bytes.readUIntLE(data.meta + offset, size) === value) continue
        data.bytes.writeUIntLE(value, data.meta + offset, size)
        data.save()
        expect((await messages(directory))[0]).toMatch(/^page restore: /)
      }
    }
    data.bytes.fill(0, 0, 200)
    data.save()
    expect(await messages(directory)).toEqual([
      'file restore: data.mdb is not a data file of this engine, or its header is damaged',
    ])
  })

  test('random damage never ends the process', async () => {
    const directory = await filledDirectory()
    const data = new DataBytes(directory)
    const whole = Buffer.from(data.bytes)
    let seed = 42
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((seed / 2 ** 32) * below)
    }
    const pages = [...data.pages('main'), ...data.pages('free')]
    for (let round = 0; round < (isSlow ? 3000 : 50); round++) {
      whole.copy(data.bytes)
      const { at } = pages[random(pages.length)]!
      // The beginning of a page has its structure.
      for (let i = 0; i <= random(4); i++) data.bytes[at + random(80)] = random(256)
      data.save()
      await expect(checkDirectory(directory)).resolves.toHaveProperty('problems')
    }
  })
})

describe('damaged files', () => {
  test('a file that was cut off, is empty or missing is named', async () => {
    const directory = await filledDirectory()
    const file = join(directory, 'data.mdb')
    const { length } = readFileSync(file)
    truncateSync(file, Math.floor(length / 2))
    expect(await messages(directory)).toEqual([
      expect.stringMatching(/^file restore: data\.mdb is cut off: it has \d+ bytes/),
    ])
    truncateSync(file, 0)
    expect(await messages(directory)).toEqual(['file restore: data.mdb is empty'])
    rmSync(file)
    expect(await messages(directory)).toEqual(['file restore: data.mdb is missing'])
  })

  test('the format file is named if it is missing, damaged, or of another version', async () => {
    const directory = await filledDirectory()
    const file = join(directory, 'format.json')
    const format = (version: number, more = {}) =>
      writeFileSync(file, JSON.stringify({ name: 'strongroom-engine', format: version, ...more }))
    const after = ', so records were not checked'
    format(2)
    expect(await messages(directory)).toEqual([
      `format start: An older version wrote the directory (format 2)${after}`,
    ])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ format: 2 })
    format(3, { converting: { from: 2, pid: 1 } })
    expect(await messages(directory)).toEqual([
      `format start: Its conversion to format 3 is not complete${after}`,
    ])
    format(99)
    expect(await messages(directory)).toEqual([
      `format upgrade: A newer version wrote the directory (format 99)${after}`,
    ])
    writeFileSync(file, 'garbage')
    expect(await messages(directory)).toEqual([`format restore: format.json is damaged${after}`])
    rmSync(file)
    expect(await messages(directory)).toEqual([`format restore: format.json is missing${after}`])
  })

  test('what is not a data directory is refused', async () => {
    const directory = temporaryDirectory()
    const file = join(directory, 'thesis.txt')
    writeFileSync(file, 'mine')
    await expect(checkDirectory(directory)).rejects.toThrow('it is not a data directory')
    await expect(checkDirectory(file)).rejects.toThrow('it cannot be read (ENOTDIR)')
    await expect(checkDirectory(join(directory, 'no'))).rejects.toThrow('it does not exist')
  })

  test.runIf(process.seteuid)('files of somebody else are named', async () => {
    // Not in the temporary directory of tests, which other users cannot reach.
    const directory = mkdtempSync('/tmp/strongroom-closed-')
    onTestFinished(() => rmSync(directory, { recursive: true }))
    cpSync(await filledDirectory(), directory, { recursive: true })
    chmodSync(directory, 0o755)
    for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o000)
    const us = process.geteuid?.() ?? 0
    // Root can read everything, so the test switches to another user.
    const asNobody = async <T>(work: () => Promise<T>): Promise<T> => {
      if (us === 0) process.seteuid?.(65_534)
      try {
        return await work()
      } finally {
        if (us === 0) process.seteuid?.(us)
      }
    }
    expect(await asNobody(() => messages(directory))).toEqual([
      'format access: format.json cannot be read (EACCES), so records were not checked',
      'file access: data.mdb cannot be read (EACCES)',
    ])
    chmodSync(directory, 0o000)
    await expect(asNobody(() => messages(directory))).rejects.toThrow('it cannot be read (EACCES)')
  })
})

describe('a directory in use', () => {
  test('is refused while another process has it open, and checked when that was killed', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const other = start([process.execPath, await bundle('companion'), directory])
    onTestFinished(() => void other.child.kill('SIGKILL'))
    await other.line(() => true)
    await expect(checkDirectory(directory)).rejects.toThrow(
      `process ${other.child.pid} has it open. Stop every server, worker and command that uses it, then check it again`,
    )
    other.child.kill('SIGKILL')
    await other.ended
    expect(await messages(directory)).toEqual([])
  })

  test('is refused if this process has it open', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const storage = openStorage({ directory, sweepIntervalMs: 0 })
    onTestFinished(() => storage.close())
    await storage.createTable(COUNTERS)
    await expect(checkDirectory(directory)).rejects.toThrow('this process has it open')
  })
})

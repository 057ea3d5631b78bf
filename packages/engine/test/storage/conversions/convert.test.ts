/** Data directories of older formats, converted by the list of this version and by a list of tests. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openEngine } from '../../../src/engine.ts'
import { convertDirectory } from '../../../src/storage/conversions/convert.ts'
import { conversions } from '../../../src/storage/conversions/list.ts'
import type { ConversionProgress } from '../../../src/storage/conversions/progress.ts'
import { FORMAT_VERSION } from '../../../src/storage/lmdb/format.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import type { Item } from '../../../src/values/types.ts'
import { testConversions } from '../../support/conversions.ts'
import {
  bundle,
  COUNTERS,
  fixedClock,
  start,
  temporaryDirectory,
} from '../../support/programs/harness.ts'

const ITEMS = 35
const COPY = `backup-format-${FORMAT_VERSION}-20261115T200000Z`
/** The last format of the conversions of tests. */
const LAST = FORMAT_VERSION + 2

/** A directory of this version with a table of 35 items. */
async function filledDirectory(): Promise<string> {
  const directory = join(temporaryDirectory(), 'data')
  const storage = openStorage({ directory, sweepIntervalMs: 0 })
  const table = await storage.createTable(COUNTERS)
  await storage.write((tx) => {
    for (let n = 0; n < ITEMS; n++) tx.put(table, { id: `item-${n}`, n }, undefined)
  })
  await storage.close()
  return directory
}

function setFormat(directory: string, format: object): void {
  const content = { name: 'strongroom-engine', ...format }
  writeFileSync(join(directory, 'format.json'), `${JSON.stringify(content)}\n`)
}

function formatOf(directory: string): { format: number; converting?: { backup?: string } } {
  return JSON.parse(readFileSync(join(directory, 'format.json'), 'utf8'))
}

/** The items of a directory, of whatever format it is: none of the tests changes how items are stored. */
async function itemsOf(directory: string): Promise<Item[]> {
  const { format } = formatOf(directory)
  setFormat(directory, { format: FORMAT_VERSION })
  const storage = openStorage({ directory, sweepIntervalMs: 0 })
  const items = [...storage.range(storage.table('counters')!, undefined, {})]
  await storage.close()
  setFormat(directory, { format })
  return items.toSorted((a, b) => Number(a['n']) - Number(b['n']))
}

const original = Array.from({ length: ITEMS }, (_, n) => ({ id: `item-${n}`, n }))
const converted = original.map((item) => ({ ...item, third: 1, fourth: 1 }))

async function convert(directory: string, options: Parameters<typeof convertDirectory>[1] = {}) {
  const reports: ConversionProgress[] = []
  const onProgress = (progress: ConversionProgress) => void reports.push(progress)
  const outcome = await convertDirectory(directory, {
    conversions: testConversions,
    clock: fixedClock(),
    onProgress,
    ...options,
  }).catch((error: Error) => error.message)
  return { outcome, reports }
}

const copiesIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.startsWith('backup-'))

describe('the conversions of this version', () => {
  test('lead from every format to the next, up to the current one', () => {
    expect(conversions.map(({ to }) => to)).toEqual(
      Array.from({ length: FORMAT_VERSION - 1 }, (_, index) => index + 2),
    )
  })

  test('open a directory of format 1 with all its items, and leave a copy that is still of format 1', async () => {
    const directory = await filledDirectory()
    setFormat(directory, { format: 1 })
    const engine = await openEngine({ directory, clock: fixedClock(), sweepIntervalMs: 0 })
    onTestFinished(() => engine.close())
    expect((await engine.scan({ TableName: 'counters' })).Count).toBe(ITEMS)
    expect(formatOf(directory)).toEqual({ name: 'strongroom-engine', format: FORMAT_VERSION })
    const copy = join(directory, 'backup-format-1-20261115T200000Z')
    expect(formatOf(copy)).toEqual({ name: 'strongroom-engine', format: 1 })
    expect(readdirSync(copy).toSorted()).toEqual(['data.mdb', 'format.json'])
    expect(await itemsOf(copy)).toEqual(original)
  })

  test('do not run for programs that only use what exists', async () => {
    const directory = await filledDirectory()
    setFormat(directory, { format: 1 })
    await expect(openEngine({ directory, mayConvert: false })).rejects.toThrow(
      `an older version wrote it (format 1, and this version needs ${FORMAT_VERSION}): start the server`,
    )
    expect([formatOf(directory).format, copiesIn(directory)]).toEqual([1, []])
  })
})

describe('a conversion', () => {
  test('rewrites in batches, reports its progress and leaves a private copy of what was there', async () => {
    const directory = await filledDirectory()
    const { outcome, reports } = await convert(directory)
    expect(outcome).toBeUndefined()
    const backup = join(directory, COPY)
    const third = {
      kind: 'converting',
      to: FORMAT_VERSION + 1,
      summary: 'adds a third to every item',
      total: ITEMS,
    }
    expect(reports.slice(0, 5)).toEqual([
      { kind: 'copying', from: FORMAT_VERSION, to: LAST, backup },
      { ...third, done: 10 },
      { ...third, done: 20 },
      { ...third, done: 30 },
      { ...third, done: ITEMS },
    ])
    expect(reports.at(-1)).toEqual({ kind: 'converted', from: FORMAT_VERSION, to: LAST, backup })
    expect(formatOf(directory)).toEqual({ name: 'strongroom-engine', format: LAST })
    expect(await itemsOf(directory)).toEqual(converted)
    expect(await itemsOf(backup)).toEqual(original)
    for (const path of [backup, join(backup, 'data.mdb'), join(backup, 'format.json')]) {
      expect(statSync(path).mode & 0o077).toBe(0)
    }
    expect((await convert(directory)).reports).toEqual([])
  })

  test('changes nothing if there is no room for the copy, and says how much is needed', async () => {
    const directory = await filledDirectory()
    const { outcome } = await convert(directory, { free: () => 5_000_000 })
    expect(outcome).toMatch(
      /: it must be converted to the format of this version, which needs 9 MB of free disk space for a copy of it, and 5 MB are free: free some space or enlarge the disk, then start again\. Nothing was changed$/,
    )
    expect([formatOf(directory).format, copiesIn(directory)]).toEqual([FORMAT_VERSION, []])
    expect(await itemsOf(directory)).toEqual(original)
  })

  test('that fails in its first batch leaves the directory to the version that wrote it', async () => {
    const directory = await filledDirectory()
    const failing = {
      to: FORMAT_VERSION + 1,
      summary: '',
      growth: 0,
      step: () => {
        throw new Error('this item cannot be read')
      },
    }
    const { outcome } = await convert(directory, { conversions: [failing] })
    expect(outcome).toContain(
      `its conversion to format ${FORMAT_VERSION + 1} stopped: Error: this item cannot be read`,
    )
    expect([formatOf(directory), copiesIn(directory)]).toEqual([
      { name: 'strongroom-engine', format: FORMAT_VERSION },
      [],
    ])
    expect(await itemsOf(directory)).toEqual(original)
  })

  test.each([1, 2, 4, 5, 8, 9])(
    'whose process is killed at report %i is refused to other programs and finished by the next start',
    async (reports) => {
      const directory = await filledDirectory()
      const script = await bundle('converter')
      const killed = start([process.execPath, script, directory, String(reports)])
      expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
      expect(killed.lines).toHaveLength(reports)
      // Only an older version opens it again, if it died before the copy was complete; this one never.
      expect(() => openStorage({ directory, sweepIntervalMs: 0 })).toThrow(
        `was written by a newer version (format ${LAST}`,
      )
      const { outcome } = await convert(directory)
      expect(outcome).toBeUndefined()
      expect(formatOf(directory)).toEqual({ name: 'strongroom-engine', format: LAST })
      expect(await itemsOf(directory)).toEqual(converted)
      const copies = copiesIn(directory)
      expect(copies).toEqual([expect.stringContaining(`backup-format-${FORMAT_VERSION}-`)])
      expect(await itemsOf(join(directory, copies[0]!))).toEqual(original)
    },
  )

  test('is done once if several processes start at the same time', async () => {
    const directory = await filledDirectory()
    const script = await bundle('converter')
    const programs = Array.from({ length: 4 }, () => start([process.execPath, script, directory]))
    const ends = await Promise.all(programs.map(({ ended }) => ended))
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual(programs.map(() => [0, '']))
    const kinds = programs.flatMap(({ lines }) => lines.map((line) => JSON.parse(line).kind))
    expect(kinds.filter((kind) => kind === 'converted')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'copying')).toHaveLength(1)
    expect(await itemsOf(directory)).toEqual(converted)
    expect(copiesIn(directory)).toHaveLength(1)
  })

  test('is done once if two engines of one process open the directory', async () => {
    const directory = await filledDirectory()
    setFormat(directory, { format: 1 })
    const engines = await Promise.all(
      [1, 2].map(() => openEngine({ directory, sweepIntervalMs: 0 })),
    )
    await Promise.all(engines.map((engine) => engine.close()))
    expect(copiesIn(directory)).toHaveLength(1)
  })

  test('is refused while a process of the older version has the directory open', async () => {
    const directory = await filledDirectory()
    const older = start([process.execPath, await bundle('companion'), directory])
    await older.line((line) => line === 'ready')
    const pause = async () => undefined
    const { outcome } = await convert(directory, { pause })
    expect(outcome).toContain(
      `it must be converted to the format of this version, but process ${older.child.pid} has it open: stop every server, worker and command of the older version, then start again`,
    )
    expect([formatOf(directory).format, copiesIn(directory)]).toEqual([FORMAT_VERSION, []])
    // It still works, and is not in the way once it was killed.
    const put = { do: 'put', table: 'counters', item: { id: 'item-35', n: 35 } }
    older.child.stdin.write(`${JSON.stringify(put)}\n`)
    await older.line((line) => line === 'done')
    older.child.kill('SIGKILL')
    await older.ended
    expect((await convert(directory, { pause })).outcome).toBeUndefined()
    expect(await itemsOf(directory)).toHaveLength(ITEMS + 1)
  })

  test('is not begun on a directory of a newer version, or of none', async () => {
    const directory = await filledDirectory()
    setFormat(directory, { format: LAST + 1 })
    expect((await convert(directory)).reports).toEqual([])
    expect(formatOf(directory).format).toBe(LAST + 1)
    const missing = join(directory, 'missing')
    expect((await convert(missing)).reports).toEqual([])
    expect(existsSync(missing)).toBe(false)
  })
})

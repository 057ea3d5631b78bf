import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkStorage } from '../../src/storage/check.ts'
import { openStorage, type OpenStorage } from '../../src/storage/open-storage.ts'
import { assertSoundFile } from '../../src/storage/lmdb/pages.ts'
import type { NewIndex } from '../../src/storage/storage.ts'
import type { Item } from '../../src/values/types.ts'
import {
  bundle,
  COUNTERS,
  start,
  temporaryDirectory,
  type Program,
} from '../support/programs/harness.ts'

const BY_GROUP: NewIndex = {
  name: 'by-group',
  kind: 'global',
  keys: { partition: { name: 'group', type: 'S' } },
  projection: { type: 'ALL' },
}

function open(directory: string): OpenStorage {
  const storage = openStorage({ directory, sweepIntervalMs: 0 })
  onTestFinished(() => storage.close())
  return storage
}

class Companion {
  readonly #program: Program
  #commands = 0

  constructor(program: Program) {
    this.#program = program
    onTestFinished(async () => {
      program.child.stdin.end()
      await program.ended
    })
  }

  static async start(directory: string): Promise<Companion> {
    const program = start([process.execPath, await bundle('companion'), directory])
    await program.line((line) => line === 'ready')
    return new Companion(program)
  }

  async run(command: object): Promise<void> {
    this.#program.child.stdin.write(`${JSON.stringify(command)}\n`)
    const wanted = ++this.#commands
    const done = (): number => this.#program.lines.filter((line) => line === 'done').length
    await this.#program.line(() => done() >= wanted)
  }
}

/** How often what may clash is done: four times as often with SLOW=1. */
const times = (count: number) => String(process.env['SLOW'] ? 4 * count : count)

describe('two processes on one directory', () => {
  test('a file that one is writing is not damaged to the other', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const writer = start([process.execPath, await bundle('writer'), directory, '1'])
    onTestFinished(async () => {
      writer.child.kill()
      await writer.ended
    })
    await writer.line((line) => line === 'ready')
    const before = statSync(join(directory, 'data.mdb')).size
    for (let look = 0; look < Number(times(5_000)); look++) assertSoundFile(directory)
    expect(statSync(join(directory, 'data.mdb')).size).toBeGreaterThan(before)
  })

  test.each([
    ['start on a new directory at once', times(40), '2'],
    ['open it while others close it', times(75)],
  ])('none is refused if they %s', async (_, count, ...processes) => {
    const [directory, script] = [temporaryDirectory(), await bundle('opener')]
    const openers = Array.from({ length: 2 }, () =>
      start([process.execPath, script, count, join(directory, 'data'), ...processes]),
    )
    for (const { ended, lines } of openers) {
      expect(await ended).toMatchObject({ code: 0 })
      expect(lines).toEqual([])
    }
  })

  test(
    'a counter that both raise at the same time ends exact, and ids never collide',
    { timeout: 60_000 },
    async () => {
      const directory = join(temporaryDirectory(), 'data')
      const storage = open(directory)
      const table = await storage.createTable(COUNTERS)
      const script = await bundle('incrementer')
      const programs = ['one', 'two'].map((name) =>
        start([process.execPath, script, directory, name, '400']),
      )
      await Promise.all(programs.map((program) => program.line((line) => line === 'ready')))
      for (const program of programs) program.child.stdin.write('go\n')
      const ends = await Promise.all(programs.map((program) => program.ended))
      expect(ends.map((end) => end.stderr)).toEqual(['', ''])
      expect(storage.get(table, { id: 'shared' }, { consistent: true })?.['n']).toBe(800)
      expect(storage.tables().map((each) => each.name)).toEqual(['counters', 'of-one', 'of-two'])
      expect(new Set(storage.tables().map((each) => each.id)).size).toBe(3)
      for (const name of ['of-one', 'of-two']) {
        expect(storage.count(storage.table(name)!)).toBe(50)
      }
      expect((await checkStorage(storage)).problems).toEqual([])
    },
  )

  test('one that has opened it twice still shares it with the other', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const storage = open(directory)
    const table = await storage.createTable(COUNTERS)
    await openStorage({ directory, sweepIntervalMs: 0 }).close()
    const other = start([process.execPath, await bundle('incrementer'), directory, 'one', '400'])
    await other.line((line) => line === 'ready')
    other.child.stdin.write('go\n')
    for (let i = 0; i < 400; i++) {
      await storage.write((tx) => {
        const old = tx.get(table, { id: 'shared' })
        tx.put(table, { id: 'shared', n: ((old?.['n'] as number) ?? 0) + 1 }, old)
      })
    }
    expect(await other.ended).toMatchObject({ code: 0, stderr: '' })
    expect(storage.get(table, { id: 'shared' }, { consistent: true })?.['n']).toBe(800)
    expect((await checkStorage(storage)).problems).toEqual([])
  })

  test(
    'a consistent read sees what the other process has just been acknowledged',
    { timeout: 60_000 },
    async () => {
      const directory = join(temporaryDirectory(), 'data')
      const storage = open(directory)
      const table = await storage.createTable(COUNTERS)
      const other = await Companion.start(directory)
      for (let n = 1; n <= 5; n++) {
        await other.run({ do: 'put', table: 'counters', item: { id: 'a', n } })
        expect(storage.get(table, { id: 'a' }, { consistent: true })).toEqual({ id: 'a', n })
        expect([...storage.range(table, undefined, { consistent: true })]).toEqual([{ id: 'a', n }])
      }
    },
  )

  test(
    'tables that the other process creates and drops come and go here',
    { timeout: 60_000 },
    async () => {
      const directory = join(temporaryDirectory(), 'data')
      const storage = open(directory)
      const other = await Companion.start(directory)
      expect(storage.table('new')).toBeUndefined()
      await other.run({ do: 'create', table: 'new' })
      const table = storage.table('new')!
      expect(table.name).toBe('new')
      await storage.overwrite(table, { id: 'a' })
      await other.run({ do: 'drop', table: 'new' })
      await expect(storage.overwrite(table, { id: 'b' })).rejects.toMatchObject({
        name: 'ResourceNotFoundException',
      })
      expect(storage.table('new')).toBeUndefined()
    },
  )

  test(
    'a write with an outdated record still maintains the index that the other process added',
    { timeout: 60_000 },
    async () => {
      const directory = join(temporaryDirectory(), 'data')
      const storage = open(directory)
      const outdated = await storage.createTable(COUNTERS)
      const items: Item[] = [1, 2, 3].map((n) => ({ id: `${n}`, group: 'g', n }))
      await storage.overwrite(outdated, items[0]!)
      const other = await Companion.start(directory)
      await other.run({ do: 'index', table: 'counters', index: BY_GROUP })
      await storage.overwrite(outdated, items[1]!)
      await storage.overwrite(outdated, { ...items[0]!, group: 'h' })
      await storage.write((tx) => tx.put(outdated, items[2]!, undefined))
      const table = storage.table('counters')!
      const found = [...storage.range(table, table.indexes[0], { partition: 'g' })]
      expect(new Set(found.map((item) => item['id']))).toEqual(new Set(['2', '3']))
      expect((await checkStorage(storage)).problems).toEqual([])
    },
  )

  test(
    'a reader that was killed does not hold back the reuse of pages',
    { timeout: 60_000 },
    async () => {
      const directory = join(temporaryDirectory(), 'data')
      const first = open(directory)
      await first.createTable(COUNTERS)
      const script = await bundle('companion')
      const program = start([process.execPath, script, directory])
      await program.line((line) => line === 'ready')
      program.child.kill('SIGKILL')
      await program.ended
      await first.sweep()
      expect(first.environment.root.readerCheck()).toBe(0)
    },
  )
})

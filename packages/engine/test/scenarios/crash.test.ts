import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkStorage } from '../../src/storage/check.ts'
import { openStorage, type OpenStorage } from '../../src/storage/open-storage.ts'
import type { TableRecord } from '../../src/storage/storage.ts'
import { equal } from '../../src/values/compare.ts'
import type { Item } from '../../src/values/types.ts'
import { bundle, start, temporaryDirectory } from '../support/programs/harness.ts'

const ROUNDS = process.env['SLOW'] === '1' ? 50 : 2

interface Acknowledged {
  puts: Set<string>
  transactions: Set<string>
  counters: Map<string, number>
}

function note(line: string, acknowledged: Acknowledged): void {
  const [kind, name, n] = line.split(' ') as [string, string, string]
  if (kind === 'put') acknowledged.puts.add(name)
  else if (kind === 'tx') acknowledged.transactions.add(name)
  else if (kind === 'update') acknowledged.counters.set(name, Number(n))
}

/** Opens what the killed process left and compares it with what it had acknowledged. */
async function verify(directory: string, acknowledged: Acknowledged): Promise<void> {
  const storage = openStorage({ directory, sweepIntervalMs: 0 })
  try {
    const table = storage.table('accounts')!
    const has = (id: string): boolean => storage.get(table, { id }) !== undefined
    expect([...acknowledged.puts].filter((id) => !has(id))).toEqual([])
    for (const [id, n] of acknowledged.counters) {
      expect(storage.get(table, { id })?.['n']).toBeGreaterThanOrEqual(n)
    }
    const parts = new Map<string, number>()
    for (const { name } of storage.range(table, table.indexes[0], { partition: 'tx' })) {
      parts.set(name as string, (parts.get(name as string) ?? 0) + 1)
    }
    expect([...parts.values()].filter((count) => count !== 3)).toEqual([])
    expect([...acknowledged.transactions].filter((name) => !parts.has(name))).toEqual([])
    const { problems } = await checkStorage(storage)
    expect(problems).toEqual([])
    expect(unlike(replayed(storage), contents(storage, table))).toEqual([])
    await assertWholeBackups(storage)
  } finally {
    await storage.close()
  }
}

function contents(storage: OpenStorage, table: TableRecord): Map<unknown, Item> {
  const items = new Map<unknown, Item>()
  for (const item of storage.range(table, undefined, {})) items.set(item['id'], item)
  return items
}

/** Thousands are compared, too many for `expect`. */
function isSame(a: Item | undefined, b: Item | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && equal(a, b))
}

function unlike(a: Map<unknown, Item>, b: Map<unknown, Item>): unknown[] {
  const ids = new Set([...a.keys(), ...b.keys()])
  return [...ids].filter((id) => !isSame(a.get(id), b.get(id)))
}

/** What the records of the stream make of an empty table. */
function replayed(storage: OpenStorage): Map<unknown, Item> {
  const items = new Map<unknown, Item>()
  const [stream] = storage.streams.all()
  for (const change of storage.streams.changes(stream!, 0, Number.MAX_SAFE_INTEGER)) {
    const id = change.keys['id']
    if (!isSame(items.get(id), change.old)) throw new Error(`Not what was changed: ${String(id)}`)
    if (change.new) items.set(id, change.new)
    else items.delete(id)
  }
  return items
}

/** Those that were being made are made now, of a moment at which no transaction was half done. */
async function assertWholeBackups(storage: OpenStorage): Promise<void> {
  await storage.settled()
  for (const { status, space } of storage.backups.all()) {
    expect(status).toBe('AVAILABLE')
    const parts = new Map<unknown, number>()
    for (const { name } of contents(storage, space).values()) {
      if (name !== undefined) parts.set(name, (parts.get(name) ?? 0) + 1)
    }
    expect([...parts.values()].filter((count) => count !== 3)).toEqual([])
  }
}

describe.each(['plain', 'encrypted'])(
  'a process that is killed while it writes %s items',
  (how) => {
    test(
      'loses no acknowledged write, tears no transaction, and leaves indexes, a stream and backups that agree with the items',
      { timeout: ROUNDS * 60_000 },
      async () => {
        const directory = join(temporaryDirectory(), 'data')
        const writer = await bundle('writer')
        const acknowledged: Acknowledged = {
          puts: new Set(),
          transactions: new Set(),
          counters: new Map(),
        }
        for (let round = 0; round < ROUNDS; round++) {
          const program = start([process.execPath, writer, directory, String(round), how])
          await program.line((line) => line.startsWith('tx'))
          // The moment is random in what the process had done, not in time.
          const acknowledgements = randomInt(1, 2500)
          await program.line(() => program.lines.length >= acknowledgements)
          program.child.kill('SIGKILL')
          await program.ended
          for (const line of program.lines) note(line, acknowledged)
          await verify(directory, acknowledged)
        }
        expect(acknowledged.transactions.size).toBeGreaterThan(0)
      },
    )
  },
)

import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkStorage } from '../../src/storage/check.ts'
import { openStorage, type OpenStorage } from '../../src/storage/open-storage.ts'
import type { NewIndex, TableRecord } from '../../src/storage/storage.ts'
import {
  COUNTERS,
  ORDERS,
  temporaryDirectory,
  temporaryStorage,
} from '../support/programs/harness.ts'

const BY_N: NewIndex = {
  name: 'by-n',
  kind: 'global',
  keys: { partition: { name: 'group', type: 'S' }, sort: { name: 'n', type: 'N' } },
  projection: { type: 'KEYS_ONLY' },
}

async function fill(storage: OpenStorage, table: TableRecord, count: number): Promise<void> {
  await storage.write((tx) => {
    for (let i = 0; i < count; i++) {
      tx.put(table, { id: `${i}`, group: 'g', n: i, expires: 1_000 + i }, undefined)
    }
  })
}

/** Nothing of any dropped table or index is left in the file. */
function storedKeys(storage: OpenStorage): { items: number; entries: number } {
  const { root } = storage.environment
  const raw = { keyEncoding: 'binary', encoding: 'binary' } as const
  const all = { start: Buffer.of(0) }
  return {
    items: root.openDB<Uint8Array, Uint8Array>('items', raw).getKeysCount(all),
    entries: root.openDB<Uint8Array, Uint8Array>('entries', raw).getKeysCount(all),
  }
}

describe('tables', () => {
  test('a table is listed by name, keeps its details, and is gone after being dropped', async () => {
    const storage = temporaryStorage()
    await storage.createTable(ORDERS)
    const details = { billing: 'PAY_PER_REQUEST', tags: { team: 'a' } }
    await storage.createTable({ ...COUNTERS, details })
    expect(storage.tables().map((table) => table.name)).toEqual(['counters', 'orders'])
    expect(storage.table('counters')?.details).toEqual(details)
    await storage.dropTable('counters')
    expect(storage.table('counters')).toBeUndefined()
  })

  test('of two simultaneous creations of one table the second is refused', async () => {
    const storage = temporaryStorage()
    const outcomes = await Promise.allSettled([
      storage.createTable(COUNTERS),
      storage.createTable(COUNTERS),
    ])
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected'])
    expect(outcomes[1]).toMatchObject({ reason: { name: 'ResourceInUseException' } })
  })

  test('dropping or replacing a table that does not exist is refused', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await storage.dropTable('counters')
    const notFound = { name: 'ResourceNotFoundException' }
    await expect(storage.dropTable('counters')).rejects.toMatchObject(notFound)
    await expect(storage.replaceTable(table)).rejects.toMatchObject(notFound)
  })

  test('a replacement made from an outdated record is refused', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await storage.replaceTable({ ...table, details: { a: 1 } })
    await expect(storage.replaceTable({ ...table, details: { b: 1 } })).rejects.toMatchObject({
      name: 'ResourceInUseException',
    })
    expect(storage.table('counters')?.details).toEqual({ a: 1 })
  })

  test('a table created again under the same name is empty immediately, while the old one is removed', async () => {
    const storage = temporaryStorage()
    await fill(storage, await storage.createTable({ ...COUNTERS, indexes: [BY_N] }), 2000)
    await storage.dropTable('counters')
    const again = await storage.createTable({ ...COUNTERS, indexes: [BY_N] })
    expect([...storage.range(again, undefined, {})]).toEqual([])
    expect([...storage.range(again, again.indexes[0], {})]).toEqual([])
    await storage.overwrite(again, { id: 'new', group: 'g', n: 1 })
    await storage.settled()
    expect(storedKeys(storage)).toEqual({ items: 1, entries: 1 })
  })
})

describe('adding an index to a table with items', () => {
  test('all items are added in the background, and the index becomes active', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await fill(storage, table, 1500)
    const changed = await storage.replaceTable({ ...table, indexes: [BY_N] })
    expect(changed.indexes[0]?.status).toBe('CREATING')
    await storage.settled()
    const current = storage.table('counters')!
    expect(current.indexes[0]?.status).toBe('ACTIVE')
    const numbers = [...storage.range(current, current.indexes[0], { partition: 'g' })]
    expect(numbers.map((item) => item['n'])).toEqual(Array.from({ length: 1500 }, (_, i) => i))
  })

  test('large items are added as well, in as many steps as they take', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    const text = 'x'.repeat(390_000)
    await storage.write((tx) => {
      for (let n = 0; n < 60; n++) tx.put(table, { id: `${n}`, group: 'g', n, text }, undefined)
    })
    await storage.replaceTable({ ...table, indexes: [BY_N] })
    await storage.settled()
    const current = storage.table('counters')!
    expect(current.indexes[0]?.status).toBe('ACTIVE')
    expect(storage.count(current, current.indexes[0])).toBe(60)
  })

  test('items written, changed and deleted during filling are correct in it', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await fill(storage, table, 1000)
    await storage.replaceTable({ ...table, indexes: [BY_N] })
    const work: Promise<unknown>[] = []
    for (let i = 0; i < 1000; i += 10) {
      work.push(
        storage.write((tx) => {
          const old = tx.get(table, { id: `${i}` })!
          if (i % 20 === 0) tx.delete(table, old)
          else tx.put(table, { ...old, n: -i }, old)
        }),
        storage.write((tx) => tx.put(table, { id: `new-${i}`, group: 'g', n: i }, undefined)),
      )
    }
    await Promise.all(work)
    await storage.settled()
    expect(await checkStorage(storage)).toEqual({ items: 1050, entries: 1050, problems: [] })
  })

  test('filling resumes where it stopped when the directory is reopened', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const first = openStorage({ directory, sweepIntervalMs: 0 })
    const table = await first.createTable(COUNTERS)
    await fill(first, table, 3000)
    await first.replaceTable({ ...table, indexes: [BY_N] })
    await first.close()
    const second = openStorage({ directory, sweepIntervalMs: 0 })
    onTestFinished(() => second.close())
    const stopped = second.table('counters')!
    expect(stopped.indexes[0]?.status).toBe('CREATING')
    expect(second.count(stopped, stopped.indexes[0])).toBeLessThan(3000)
    await second.settled()
    expect(second.table('counters')?.indexes[0]?.status).toBe('ACTIVE')
    expect(await checkStorage(second)).toEqual({ items: 3000, entries: 3000, problems: [] })
  })

  test('a dropped index, also one that is still being filled, leaves no entries', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await fill(storage, table, 1000)
    const filling = await storage.replaceTable({ ...table, indexes: [BY_N] })
    await storage.replaceTable({ ...filling, indexes: [] })
    await storage.settled()
    expect(storedKeys(storage)).toEqual({ items: 1000, entries: 0 })
    expect(storage.table('counters')?.indexes).toEqual([])
  })

  test('a replacement that keeps an index keeps its entries and its status', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable({ ...COUNTERS, indexes: [BY_N] })
    await fill(storage, table, 10)
    const changed = await storage.replaceTable({ ...table, details: { a: 1 } })
    await storage.settled()
    expect(changed.indexes).toEqual(table.indexes)
    expect(storedKeys(storage).entries).toBe(10)
  })
})

describe('a dropped table', () => {
  test('is removed with all entries, also across a restart', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const first = openStorage({ directory, sweepIntervalMs: 0 })
    const wanted = { ...COUNTERS, indexes: [BY_N], ttl: { attribute: 'expires' } }
    await fill(first, await first.createTable(wanted), 3000)
    await first.dropTable('counters')
    await first.close()
    const second = openStorage({ directory, sweepIntervalMs: 0 })
    onTestFinished(() => second.close())
    expect(second.tables()).toEqual([])
    expect((await checkStorage(second)).problems).toEqual([])
    await second.settled()
    expect(storedKeys(second)).toEqual({ items: 0, entries: 0 })
  })
})

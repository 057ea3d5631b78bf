import { describe, expect, test } from 'vitest'
import { checkStorage } from '../../src/storage/check.ts'
import type { OpenStorage } from '../../src/storage/open-storage.ts'
import type { NewTable, TableRecord } from '../../src/storage/storage.ts'
import type { Item } from '../../src/values/types.ts'
import { NumberValue } from '../../src/values/types.ts'
import { fixedClock, NOW, temporaryStorage } from '../support/programs/harness.ts'

const NOW_SECONDS = NOW / 1000
const DAY_SECONDS = 24 * 60 * 60

const SESSIONS: NewTable = {
  name: 'sessions',
  keys: { partition: { name: 'id', type: 'S' } },
  indexes: [
    {
      name: 'by-user',
      kind: 'global',
      keys: { partition: { name: 'user', type: 'S' } },
      projection: { type: 'ALL' },
    },
  ],
  ttl: { attribute: 'expires-at' },
}

async function put(storage: OpenStorage, table: TableRecord, ...items: Item[]): Promise<void> {
  await storage.write((tx) => {
    for (const item of items) tx.put(table, item, tx.get(table, item))
  })
}

function ids(storage: OpenStorage, table: TableRecord): string[] {
  const found = [...storage.range(table, undefined, {})].map((item) => item['id'] as string)
  return found.toSorted((a, b) => (a < b ? -1 : 1))
}

describe('time to live', () => {
  test('an item is deleted once its second has passed, from the table and from every index', async () => {
    const clock = fixedClock()
    const storage = temporaryStorage({ clock })
    const table = await storage.createTable(SESSIONS)
    await put(
      storage,
      table,
      { id: 'past', user: 'ada', 'expires-at': NOW_SECONDS - 1 },
      { id: 'now', user: 'ada', 'expires-at': NOW_SECONDS },
      { id: 'later', user: 'ada', 'expires-at': NOW_SECONDS + 60 },
    )
    expect(await storage.sweep()).toBe(1)
    expect(ids(storage, table)).toEqual(['later', 'now'])
    expect([...storage.range(table, table.indexes[0], { partition: 'ada' })]).toHaveLength(2)
    clock.advance(61_000)
    expect(await storage.sweep()).toBe(2)
    expect(await checkStorage(storage)).toEqual({ items: 0, entries: 0, problems: [] })
  })

  test('large expired items are all deleted, in as many batches as they take', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(SESSIONS)
    const text = 'x'.repeat(390_000)
    const items = Array.from({ length: 60 }, (_, i) => ({
      id: `${i}`,
      'expires-at': NOW_SECONDS - 1 - i,
      text,
    }))
    await put(storage, table, ...items)
    expect(await storage.sweep()).toBe(60)
    expect(await checkStorage(storage)).toEqual({ items: 0, entries: 0, problems: [] })
  })

  test('an item that expired more than five years ago stays', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(SESSIONS)
    await put(
      storage,
      table,
      { id: 'old', 'expires-at': NOW_SECONDS - 5 * 365 * DAY_SECONDS - 1 },
      { id: 'not so old', 'expires-at': NOW_SECONDS - 5 * 365 * DAY_SECONDS },
      { id: 'milliseconds', 'expires-at': NOW },
    )
    expect(await storage.sweep()).toBe(1)
    expect(ids(storage, table)).toEqual(['milliseconds', 'old'])
  })

  test('an item without a number in its TTL attribute never expires', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(SESSIONS)
    await put(
      storage,
      table,
      { id: 'none' },
      { id: 'text', 'expires-at': String(NOW_SECONDS - 1) },
      { id: 'negative', 'expires-at': -1 },
      { id: 'huge', 'expires-at': new NumberValue('99999999999999999999999999999999999999') },
    )
    expect(await storage.sweep()).toBe(0)
    expect(ids(storage, table)).toHaveLength(4)
  })

  test('a prolonged item stays, and expires at its new time', async () => {
    const clock = fixedClock()
    const storage = temporaryStorage({ clock })
    const table = await storage.createTable(SESSIONS)
    await put(storage, table, { id: 'a', 'expires-at': NOW_SECONDS - 1 })
    const sweeping = storage.sweep()
    await put(storage, table, { id: 'b', 'expires-at': NOW_SECONDS - 1 })
    await put(storage, table, { id: 'b', 'expires-at': NOW_SECONDS + 9 })
    await sweeping
    await storage.sweep()
    expect(ids(storage, table)).toEqual(['b'])
    clock.advance(10_000)
    expect(await storage.sweep()).toBe(1)
  })

  test('more expired items than fit in one batch are all deleted', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(SESSIONS)
    const items = Array.from({ length: 1000 }, (_, i) => ({
      id: `${i}`,
      user: 'ada',
      'expires-at': NOW_SECONDS - 1 - i,
    }))
    await put(storage, table, ...items)
    expect(await storage.sweep()).toBe(1000)
    expect(await checkStorage(storage)).toEqual({ items: 0, entries: 0, problems: [] })
  })

  test('switching it on for a table with items covers them, switching it off spares them', async () => {
    const storage = temporaryStorage()
    const { ttl, ...without } = SESSIONS
    const table = await storage.createTable(without)
    await put(storage, table, { id: 'a', 'expires-at': NOW_SECONDS - 1 })
    const on = await storage.replaceTable({ ...table, ttl: ttl! })
    await storage.settled()
    expect(await checkStorage(storage)).toEqual({ items: 1, entries: 1, problems: [] })
    const { ttl: _, ...off } = on
    await storage.replaceTable(off)
    await storage.settled()
    expect(await storage.sweep()).toBe(0)
    expect(await checkStorage(storage)).toEqual({ items: 1, entries: 0, problems: [] })
    await storage.replaceTable({ ...storage.table('sessions')!, ttl: ttl! })
    await storage.settled()
    expect(await storage.sweep()).toBe(1)
  })

  test('the timer deletes expired items without a call of sweep', async () => {
    const storage = temporaryStorage({ sweepIntervalMs: 1 })
    const table = await storage.createTable(SESSIONS)
    await put(storage, table, { id: 'a', 'expires-at': NOW_SECONDS - 1 })
    while (storage.get(table, { id: 'a' }, { consistent: true }) !== undefined) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(storage.count(table)).toBe(0)
  })
})

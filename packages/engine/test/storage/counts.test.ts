import { describe, expect, test } from 'vitest'
import { checkStorage } from '../../src/storage/check.ts'
import { conversions } from '../../src/storage/conversions/list.ts'
import type { Position } from '../../src/storage/conversions/conversion.ts'
import { ALL_COUNTS, countKey, readCount } from '../../src/storage/counts.ts'
import type { Job } from '../../src/storage/jobs/jobs.ts'
import { boundsOfId } from '../../src/storage/bounds.ts'
import { KeySource } from '../../src/storage/lmdb/lmdb.ts'
import { lmdbRange } from '../../src/storage/reads.ts'
import type { OpenStorage } from '../../src/storage/open-storage.ts'
import type { IndexRecord, NewIndex, TableRecord } from '../../src/storage/storage.ts'
import { itemSize } from '../../src/values/size.ts'
import type { Item } from '../../src/values/types.ts'
import { COUNTERS, temporaryStorage } from '../support/programs/harness.ts'

const BY_GROUP: NewIndex = {
  name: 'by-group',
  kind: 'global',
  keys: { partition: { name: 'group', type: 'S' } },
  projection: { type: 'INCLUDE', attributes: ['n'] },
}

const item = (n: number): Item => ({ id: `${n}`, group: n % 3 === 0 ? 7 : 'g', n, text: 'x' })

/** The count of what can be read. */
function recount(storage: OpenStorage, table: TableRecord, index?: IndexRecord) {
  const found = [...storage.range(table, index, {})]
  const projected = found.map(({ id, group, n, ...rest }) =>
    index ? { id, group, n } : { id, group, n, ...rest },
  )
  return {
    items: found.length,
    bytes: projected.reduce((sum, each) => sum + itemSize(each as Item), 0),
  }
}

function counted(storage: OpenStorage, table: TableRecord, index?: IndexRecord) {
  return { items: storage.count(table, index), bytes: storage.size(table, index) }
}

function storedCounts(storage: OpenStorage): number {
  return storage.environment.meta.getKeysCount({ ...ALL_COUNTS })
}

async function fill(storage: OpenStorage, table: TableRecord, items: number): Promise<void> {
  await storage.write((tx) => {
    for (let n = 0; n < items; n++) tx.put(table, item(n), undefined)
  })
}

describe('the count of an index', () => {
  test('is exact while it is filled and written to', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await fill(storage, table, 2000)
    await storage.replaceTable({ ...table, indexes: [BY_GROUP] })
    let isFilling = true
    let looks = 0
    for (let n = 1999; isFilling; n = (n + 1999 - 37) % 2000) {
      await Promise.all([
        storage.write((tx) => {
          const old = tx.get(table, { id: `${n}` })
          if (old) tx.put(table, { ...old, group: n % 2 ? 'h' : 7, text: 'longer' }, old)
        }),
        storage.write((tx) => {
          const old = tx.get(table, { id: `${(n * 31) % 2000}` })
          if (old) tx.delete(table, old)
        }),
        storage.overwrite(table, { ...item(n), n: 100_000 + n }),
        storage.overwrite(table, item(5000 + n)),
      ])
      const current = storage.table('counters')!
      isFilling = current.indexes[0]!.status === 'CREATING'
      expect((await checkStorage(storage)).problems).toEqual([])
      looks++
    }
    expect(looks).toBeGreaterThan(1)
    const current = storage.table('counters')!
    const [index] = current.indexes
    expect(counted(storage, current, index)).toEqual(recount(storage, current, index))
    expect(counted(storage, current)).toEqual(recount(storage, current))
  })

  test('is exact if one transaction writes an item several times before it is filled', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await fill(storage, table, 2000)
    const changed = storage.replaceTable({ ...table, indexes: [BY_GROUP] })
    const written = storage.write((tx) => {
      for (const group of ['a', 'b', 7, 'c', 'c']) {
        tx.overwrite(table, { ...item(1999), group })
        tx.overwrite(table, { ...item(1998), group })
      }
      tx.delete(table, tx.get(table, { id: '1998' })!)
    })
    await Promise.all([changed, written])
    await storage.settled()
    const current = storage.table('counters')!
    const [index] = current.indexes
    expect(counted(storage, current, index)).toEqual(recount(storage, current, index))
    expect((await checkStorage(storage)).problems).toEqual([])
  })
})

describe('counts', () => {
  test('are written by the commit of a write, and not by one that fails', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable({ ...COUNTERS, indexes: [BY_GROUP] })
    const [index] = table.indexes
    const outcomes = await Promise.allSettled([
      storage.overwrite(table, item(1)),
      storage.write((tx) => {
        tx.overwrite(table, item(2))
        throw new Error('refused')
      }),
      storage.overwrite(table, { ...item(1), text: 'longer' }),
      storage.overwrite(table, item(3)),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect(counted(storage, table)).toEqual({ items: 2, bytes: 2 * 17 + 5 + 1 })
    expect(counted(storage, table, index)).toEqual({ items: 1, bytes: 3 + 6 + 3 })
  })

  test('are removed with their table or index, also if the same commit writes to it', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable({ ...COUNTERS, indexes: [BY_GROUP] })
    await fill(storage, table, 10)
    expect(storedCounts(storage)).toBe(2)
    const without = storage.replaceTable({ ...table, indexes: [] })
    await Promise.all([storage.overwrite(table, item(11)), without])
    expect(storedCounts(storage)).toBe(1)
    await Promise.all([storage.overwrite(table, item(12)), storage.dropTable('counters')])
    expect(storedCounts(storage)).toBe(0)
    await storage.settled()
    expect((await checkStorage(storage)).problems).toEqual([])
  })

  test('of a dropped table and of a copied one are those of their backups', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await fill(storage, table, 300)
    const count = counted(storage, table)
    const { id } = await storage.backups.create('copied', table)
    await storage.overwrite(table, item(1000))
    await storage.settled()
    expect(storage.backups.find(id)).toMatchObject({ status: 'AVAILABLE', ...count })
    const now = counted(storage, table)
    await storage.dropTable('counters', { keepAs: { name: 'dropped', keepMs: 1000 } })
    expect(storage.backups.find(table.id)).toMatchObject({ name: 'dropped', ...now })
    await storage.settled()
    expect(storedCounts(storage)).toBe(0)
    expect((await checkStorage(storage)).problems).toEqual([])
  })

  test('that are wrong are found by the integrity check', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable({ ...COUNTERS, indexes: [BY_GROUP] })
    await fill(storage, table, 2)
    const { meta } = storage.environment
    await meta.put(countKey(table.id), { items: 2, bytes: 35 })
    await meta.put(countKey(table.indexes[0]!.id), { items: 2, bytes: 12 })
    await meta.put(countKey(99), { items: 0, bytes: 0 })
    expect((await checkStorage(storage)).problems).toEqual([
      'Table "counters" has 2 items of 34 bytes, but its stored count is 2 items of 35 bytes',
      'Index "by-group" of table "counters" has 1 items of 12 bytes, but its stored count is 2 items of 12 bytes',
      'A count belongs to no table or index (id 99)',
    ])
  })

  test('are read and not computed: no item is looked at', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await storage.environment.meta.put(countKey(table.id), { items: 12, bytes: 345 })
    expect(counted(storage, table)).toEqual({ items: 12, bytes: 345 })
  })
})

describe('the conversion to format 3', () => {
  test('counts tables, indexes that are filled and being filled, and backups', async () => {
    const storage = temporaryStorage()
    const { environment: env } = storage
    const table = await storage.createTable({ ...COUNTERS, indexes: [BY_GROUP] })
    await fill(storage, table, 2500)
    const dropped = await storage.createTable({ ...COUNTERS, name: 'dropped' })
    await fill(storage, dropped, 10)
    await storage.dropTable('dropped', { keepAs: { name: 'dropped', keepMs: 1000 } })
    await storage.settled()
    const before = storage.backups.find(dropped.id)!
    const filling: TableRecord = {
      ...table,
      indexes: [{ ...table.indexes[0]!, status: 'CREATING' }],
    }
    const owner = table.indexes[0]!.id
    const count = { ...readCount(env, table.id) }
    const entries = { ...readCount(env, owner) }
    // As an older version left it: without counts, and one entry is not added yet.
    env.root.transactionSync(() => {
      env.meta.putSync(['table', table.name], filling)
      env.meta.putSync(['job', 1000], { kind: 'fill', table: table.id, owner } satisfies Job)
      env.meta.putSync('version', 1000)
      env.meta.putSync(['backup', dropped.id], { ...before, bytes: 0 })
      for (const id of [table.id, owner]) env.meta.removeSync(countKey(id))
      const [first] = env.entries.getKeys({ ...lmdbRange(boundsOfId(owner), false), limit: 1 })
      env.entries.remove(new KeySource().ofBytes(first!.bytes, 0, first!.length))
    })
    const { step } = conversions.find(({ to }) => to === 3)!
    let position: Position | undefined
    const done: (number | undefined)[] = []
    do {
      position = env.root.transactionSync(() => step(env, position))
      done.push(position?.done)
    } while (position)
    expect(done).toEqual([1000, 2000, undefined])
    storage.refresh()
    expect(readCount(env, table.id)).toEqual(count)
    expect(readCount(env, owner).items).toBe(entries.items - 1)
    expect(storage.backups.find(dropped.id)).toEqual(before)
    expect((await checkStorage(storage)).problems).toEqual([])
    await storage.settled()
    expect(readCount(env, owner)).toEqual(entries)
    expect((await checkStorage(storage)).problems).toEqual([])
  })
})

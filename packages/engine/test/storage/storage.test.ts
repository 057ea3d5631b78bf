import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { conditionalCheckFailed } from '../../src/errors.ts'
import { boundsOf } from '../../src/storage/bounds.ts'
import { checkStorage } from '../../src/storage/check.ts'
import { openStorage, type OpenStorage } from '../../src/storage/open-storage.ts'
import type { RangeQuery, TableRecord } from '../../src/storage/storage.ts'
import type { Item, Value } from '../../src/values/types.ts'
import {
  COUNTERS,
  NOW,
  ORDERS,
  temporaryDirectory,
  temporaryStorage,
} from '../support/programs/harness.ts'

function put(storage: OpenStorage, table: TableRecord, item: Item): Promise<void> {
  return storage.write((tx) => tx.put(table, item, tx.get(table, item)))
}

function increment(storage: OpenStorage, table: TableRecord, id: string): Promise<number> {
  return storage.write((tx) => {
    const old = tx.get(table, { id })
    const n = ((old?.['n'] as number | undefined) ?? 0) + 1
    tx.put(table, { id, n }, old)
    return n
  })
}

describe('writing', () => {
  test('a resolved write can be read immediately, and after the directory is reopened', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const first = openStorage({ directory, sweepIntervalMs: 0 })
    const table = await first.createTable(COUNTERS)
    await first.overwrite(table, { id: 'a', n: 1 })
    expect(first.get(table, { id: 'a' })).toEqual({ id: 'a', n: 1 })
    await first.close()
    const second = openStorage({ directory, sweepIntervalMs: 0 })
    onTestFinished(() => second.close())
    expect(second.get(second.table('counters')!, { id: 'a' })).toEqual({ id: 'a', n: 1 })
  })

  test('of a hundred simultaneous increments none is lost', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    const results = await Promise.all(
      Array.from({ length: 100 }, () => increment(storage, table, 'a')),
    )
    expect(results.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
    expect(storage.get(table, { id: 'a' })).toEqual({ id: 'a', n: 100 })
  })

  test('large writes do not all wait for one commit', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    const text = 'x'.repeat(390_000)
    const writes = Array.from({ length: 4 }, (_, n) =>
      storage.write((tx) => {
        for (let i = 0; i < 12; i++) tx.put(table, { id: `${n}-${i}`, text }, undefined)
      }),
    )
    await writes[0]
    expect(storage.get(table, { id: '0-11' })).toBeDefined()
    expect(storage.get(table, { id: '3-11' })).toBeUndefined()
    await Promise.all(writes)
    expect(storage.get(table, { id: '3-11' })).toBeDefined()
  })

  test('a write that throws fails alone, and those that share its commit succeed', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    const outcomes = await Promise.allSettled([
      storage.overwrite(table, { id: 'before' }),
      storage.write(() => {
        throw conditionalCheckFailed()
      }),
      storage.overwrite(table, { id: 'after' }),
    ])
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(storage.count(table)).toBe(2)
  })

  test('a write that throws after its first put has written nothing', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(ORDERS)
    const failed = storage.write((tx) => {
      tx.put(table, { customer: 'a', order: '1', status: 'open', total: 1 }, undefined)
      throw conditionalCheckFailed()
    })
    await expect(failed).rejects.toThrow('The conditional request failed')
    expect(storage.count(table)).toBe(0)
    expect(storage.count(table, table.indexes[0])).toBe(0)
  })

  test('an item that cannot be stored fails its write and leaves no part of it behind', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    const failed = storage.write((tx) => {
      tx.put(table, { id: 'a' }, undefined)
      tx.put(table, { id: 'b', bad: undefined as unknown as Value }, undefined)
    })
    await expect(failed).rejects.toThrow('Cannot encode')
    expect(storage.count(table)).toBe(0)
  })

  test('a write sees its own puts and deletes', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    const seen = await storage.write((tx) => {
      tx.put(table, { id: 'a', n: 1 }, undefined)
      const afterPut = tx.get(table, { id: 'a' })
      tx.delete(table, { id: 'a' })
      return [afterPut, tx.get(table, { id: 'a' }), tx.get(table, { id: 'b' })]
    })
    expect(seen).toEqual([{ id: 'a', n: 1 }, undefined, undefined])
    expect(storage.count(table)).toBe(0)
  })

  test('an item of 400 KB, a key of 2,048 and a sort key of 1,024 bytes are stored and found', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(ORDERS)
    const item = {
      customer: 'c'.repeat(2048),
      order: 'é'.repeat(512),
      status: 's'.repeat(2048),
      total: 1,
      text: 'x'.repeat(400_000),
    }
    await put(storage, table, item)
    const { customer, order } = item
    expect(storage.get(table, { customer, order })).toEqual(item)
    const found = storage.range(table, table.indexes[0], { partition: item.status })
    expect([...found]).toEqual([item])
  })

  test('a write to a table that was just dropped fails, and nothing is written', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await storage.dropTable('counters')
    await expect(storage.overwrite(table, { id: 'a' })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    })
  })

  test('a token is known until it expires, and only if its write succeeded', async () => {
    let now = NOW
    const storage = temporaryStorage({ clock: { now: () => now } })
    await storage.write((tx) => tx.rememberToken('t', 'hash', NOW + 600_000))
    const failed = storage.write((tx) => {
      tx.rememberToken('u', 'hash', NOW + 600_000)
      throw conditionalCheckFailed()
    })
    await expect(failed).rejects.toThrow('The conditional request failed')
    expect(await storage.write((tx) => tx.token('t'))).toEqual({
      hash: 'hash',
      expiresAt: NOW + 600_000,
    })
    expect(await storage.write((tx) => tx.token('u'))).toBeUndefined()
    now += 600_001
    expect(await storage.write((tx) => tx.token('t'))).toBeUndefined()
    await storage.sweep()
    expect(storage.environment.meta.getKeysCount({ start: ['token'], end: ['tokenz'] })).toBe(0)
  })
})

async function filled(): Promise<{ storage: OpenStorage; table: TableRecord }> {
  const storage = temporaryStorage()
  const table = await storage.createTable(ORDERS)
  await storage.write((tx) => {
    for (const customer of ['ada', 'bob', 'eve']) {
      for (let i = 0; i < 20; i++) {
        const order = String(i).padStart(3, '0')
        const status = i % 2 === 0 ? 'open' : 'done'
        tx.put(table, { customer, order, status, total: i - 10 }, undefined)
      }
    }
  })
  return { storage, table }
}

function countBy(values: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

describe('a commit of many writes', () => {
  test('settles them in order and in several turns of the event loop', async () => {
    const storage = openStorage({ directory: temporaryDirectory(), sweepIntervalMs: 0 })
    onTestFinished(() => storage.close())
    let turn = 0
    let isDone = false
    const countTurns = () => {
      turn += 1
      if (!isDone) setImmediate(countTurns)
    }
    setImmediate(countTurns)
    const settled: { write: number; turn: number }[] = []
    const writes = Array.from({ length: 400 }, async (_, write) => {
      await storage.write(() => {
        // One of them fails, which changes nothing for the others.
        if (write === 5) throw new Error('refused')
      })
      settled.push({ write, turn })
    })
    const [failed] = (await Promise.allSettled(writes)).filter(
      ({ status }) => status === 'rejected',
    )
    isDone = true
    expect(failed).toMatchObject({ reason: new Error('refused') })
    const order = settled.map(({ write }) => write)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(order).toHaveLength(399)
    const perTurn = countBy(settled.map((each) => each.turn))
    // The counter may come before or after the promises of its turn.
    expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(192)
    expect(perTurn.size).toBeGreaterThan(3)
  })

  test('is settled completely before the storage is closed', async () => {
    const storage = openStorage({ directory: temporaryDirectory(), sweepIntervalMs: 0 })
    let settled = 0
    const writes = Array.from({ length: 100 }, () =>
      storage.write(() => undefined).then(() => (settled += 1)),
    )
    await storage.close()
    await Promise.all(writes)
    expect(settled).toBe(100)
  })
})

describe('reading a range', () => {
  const conditions: [RangeQuery['sort'], number[]][] = [
    [{ op: '=', values: ['005'] }, [5]],
    [{ op: '<', values: ['002'] }, [0, 1]],
    [{ op: '<=', values: ['002'] }, [0, 1, 2]],
    [{ op: '>', values: ['017'] }, [18, 19]],
    [{ op: '>=', values: ['017'] }, [17, 18, 19]],
    [{ op: 'BETWEEN', values: ['003', '005'] }, [3, 4, 5]],
    [{ op: 'BETWEEN', values: ['005', '003'] }, []],
    [{ op: 'begins_with', values: ['01'] }, [10, 11, 12, 13, 14, 15, 16, 17, 18, 19]],
  ]

  test.each(conditions)(
    'a table answers the sort condition %j, also backwards',
    async (sort, orders) => {
      const { storage, table } = await filled()
      const read = (reverse: boolean): number[] =>
        [...storage.range(table, undefined, { partition: 'bob', sort: sort!, reverse })].map(
          (item) => Number(item['order']),
        )
      expect(read(false)).toEqual(orders)
      expect(read(true)).toEqual(orders.toReversed())
    },
  )

  test('an index returns items in the order of its sort key, negative numbers first, and in reverse', async () => {
    const { storage, table } = await filled()
    const read = (query: RangeQuery): Value[] =>
      [...storage.range(table, table.indexes[0], query)].map((item) => item['total']!)
    const between: RangeQuery['sort'] = { op: 'BETWEEN', values: [-4, 2] }
    const expected = [-4, -4, -4, -2, -2, -2, 0, 0, 0, 2, 2, 2]
    expect(read({ partition: 'open', sort: between })).toEqual(expected)
    expect(read({ partition: 'open', sort: between, reverse: true })).toEqual(expected.toReversed())
    expect(read({ partition: 'open', sort: { op: '>', values: [6] } })).toEqual([8, 8, 8])
    expect(read({ partition: 'open', sort: { op: '=', values: [1] } })).toEqual([])
  })

  test('pages of any size, forwards and backwards, through table and index, give everything once', async () => {
    const { storage, table } = await filled()
    for (const index of [undefined, table.indexes[0]]) {
      for (const partition of [undefined, index === undefined ? 'eve' : 'done']) {
        for (const reverse of [false, true]) {
          const base: RangeQuery = { reverse, ...(partition !== undefined && { partition }) }
          const all = [...storage.range(table, index, base)]
          const paged: Item[] = []
          for (let startKey: Item | undefined; ;) {
            const query: RangeQuery = { ...base, ...(startKey && { startKey }) }
            const page = firstOf(storage.range(table, index, query), 7)
            if (page.length === 0) break
            paged.push(...page)
            startKey = page.at(-1)!
          }
          expect(paged).toEqual(all)
        }
      }
    }
  })

  test('a page starts after a key whose item is gone', async () => {
    const { storage, table } = await filled()
    const startKey = { customer: 'ada', order: '0045' }
    const rest = [...storage.range(table, undefined, { partition: 'ada', startKey })]
    expect(rest.map((item) => item['order'])[0]).toBe('005')
    expect(rest).toHaveLength(15)
  })

  test('scan segments are disjoint and together complete', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await storage.write((tx) => {
      for (let i = 0; i < 500; i++) tx.put(table, { id: `id-${i}` }, undefined)
    })
    const parts = Array.from({ length: 7 }, (_, index) => [
      ...storage.range(table, undefined, { segment: { index, total: 7 } }),
    ])
    const ids = parts.flat().map((item) => item['id'])
    expect(ids).toHaveLength(500)
    expect(new Set(ids).size).toBe(500)
  })

  test('scan segments adjoin, up to a million of them', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    const total = 1_000_000
    const bounds = (index: number) => boundsOf(table, undefined, { segment: { index, total } })
    const whole = boundsOf(table, undefined, {})
    // The first one has the lowest hash; nothing lies below it.
    expect(Buffer.compare(bounds(0).low.subarray(0, 4), whole.low)).toBe(0)
    expect(bounds(total - 1).high).toEqual(whole.high)
    for (let index = 0; index < total - 1; index += 997) {
      expect(bounds(index).high.equals(bounds(index + 1).low)).toBe(true)
    }
  })

  test('a range is one snapshot: writes during the loop do not show in it', async () => {
    const { storage, table } = await filled()
    const seen: Value[] = []
    for (const item of storage.range(table, table.indexes[0], { partition: 'open' })) {
      if (seen.length === 0) {
        await storage.write((tx) => {
          for (let i = 0; i < 20; i++) {
            const old = tx.get(table, { customer: 'ada', order: String(i).padStart(3, '0') })!
            tx.delete(table, old)
          }
        })
        storage.refresh()
      }
      seen.push(item['customer']!)
    }
    expect(seen).toHaveLength(30)
    expect([...storage.range(table, table.indexes[0], { partition: 'open' })]).toHaveLength(20)
  })

  test('a loop that stops early releases its snapshot', async () => {
    const { storage, table } = await filled()
    for (let i = 0; i < 1000; i++) firstOf(storage.range(table, table.indexes[0], {}), 1)
    await put(storage, table, { customer: 'zoe', order: '1' })
    expect(storage.environment.root.readerList().split('\n').length).toBeLessThan(10)
  })
})

function firstOf(items: Iterable<Item>, count: number): Item[] {
  const found: Item[] = []
  for (const item of items) {
    found.push(item)
    if (found.length === count) break
  }
  return found
}

describe('index entries', () => {
  test('an item without the key attribute, or with one of another type, is not in the index', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(ORDERS)
    const items: Item[] = [
      { customer: 'a', order: '1', status: 'open', total: 1 },
      { customer: 'a', order: '2', status: 'open' },
      { customer: 'a', order: '3', total: 1 },
      { customer: 'a', order: '4', status: 7, total: 1 },
      { customer: 'a', order: '5', status: 'open', total: 'one' },
      { customer: 'a', order: '6', status: '', total: 1 },
    ]
    for (const item of items) await put(storage, table, item)
    expect([...storage.range(table, table.indexes[0], {})]).toEqual([items[0]])
    expect(storage.count(table)).toBe(6)
  })

  test('an entry moves with its key attributes and goes with its item', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(ORDERS)
    const key = { customer: 'a', order: '1' }
    const read = (partition: string): Item[] => [
      ...storage.range(table, table.indexes[0], { partition }),
    ]
    await put(storage, table, { ...key, status: 'open', total: 1 })
    await put(storage, table, { ...key, status: 'done', total: 1, note: 'x' })
    expect(read('open')).toEqual([])
    expect(read('done')).toEqual([{ ...key, status: 'done', total: 1, note: 'x' }])
    await put(storage, table, { ...key, status: 'done', total: 1, note: 'y' })
    expect(read('done')).toEqual([{ ...key, status: 'done', total: 1, note: 'y' }])
    await storage.write((tx) => tx.delete(table, tx.get(table, key)!))
    expect(read('done')).toEqual([])
    expect(await checkStorage(storage)).toEqual({ items: 0, entries: 0, problems: [] })
  })

  test('the integrity check finds a missing entry, a stray entry and an unreadable item', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(ORDERS)
    const items = ['1', '2', '3'].map((order) => ({ customer: 'a', order, status: 's', total: 1 }))
    for (const item of items) await put(storage, table, item)
    const { root } = storage.environment
    const raw = { keyEncoding: 'binary', encoding: 'binary' } as const
    const entries = root.openDB<Uint8Array, Uint8Array>('entries', raw)
    const stored = root.openDB<Uint8Array, Uint8Array>('items', raw)
    const keys = [...entries.getKeys({ start: Buffer.of(0) })]
    await entries.remove(keys[0]!)
    const stray = Buffer.from(keys[1]!)
    stray[stray.length - 1] = 0x39
    await entries.put(stray, entries.get(keys[1]!)!)
    await stored.put([...stored.getKeys({ start: Buffer.of(0) })][2]!, Buffer.of(1, 0, 0, 0, 1, 1))
    const { problems } = await checkStorage(storage)
    expect(problems).toEqual([
      'An item of table "orders" has no entry in index "by-status"',
      expect.stringContaining(
        'An item of table "orders" cannot be read: Cannot decode stored item',
      ),
      'An entry in index "by-status" of table "orders" does not belong to any item',
      expect.stringMatching(/^Table "orders" has 2 items of 58 bytes, but its stored count is 3 /),
      expect.stringMatching(/^Index "by-status" of table "orders" has 1 items of 29 bytes, but /),
    ])
  })
})

describe('closing', () => {
  test('queued writes are finished first, later calls are refused clearly, closing twice is fine', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const storage = openStorage({ directory, sweepIntervalMs: 0 })
    const table = await storage.createTable(COUNTERS)
    const writes = Array.from({ length: 50 }, (_, i) => storage.overwrite(table, { id: `${i}` }))
    await Promise.all([storage.close(), storage.close()])
    await Promise.all(writes)
    await expect(storage.overwrite(table, { id: 'late' })).rejects.toThrow('it was closed')
    expect(() => storage.get(table, { id: '0' })).toThrow('it was closed')
    expect(() => storage.range(table, undefined, {})).toThrow('it was closed')
    expect(() => storage.table('counters')).toThrow('it was closed')
    const again = openStorage({ directory, sweepIntervalMs: 0 })
    onTestFinished(() => again.close())
    expect(again.count(again.table('counters')!)).toBe(50)
  })

  test('one process may open a directory twice: both see all, and closing one leaves the other', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const one = openStorage({ directory, sweepIntervalMs: 0 })
    const two = openStorage({ directory, sweepIntervalMs: 0 })
    onTestFinished(() => two.close())
    const table = await one.createTable(COUNTERS)
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => increment(i % 2 === 0 ? one : two, table, 'a')),
    )
    expect(two.get(table, { id: 'a' }, { consistent: true })).toEqual({ id: 'a', n: 40 })
    await one.close()
    expect(await increment(two, table, 'a')).toBe(41)
  })
})

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkStorage } from '../../src/storage/check.ts'
import type { OpenStorage } from '../../src/storage/open-storage.ts'
import type { NewTable, RangeQuery, TableRecord } from '../../src/storage/storage.ts'
import type { Item } from '../../src/values/types.ts'
import { fixedClock, NOW, temporaryStorage } from '../support/programs/harness.ts'

// Random operations on a table with two indexes and a time to live, against a plain map.

const TABLE: NewTable = {
  name: 'model',
  keys: { partition: { name: 'p', type: 'S' }, sort: { name: 's', type: 'N' } },
  indexes: [
    {
      name: 'global',
      kind: 'global',
      keys: { partition: { name: 'g', type: 'B' }, sort: { name: 't', type: 'S' } },
      projection: { type: 'ALL' },
    },
    {
      name: 'local',
      kind: 'local',
      keys: { partition: { name: 'p', type: 'S' }, sort: { name: 't', type: 'S' } },
      projection: { type: 'INCLUDE', attributes: ['note'] },
    },
  ],
  ttl: { attribute: 'e' },
}

type Step =
  | { kind: 'put'; items: Item[] }
  | { kind: 'delete'; key: Item }
  | { kind: 'failed'; items: Item[] }
  | { kind: 'sweep'; seconds: number }

const key = fc.record({ p: fc.constantFrom('a', 'b', 'ü'), s: fc.integer({ min: -3, max: 3 }) })
const anyItem: fc.Arbitrary<Item> = fc
  .tuple(
    key,
    fc.record(
      {
        g: fc.constantFrom(Uint8Array.of(0), Uint8Array.of(0, 0), Uint8Array.of(255), 'wrong type'),
        t: fc.constantFrom('', 'x', 'x\0', 'x\0y', 'y', 7),
        e: fc.oneof(
          fc.integer({ min: -20, max: 200 }).map((n) => NOW / 1000 + n),
          fc.constant('no'),
        ),
        note: fc.string(),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([keys, rest]) => ({ ...keys, ...rest }))
const items = fc.uniqueArray(anyItem, {
  minLength: 1,
  maxLength: 3,
  selector: (item) => keyText(item),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('put' as const), items }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('failed' as const), items }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('sweep' as const), seconds: fc.nat(30) }),
  },
)

function keyText(item: Item): string {
  return JSON.stringify([item['p'], item['s']])
}

function apply(storage: OpenStorage, table: TableRecord, change: Step): Promise<unknown> {
  return storage.write((tx) => {
    if (change.kind === 'delete') {
      const old = tx.get(table, change.key)
      if (old !== undefined) tx.delete(table, old)
    } else if (change.kind !== 'sweep') {
      for (const item of change.items) tx.put(table, item, tx.get(table, item))
      if (change.kind === 'failed') throw new Error('refused')
    }
  })
}

function expected(model: Map<string, Item>, index: number | undefined, query: RangeQuery): Item[] {
  const keys = index === undefined ? TABLE.keys : TABLE.indexes[index]!.keys
  const found = [...model.values()].filter((item) => {
    if (index === undefined) return item['p'] === query.partition
    const partition = item[keys.partition.name]
    const sort = item['t']
    if (typeof sort !== 'string' || sort === '' || typeof partition === 'undefined') return false
    return index === 1
      ? partition === query.partition
      : partition instanceof Uint8Array &&
          Buffer.compare(partition, query.partition as Uint8Array) === 0
  })
  return found.toSorted((a, b) => {
    const [x, y] = [a[keys.sort!.name]!, b[keys.sort!.name]!]
    const first =
      typeof x === 'number'
        ? x - (y as number)
        : Buffer.compare(Buffer.from(x as string), Buffer.from(y as string))
    return first
  })
}

describe('storage against a plain map', () => {
  test('after any sequence of writes, refused writes, deletions and expiry all reads agree', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 8 }),
        async (rounds) => {
          const clock = fixedClock()
          const storage = temporaryStorage({ clock })
          const table = await storage.createTable(TABLE)
          const model = new Map<string, Item>()
          for (const round of rounds) {
            // Those of one round share a commit.
            await Promise.allSettled(round.map((change) => apply(storage, table, change)))
            for (const change of round) {
              if (change.kind === 'put')
                for (const item of change.items) model.set(keyText(item), item)
              if (change.kind === 'delete') model.delete(keyText(change.key))
              if (change.kind === 'sweep') clock.advance(change.seconds * 1000)
            }
            await storage.sweep()
            for (const [name, item] of model) {
              const expiry = item['e']
              if (typeof expiry === 'number' && expiry < Math.floor(clock.now() / 1000))
                model.delete(name)
            }
          }
          expect(storage.count(table)).toBe(model.size)
          for (const partition of ['a', 'b', 'ü']) {
            const query: RangeQuery = { partition }
            expect([...storage.range(table, undefined, query)]).toEqual(
              expected(model, undefined, query),
            )
            const local = [...storage.range(table, table.indexes[1], query)]
            expect(local.map((item) => item['t'])).toEqual(
              expected(model, 1, query).map((item) => item['t']),
            )
          }
          for (const partition of [Uint8Array.of(0), Uint8Array.of(0, 0), Uint8Array.of(255)]) {
            const query: RangeQuery = { partition }
            const global = [...storage.range(table, table.indexes[0], query)]
            expect(global.map((item) => item['t'])).toEqual(
              expected(model, 0, query).map((item) => item['t']),
            )
            const backwards = [
              ...storage.range(table, table.indexes[0], { ...query, reverse: true }),
            ]
            expect(backwards).toEqual(global.toReversed())
          }
          expect((await checkStorage(storage)).problems).toEqual([])
          await storage.close()
        },
      ),
      { numRuns: process.env['SLOW'] === '1' ? 500 : 30 },
    )
  }, 120_000)
})

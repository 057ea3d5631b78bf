import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createTables } from '../src/tables.ts'
import type { Db, Item } from '../src/db.ts'
import { entity } from '../src/entity.ts'
import { expr } from '../src/expression.ts'
import { scanAll, scanPage } from '../src/paging.ts'
import { defineTable } from '../src/table.ts'
import { testStores } from '../src/testing/stores.ts'

const shelves = defineTable({
  name: 'shelves',
  description: 'Books on shelves',
  partitionKey: { name: 'PK', type: 'S' },
  sortKey: { name: 'SK', type: 'S' },
  pointInTimeRecovery: false,
})

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

const Book = z.object({ PK: z.string(), SK: z.string(), pages: z.number() })

describe.each(testStores())('a scan on $name', (store) => {
  let db: Db
  let close: () => Promise<void>

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [shelves])
    const books = entity(db, shelves, Book)
    for (let number = 0; number < 25; number++) {
      await books.put({ PK: `SHELF#${number % 5}`, SK: `BOOK#${number}`, pages: number })
    }
  })
  afterAll(() => close())

  const pages = (item: Item) => Number(item['pages'])
  const all = Array.from({ length: 25 }, (_, number) => number)
  const even = all.filter((number) => number % 2 === 0)
  const attr = () => entity(db, shelves, Book).attr
  const isLong = () => expr`${attr()('pages')} >= ${10}`
  const ascending = (numbers: number[]) => numbers.toSorted((a, b) => a - b)

  async function allPages(scan: Parameters<typeof scanPage>[2]) {
    const sizes: number[] = []
    const found: number[] = []
    let after: Item | undefined
    do {
      const page = await scanPage(db, shelves, { ...scan, after }, pages)
      sizes.push(page.items.length)
      found.push(...page.items)
      after = page.next
    } while (after)
    return { sizes, found: ascending(found) }
  }

  test('returns every item once, however small its reads are', async () => {
    for (const readSize of [undefined, 1, 7, 25, 100]) {
      const found = await collect(
        scanAll(db, shelves, readSize === undefined ? {} : { readSize }, pages),
      )
      expect(ascending(found)).toStrictEqual(all)
    }
  })

  test('returns only what its filter and projection select', async () => {
    const items = await collect(
      scanAll(
        db,
        shelves,
        { filter: isLong(), projection: expr`${attr()('pages')}` },
        (item) => item,
      ),
    )
    expect(ascending(items.map(pages))).toStrictEqual(all.slice(10))
    expect(new Set(items.flatMap(Object.keys))).toStrictEqual(new Set(['pages']))
  })

  test('in pages fills each of them but the last', async () => {
    const { sizes, found } = await allPages({ limit: 7 })
    expect(found).toStrictEqual(all)
    expect(sizes.filter((size) => size > 0)).toStrictEqual([7, 7, 7, 4])
  })

  test('in pages with a filter continues after the last item of the page', async () => {
    for (const readSize of [3, 200]) {
      const { sizes, found } = await allPages({ limit: 4, readSize, filter: isLong() })
      expect(found).toStrictEqual(all.slice(10))
      expect(sizes.filter((size) => size > 0)).toStrictEqual([4, 4, 4, 3])
    }
  })

  test('without a limit returns everything in one page', async () => {
    const isEven = expr`${attr()('pages')} IN (${0}, ${2}, ${4})`
    const page = await scanPage(db, shelves, { filter: isEven }, pages)
    expect(ascending(page.items)).toStrictEqual(even.slice(0, 3))
    expect(page.next).toBeUndefined()
  })
})

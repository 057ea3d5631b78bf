import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createTables } from '../src/tables.ts'
import type { Db } from '../src/db.ts'
import { ConditionFailed, ItemMismatch, TransactionFailed } from '../src/db-errors.ts'
import { type Entity, entity } from '../src/entity.ts'
import { transact } from '../src/transact.ts'
import { expr } from '../src/expression.ts'
import { defineTable } from '../src/table.ts'
import { testStores } from '../src/testing/stores.ts'

const boxes = defineTable({
  name: 'boxes',
  description: 'Boxes of a vault',
  partitionKey: { name: 'PK', type: 'S' },
  sortKey: { name: 'SK', type: 'S' },
  indexes: {
    GSI1: {
      partitionKey: { name: 'owner', type: 'S' },
      sortKey: { name: 'SK', type: 'S' },
      projection: 'ALL',
    },
  },
  pointInTimeRecovery: false,
})

const Box = z.object({
  PK: z.string().startsWith('VAULT#'),
  SK: z.string(),
  owner: z.string().optional(),
  coins: z.number().int().nonnegative(),
  log: z.array(z.string()).optional(),
})
type Box = z.infer<typeof Box>

describe.each(testStores())('an entity on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  let items: Entity<Box, Pick<Box, 'PK' | 'SK'>>
  let vault = 0

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [boxes])
    items = entity(db, boxes, Box)
  })
  afterAll(() => close())

  const newKey = () => ({ PK: `VAULT#${++vault}`, SK: 'BOX#1' })
  const absent = () => expr`attribute_not_exists(${items.attr('PK')})`

  test('stores exactly the attributes of the item, without the optional ones that are undefined', async () => {
    const key = newKey()
    await items.put({ ...key, coins: 3, owner: undefined })
    const { Item } = await db.getItem({ TableName: 'boxes', Key: key })
    expect(Item).toEqual({ ...key, coins: 3 })
    expect(Object.keys(Item ?? {})).not.toContain('owner')
  })

  test('returns what was put, and undefined for what was not', async () => {
    const key = newKey()
    await items.put({ ...key, coins: 3 })
    expect(await items.get(key)).toEqual({ ...key, coins: 3 })
    expect(await items.get({ ...key, SK: 'BOX#2' })).toBeUndefined()
    expect(await items.get(key, { eventual: true })).toEqual({ ...key, coins: 3 })
  })

  test('updates an item and returns the new one', async () => {
    const key = newKey()
    await items.put({ ...key, coins: 3 })
    const coins = items.attr('coins')
    expect(await items.update(key, expr`SET ${coins} = ${coins} - ${1}`)).toEqual({
      ...key,
      coins: 2,
    })
  })

  test('changes an item without returning it, if the condition holds', async () => {
    const key = newKey()
    await items.put({ ...key, coins: 1 })
    const coins = items.attr('coins')
    const take = () =>
      items.change(key, expr`SET ${coins} = ${coins} - ${1}`, expr`${coins} > ${0}`)
    expect(await take()).toBeUndefined()
    expect(await items.get(key)).toEqual({ ...key, coins: 0 })
    await expect(take()).rejects.toMatchObject({ name: 'ConditionFailed', item: { coins: 0 } })
  })

  test('deletes an item and returns it, or undefined', async () => {
    const key = newKey()
    await items.put({ ...key, coins: 3 })
    expect(await items.delete(key)).toEqual({ ...key, coins: 3 })
    expect(await items.delete(key)).toBeUndefined()
  })

  test('reports a failed condition with the stored item, and changes nothing', async () => {
    const key = newKey()
    await items.put({ ...key, coins: 0 })
    const coins = items.attr('coins')
    const failures = await Promise.allSettled([
      items.put({ ...key, coins: 9 }, absent()),
      items.update(key, expr`SET ${coins} = ${coins} - ${1}`, expr`${coins} > ${0}`),
      items.delete(key, expr`${coins} > ${0}`),
    ])
    for (const failure of failures) {
      const { reason } = failure as { reason?: ConditionFailed }
      expect(reason).toBeInstanceOf(ConditionFailed)
      expect(items.parse(reason?.item ?? {})).toEqual({ ...key, coins: 0 })
    }
    expect(await items.get(key)).toEqual({ ...key, coins: 0 })
  })

  test('gives the last coin to exactly one of twenty concurrent callers', async () => {
    const key = newKey()
    await items.put({ ...key, coins: 1 })
    const coins = items.attr('coins')
    const take = () =>
      items.update(key, expr`SET ${coins} = ${coins} - ${1}`, expr`${coins} > ${0}`)
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, take))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('rejects a write that does not match the schema, naming the attributes and not their values', async () => {
    const key = newKey()
    const wrong = { ...key, coins: -7.5, colour: 'secret-red' } as unknown as Box
    const error = await items.put(wrong).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ItemMismatch)
    expect(error).toMatchObject({ table: 'boxes', key, attributes: ['coins', 'colour'] })
    expect(String(error)).not.toMatch(/7\.5|secret-red/)
    expect(await items.get(key)).toBeUndefined()
  })

  test('rejects a damaged or foreign item when reading, naming table and key', async () => {
    const key = newKey()
    await db.putItem({ TableName: 'boxes', Item: { ...key, coins: 'many' } })
    const error = await items.get(key).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ItemMismatch)
    expect(error).toMatchObject({ table: 'boxes', key, attributes: ['coins'] })
    expect(String(error)).not.toContain('many')
  })

  test('keeps open attribute names where the schema allows them', async () => {
    const Labelled = z.object({ PK: z.string(), SK: z.string() }).catchall(z.string())
    const open = entity(db, boxes, Labelled)
    const key = newKey()
    await open.put({ ...key, 'aws-crypto-ec:tenant': 'x' })
    expect(await open.get(key)).toEqual({ ...key, 'aws-crypto-ec:tenant': 'x' })
    const unseen = { ...key, ['__proto__']: 'x' }
    expect(() => open.parse(unseen)).toThrow('check __proto__')
    await expect(open.put(unseen)).rejects.toMatchObject({ attributes: ['__proto__'] })
  })

  describe('in a transaction', () => {
    test('writes all parts or none and reports which condition failed', async () => {
      const [first, second] = [newKey(), newKey()]
      await items.put({ ...second, coins: 1 })
      const error = await transact(db, [
        items.part.put({ ...first, coins: 5 }, absent()),
        items.part.put({ ...second, coins: 5 }, absent()),
      ]).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(TransactionFailed)
      const failure = error as TransactionFailed
      expect([0, 1].map((part) => failure.conditionFailed(part))).toEqual([false, true])
      expect(failure.reasons[1]?.item).toEqual({ ...second, coins: 1 })
      expect(await items.get(first)).toBeUndefined()
    })

    test('puts, updates, deletes and checks together', async () => {
      const [a, b, c, d] = [newKey(), newKey(), newKey(), newKey()]
      for (const key of [b, c, d]) await items.put({ ...key, coins: 1 })
      const coins = items.attr('coins')
      await transact(db, [
        items.part.put({ ...a, coins: 1 }),
        items.part.update(b, expr`SET ${coins} = ${coins} + ${1}`, expr`${coins} = ${1}`),
        items.part.delete(c),
        items.part.check(d, expr`${coins} = ${1}`),
      ])
      expect(await Promise.all([a, b, c, d].map((key) => items.get(key)))).toEqual([
        { ...a, coins: 1 },
        { ...b, coins: 2 },
        undefined,
        { ...d, coins: 1 },
      ])
    })

    test('is executed once however often it is sent with the same token', async () => {
      const key = newKey()
      await items.put({ ...key, coins: 0 })
      const coins = items.attr('coins')
      const add = [items.part.update(key, expr`SET ${coins} = ${coins} + ${1}`)]
      const token = `token-${key.PK}`
      await transact(db, add, { token })
      await transact(db, add, { token })
      expect((await items.get(key))?.coins).toBe(1)
    })
  })

  describe('in pages', () => {
    const SK = (number: number) => `BOX#${String(number).padStart(3, '0')}`

    async function fill(count: number) {
      const { PK } = newKey()
      const numbers = Array.from({ length: count }, (_, index) => index)
      await Promise.all(numbers.map((n) => items.put({ PK, SK: SK(n), coins: n, owner: PK })))
      return PK
    }

    async function readAll(query: Parameters<typeof items.query>[0]) {
      const pages: number[][] = []
      let after: Parameters<typeof items.query>[0]['after']
      do {
        const page = await items.query({ ...query, after })
        pages.push(page.items.map(({ coins }) => coins))
        after = page.next
      } while (after)
      return pages
    }

    test('lists newest first, nothing skipped or repeated', async () => {
      const key = expr`${items.attr('PK')} = ${await fill(7)}`
      const pages = await readAll({ key, newestFirst: true, limit: 3 })
      expect(pages.flat()).toEqual([6, 5, 4, 3, 2, 1, 0])
      expect(pages[0]).toEqual([6, 5, 4])
    })

    test('lists a whole partition without a limit', async () => {
      const key = expr`${items.attr('PK')} = ${await fill(7)}`
      expect((await items.query({ key })).items).toHaveLength(7)
    })

    test('a filter does not end a page early, nor skip or repeat an item', async () => {
      const key = expr`${items.attr('PK')} = ${await fill(250)}`
      const filter = expr`${items.attr('coins')} IN (${3}, ${100}, ${101}, ${230}, ${249})`
      const pages = await readAll({ key, filter, limit: 2 })
      expect(pages.filter((page) => page.length > 0)).toEqual([[3, 100], [101, 230], [249]])
    })

    test('lists an index with a filter from where the last page ended', async () => {
      const key = expr`${items.attr('owner')} = ${await fill(9)}`
      const filter = expr`${items.attr('coins')} > ${1}`
      const pages = await readAll({ key, filter, index: 'GSI1', limit: 3 })
      expect(pages.flat()).toEqual([2, 3, 4, 5, 6, 7, 8])
    })
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTables } from '../src/tables.ts'
import type { Db, Value } from '../src/db.ts'
import { NumberValue } from '../src/number-value.ts'
import { defineTable } from '../src/table.ts'
import { testStores } from '../src/testing/stores.ts'

const table = defineTable({
  name: 'things',
  description: 'Anything at all',
  partitionKey: { name: 'id', type: 'S' },
  pointInTimeRecovery: false,
})

describe.each(testStores())('a Db on $name', (store) => {
  let db: Db
  let close: () => Promise<void>

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [table])
  })
  afterAll(() => close())

  const put = (value: unknown) =>
    db.putItem({ TableName: 'things', Item: { id: 'x', value: value as Value } })

  async function stored(value: Value): Promise<Value | undefined> {
    await put(value)
    return (await db.getItem({ TableName: 'things', Key: { id: 'x' }, ConsistentRead: true })).Item
      ?.value
  }

  test.each<{ what: string; value: Value }>([
    { what: 'a string', value: 'héllo 🔑' },
    { what: 'an empty string', value: '' },
    { what: 'an integer', value: 42 },
    { what: 'a decimal', value: 0.1 },
    { what: 'a number above the safe integers', value: 1e21 },
    { what: 'bytes', value: new Uint8Array([0, 255, 7]) },
    { what: 'a boolean', value: false },
    { what: 'null', value: null },
    { what: 'a list', value: ['a', 1, [true, null]] },
    { what: 'a map', value: { a: 1, b: { c: 'x' } } },
    { what: 'a map that looks like a number', value: { value: '12' } },
    { what: 'a set of strings', value: new Set(['a', 'b']) },
    { what: 'a set of numbers', value: new Set([1, 2.5]) },
  ])('returns $what unchanged', async ({ value }) => {
    expect(await stored(value)).toEqual(value)
  })

  test('returns a set of bytes', async () => {
    const value = (await stored(new Set([new Uint8Array([1])]))) as Set<Uint8Array>
    expect([...value].map((bytes) => [...bytes])).toEqual([[1]])
  })

  test('keeps 38 digits as a NumberValue', async () => {
    const digits = '12345678901234567890123456789012345678'
    const value = await stored(new NumberValue(digits))
    expect(value).not.toBeTypeOf('number')
    expect(String(value)).toBe(digits)
  })

  test('returns a plain number wherever a plain number is exact', async () => {
    expect(await stored(new NumberValue('12.50'))).toBe(12.5)
  })

  test('mixes plain and long numbers in one set', async () => {
    const value = await stored(new Set([1, new NumberValue('12345678901234567890.5')]))
    expect([...(value as Set<unknown>)].map(String).toSorted()).toEqual([
      '1',
      '12345678901234567890.5',
    ])
  })

  test.each([
    { what: 'undefined', value: undefined },
    { what: 'undefined in a map', value: { a: undefined } },
    { what: 'undefined in a list', value: [undefined] },
    { what: 'NaN', value: Number.NaN },
    { what: 'infinity', value: Number.POSITIVE_INFINITY },
    { what: 'a function', value: () => 1 },
    { what: 'a date', value: new Date(0) },
    { what: 'a bigint', value: 1n },
  ])('rejects $what and writes nothing', async ({ value }) => {
    await stored('before')
    await expect(put(value)).rejects.toThrow()
    const { Item } = await db.getItem({ TableName: 'things', Key: { id: 'x' } })
    expect(Item).toEqual({ id: 'x', value: 'before' })
  })

  test('puts the old item, with plain values, into the error of a failed condition', async () => {
    await stored(7)
    const write = db.putItem({
      TableName: 'things',
      Item: { id: 'x' },
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    })
    await expect(write).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
      Item: { id: 'x', value: 7 },
    })
  })

  test('puts the old items, with plain values, into the reasons of a cancelled transaction', async () => {
    await stored(7)
    const condition = {
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const
    const write = db.transactWriteItems({
      TransactItems: [
        { Put: { TableName: 'things', Item: { id: 'new' } } },
        { Put: { TableName: 'things', Item: { id: 'x' }, ...condition } },
      ],
    })
    await expect(write).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Item: { id: 'x', value: 7 } },
      ],
    })
  })
})

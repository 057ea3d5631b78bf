/** ReturnConsumedCapacity: real figures, by table and by index. */
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { type Item, text, useTable, write } from './harness.ts'
import { expected, type Target } from './target.ts'

export function consumedCapacity(target: Target): void {
  const { client } = target

  describe('consumed capacity', () => {
    const table = useTable(target, {
      key: { pk: 'S', sk: 'S' },
      global: { 'by-owner': { key: { g: 'S' }, project: ['a'] } },
      local: { 'by-time': { key: { pk: 'S', l: 'S' } } },
    })
    const TOTAL = { TableName: table, ReturnConsumedCapacity: 'TOTAL' } as const
    const INDEXES = { TableName: table, ReturnConsumedCapacity: 'INDEXES' } as const
    const key = (pk: string): Item => ({ pk: { S: pk }, sk: { S: '1' } })
    const sized = (pk: string, bytes: number): Item => ({
      ...key(pk),
      body: { S: text(bytes - 'pk'.length - pk.length - 'sk1'.length - 'body'.length) },
    })
    const units = (CapacityUnits: number) => ({ TableName: table, CapacityUnits })

    describe('of a read', () => {
      const reads: [bytes: number, consistent: number][] = [
        [100, 1],
        [4096, 1],
        [4097, 2],
        [8192, 2],
        [100_000, 25],
      ]
      for (const [bytes, consistent] of reads) {
        test(`of ${bytes} bytes is ${consistent} units, or half when not consistent`, async () => {
          const Item = sized('read', bytes)
          await client.send(new PutItemCommand({ TableName: table, Item }))
          const get = (ConsistentRead: boolean) =>
            client.send(new GetItemCommand({ ...TOTAL, Key: key('read'), ConsistentRead }))
          expect((await get(true)).ConsumedCapacity).toEqual(units(consistent))
          expect((await get(false)).ConsumedCapacity).toEqual(units(consistent / 2))
        })
      }

      test('of a missing item is one unit, or half', async () => {
        const get = (ConsistentRead: boolean) =>
          client.send(new GetItemCommand({ ...TOTAL, Key: key('nobody'), ConsistentRead }))
        expect((await get(true)).ConsumedCapacity).toEqual(units(1))
        expect((await get(false)).ConsumedCapacity).toEqual(units(0.5))
      })

      test('does not shrink with a projection', async () => {
        await client.send(new PutItemCommand({ TableName: table, Item: sized('shrunk', 8000) }))
        const output = await client.send(
          new GetItemCommand({ ...TOTAL, Key: key('shrunk'), ProjectionExpression: 'pk' }),
        )
        expect(output.ConsumedCapacity).toEqual(units(1))
      })

      test('names the table with INDEXES', async () => {
        const output = await client.send(new GetItemCommand({ ...INDEXES, Key: key('nobody') }))
        expect(output.ConsumedCapacity).toEqual({ ...units(0.5), Table: { CapacityUnits: 0.5 } })
      })
    })

    describe('of a query or scan', () => {
      const other = useTable(
        target,
        { key: { pk: 'S', sk: 'N' } },
        Array.from({ length: 10 }, (_, n) => ({
          pk: { S: 'p' },
          sk: { N: `${n}` },
          body: { S: text(1000) },
        })),
      )
      const query = (input: object) =>
        client.send(
          new QueryCommand({
            TableName: other,
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: { ':p': { S: 'p' } },
            ReturnConsumedCapacity: 'TOTAL',
            ...input,
          }),
        )

      test('sums the sizes before it rounds', async () => {
        expect((await query({})).ConsumedCapacity?.CapacityUnits).toBe(1.5)
        expect((await query({ ConsistentRead: true })).ConsumedCapacity?.CapacityUnits).toBe(3)
      })

      test('counts what was read, not what was returned', async () => {
        const filtered = await query({ FilterExpression: 'attribute_exists(nowhere)' })
        expect(filtered).toMatchObject({ Count: 0, ConsumedCapacity: { CapacityUnits: 1.5 } })
        const limited = await query({ Limit: 2 })
        expect(limited.ConsumedCapacity?.CapacityUnits).toBe(0.5)
        const scanned = await client.send(
          new ScanCommand({ TableName: other, ReturnConsumedCapacity: 'TOTAL', Select: 'COUNT' }),
        )
        expect(scanned.ConsumedCapacity?.CapacityUnits).toBe(1.5)
      })

      test('of nothing is half a unit', async () => {
        const output = await query({ ExpressionAttributeValues: { ':p': { S: 'nobody' } } })
        expect(output.ConsumedCapacity?.CapacityUnits).toBe(
          expected(target, 'units-of-nothing', 0.5, 0),
        )
      })

      test('of an index counts the index', async () => {
        await write(target, table, [{ ...key('indexed'), g: { S: 'indexed' } }])
        const output = await client.send(
          new QueryCommand({
            ...INDEXES,
            IndexName: 'by-owner',
            KeyConditionExpression: 'g = :g',
            ExpressionAttributeValues: { ':g': { S: 'indexed' } },
          }),
        )
        expect(output.ConsumedCapacity).toEqual({
          ...units(0.5),
          Table: { CapacityUnits: 0 },
          GlobalSecondaryIndexes: { 'by-owner': { CapacityUnits: 0.5 } },
        })
      })
    })

    describe('of a query for attributes that a local index does not project', () => {
      const other = useTable(
        target,
        {
          key: { pk: 'S', sk: 'N' },
          local: { 'by-time': { key: { pk: 'S', l: 'S' }, project: 'KEYS_ONLY' } },
        },
        [0, 1, 2].map((n) => ({
          pk: { S: 'p' },
          sk: { N: `${n}` },
          l: { S: `${n}` },
          body: { S: text(5000) },
        })),
      )
      const rows: [what: string, input: object, index: number, fetched: number][] = [
        ['counts the index, and each item that is fetched', { Select: 'ALL_ATTRIBUTES' }, 0.5, 3],
        [
          'counts twice as much when consistent',
          { ProjectionExpression: 'body', ConsistentRead: true },
          1,
          6,
        ],
        ['counts the index alone when nothing is fetched', { Select: 'COUNT' }, 0.5, 0],
      ]
      for (const [what, input, index, fetched] of rows) {
        test(what, async () => {
          const { ConsumedCapacity } = await client.send(
            new QueryCommand({
              TableName: other,
              IndexName: 'by-time',
              KeyConditionExpression: 'pk = :p',
              ExpressionAttributeValues: { ':p': { S: 'p' } },
              ReturnConsumedCapacity: 'INDEXES',
              ...input,
            }),
          )
          expect(ConsumedCapacity).toEqual({
            TableName: other,
            CapacityUnits: index + fetched,
            Table: { CapacityUnits: fetched },
            LocalSecondaryIndexes: { 'by-time': { CapacityUnits: index } },
          })
        })
      }
    })

    describe('of a write', () => {
      const writes: [bytes: number, units: number][] = [
        [100, 1],
        [1024, 1],
        [1025, 2],
        [10_240, 10],
      ]
      for (const [bytes, consumed] of writes) {
        test(`of ${bytes} bytes is ${consumed} units`, async () => {
          const name = `write ${bytes}`
          const put = await client.send(new PutItemCommand({ ...TOTAL, Item: sized(name, bytes) }))
          expect(put.ConsumedCapacity).toEqual(units(consumed))
          const remove = await client.send(new DeleteItemCommand({ ...TOTAL, Key: key(name) }))
          expect(remove.ConsumedCapacity).toEqual(units(consumed))
        })
      }

      test('counts the larger of the old and the new item', async () => {
        await client.send(new PutItemCommand({ TableName: table, Item: sized('shrinks', 5000) }))
        const put = await client.send(new PutItemCommand({ ...TOTAL, Item: key('shrinks') }))
        expect(put.ConsumedCapacity).toEqual(units(5))
        const update = await client.send(
          new UpdateItemCommand({
            ...TOTAL,
            Key: key('shrinks'),
            UpdateExpression: 'SET body = :b',
            ExpressionAttributeValues: { ':b': { S: text(3000) } },
          }),
        )
        expect(update.ConsumedCapacity).toEqual(units(3))
      })

      test('of a missing item is one unit', async () => {
        const output = await client.send(new DeleteItemCommand({ ...TOTAL, Key: key('nobody') }))
        expect(output.ConsumedCapacity).toEqual(units(1))
      })

      const put = (Item: Item) => client.send(new PutItemCommand({ ...INDEXES, Item }))
      const update = (pk: string, UpdateExpression: string, value?: string) =>
        client.send(
          new UpdateItemCommand({
            ...INDEXES,
            Key: key(pk),
            UpdateExpression,
            ...(value && { ExpressionAttributeValues: { ':v': { S: value } } }),
          }),
        )
      const consumed = (total: number, global?: number, local?: number) => ({
        ...units(total),
        Table: { CapacityUnits: 1 },
        ...(global && { GlobalSecondaryIndexes: { 'by-owner': { CapacityUnits: global } } }),
        ...(local && { LocalSecondaryIndexes: { 'by-time': { CapacityUnits: local } } }),
      })
      const indexed = (pk: string): Item => ({
        ...key(pk),
        g: { S: 'g' },
        l: { S: 'l' },
        a: { S: 'a' },
        b: { S: 'b' },
      })

      test('counts each index that the item is in', async () => {
        expect((await put(key('none'))).ConsumedCapacity).toEqual(consumed(1))
        expect((await put({ ...key('g'), g: { S: 'g' } })).ConsumedCapacity).toEqual(consumed(2, 1))
        expect((await put({ ...key('l'), l: { S: 'l' } })).ConsumedCapacity).toEqual(
          consumed(2, undefined, 1),
        )
        expect((await put(indexed('both'))).ConsumedCapacity).toEqual(consumed(3, 1, 1))
        const removed = await client.send(new DeleteItemCommand({ ...INDEXES, Key: key('both') }))
        expect(removed.ConsumedCapacity).toEqual(consumed(3, 1, 1))
      })

      test('counts an index only when what it holds changes', async () => {
        await put(indexed('same'))
        expect((await put(indexed('same'))).ConsumedCapacity).toEqual(consumed(1))
        expect((await update('same', 'SET b = :v', 'other')).ConsumedCapacity).toEqual(
          consumed(2, undefined, 1),
        )
        expect((await update('same', 'SET a = :v', 'other')).ConsumedCapacity).toEqual(
          consumed(3, 1, 1),
        )
      })

      test('counts twice an index whose key changes', async () => {
        await put(indexed('moves'))
        expect((await update('moves', 'SET g = :v', 'elsewhere')).ConsumedCapacity).toEqual(
          consumed(4, 2, 1),
        )
        expect((await update('moves', 'REMOVE g')).ConsumedCapacity).toEqual(consumed(3, 1, 1))
      })
    })

    describe('of many items', () => {
      test('is listed by table', async () => {
        const wrote = await client.send(
          new BatchWriteItemCommand({
            RequestItems: {
              [table]: [
                { PutRequest: { Item: sized('batch 1', 2048) } },
                { PutRequest: { Item: key('batch 2') } },
              ],
            },
            ReturnConsumedCapacity: 'TOTAL',
          }),
        )
        expect(wrote.ConsumedCapacity).toEqual([units(3)])
        const readBack = await client.send(
          new BatchGetItemCommand({
            RequestItems: { [table]: { Keys: [key('batch 1'), key('batch 2'), key('nobody')] } },
            ReturnConsumedCapacity: 'TOTAL',
          }),
        )
        expect(readBack.ConsumedCapacity).toEqual([
          units(expected(target, 'units-of-nothing', 1.5, 1)),
        ])
      })

      test('in a transaction counts twice', async () => {
        const wrote = await client.send(
          new TransactWriteItemsCommand({
            TransactItems: [
              { Put: { TableName: table, Item: key('t 1') } },
              { Put: { TableName: table, Item: key('t 2') } },
            ],
            ReturnConsumedCapacity: 'TOTAL',
          }),
        )
        expect(wrote.ConsumedCapacity?.[0]?.CapacityUnits).toBe(
          expected(target, 'transaction-capacity', 4, 2),
        )
        const got = await client.send(
          new TransactGetItemsCommand({
            TransactItems: [
              { Get: { TableName: table, Key: key('t 1') } },
              { Get: { TableName: table, Key: key('t 2') } },
            ],
            ReturnConsumedCapacity: 'TOTAL',
          }),
        )
        expect(got.ConsumedCapacity?.[0]?.CapacityUnits).toBe(4)
      })
    })

    test('in a transaction is listed by index, read or written', async () => {
      const Put = { TableName: table, Item: { ...key('t 3'), g: { S: 'g' } } }
      const wrote = await client.send(
        new TransactWriteItemsCommand({
          TransactItems: [{ Put }],
          ReturnConsumedCapacity: 'INDEXES',
        }),
      )
      const twice = expected(
        target,
        'transaction-capacity',
        (count: number) => ({ CapacityUnits: 2 * count, WriteCapacityUnits: 2 * count }),
        (count: number) => ({ CapacityUnits: 2 * count }),
      )
      expect(wrote.ConsumedCapacity).toEqual([
        {
          TableName: table,
          ...twice(2),
          Table: twice(1),
          GlobalSecondaryIndexes: { 'by-owner': twice(1) },
        },
      ])
    })

    test('of a batch is listed by index', async () => {
      const wrote = await client.send(
        new BatchWriteItemCommand({
          RequestItems: {
            [table]: [
              { PutRequest: { Item: { ...key('b 1'), g: { S: 'g' }, l: { S: 'l' } } } },
              { PutRequest: { Item: { ...key('b 2'), g: { S: 'g' } } } },
            ],
          },
          ReturnConsumedCapacity: 'INDEXES',
        }),
      )
      expect(wrote.ConsumedCapacity).toEqual([
        {
          ...units(5),
          Table: { CapacityUnits: 2 },
          GlobalSecondaryIndexes: { 'by-owner': { CapacityUnits: 2 } },
          LocalSecondaryIndexes: { 'by-time': { CapacityUnits: 1 } },
        },
      ])
    })

    test('is not returned with NONE', async () => {
      const output = await client.send(
        new GetItemCommand({ TableName: table, Key: key('x'), ReturnConsumedCapacity: 'NONE' }),
      )
      expect(output.ConsumedCapacity).toBeUndefined()
    })
  })
}

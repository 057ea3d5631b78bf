/** ReturnItemCollectionMetrics: which partitions of a table with local indexes a write has changed. */
import {
  BatchWriteItemCommand,
  DeleteItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { testUnless, useTable } from './harness.ts'
import type { Target } from './target.ts'

export function itemCollections(target: Target): void {
  const { client } = target

  describe('item collection metrics', () => {
    const table = useTable(target, {
      key: { pk: 'S', sk: 'S' },
      local: { 'by-time': { key: { pk: 'S', l: 'S' } } },
    })
    const plain = useTable(target, { key: { pk: 'S', sk: 'S' } })
    const key = (pk: string, sk = '1') => ({ pk: { S: pk }, sk: { S: sk } })
    const metrics = (pk: string) => ({
      ItemCollectionKey: { pk: { S: pk } },
      SizeEstimateRangeGB: [expect.any(Number), expect.any(Number)],
    })
    const SIZE = { ReturnItemCollectionMetrics: 'SIZE' } as const

    testUnless(target, 'item-collection-metrics', 'name the partition of a write', async () => {
      const request = { TableName: table, ...SIZE }
      const put = await client.send(new PutItemCommand({ ...request, Item: key('one') }))
      expect(put.ItemCollectionMetrics).toEqual(metrics('one'))
      const update = await client.send(new UpdateItemCommand({ ...request, Key: key('two') }))
      expect(update.ItemCollectionMetrics).toEqual(metrics('two'))
      const remove = await client.send(new DeleteItemCommand({ ...request, Key: key('two') }))
      expect(remove.ItemCollectionMetrics).toEqual(metrics('two'))
    })

    const many = 'of many writes name each partition once, by table'
    testUnless(target, 'item-collection-metrics', many, async () => {
      const batch = await client.send(
        new BatchWriteItemCommand({
          RequestItems: {
            [table]: [
              { PutRequest: { Item: key('a') } },
              { PutRequest: { Item: key('a', '2') } },
              { DeleteRequest: { Key: key('b') } },
            ],
            [plain]: [{ PutRequest: { Item: key('a') } }],
          },
          ...SIZE,
        }),
      )
      expect(batch.ItemCollectionMetrics).toEqual({ [table]: [metrics('a'), metrics('b')] })
      const transaction = await client.send(
        new TransactWriteItemsCommand({
          TransactItems: [{ Put: { TableName: table, Item: key('c') } }],
          ...SIZE,
        }),
      )
      expect(transaction.ItemCollectionMetrics).toEqual({ [table]: [metrics('c')] })
    })

    test('are not returned for a table without local indexes, or if not requested', async () => {
      const of = async (input: object, TableName: string) =>
        (await client.send(new PutItemCommand({ TableName, Item: key('x'), ...input })))
          .ItemCollectionMetrics
      expect(await of(SIZE, plain)).toBeUndefined()
      expect(await of({}, table)).toBeUndefined()
      expect(await of({ ReturnItemCollectionMetrics: 'NONE' }, table)).toBeUndefined()
    })
  })
}

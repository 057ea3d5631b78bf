// The engine in this process, through its own interface with plain values.

import { performance } from 'node:perf_hooks'
import type { CreateTableInput } from '@strongroom/engine/db'
import { openEngine } from '@strongroom/engine/engine'
import type { System } from '../cases.ts'
import { keyOf, ORDER_PREFIX, orderOf, type Sample, TABLE } from '../data.ts'
import { inParallel } from '../parallel.ts'

export const TABLE_INPUT = {
  TableName: TABLE,
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  BillingMode: 'PAY_PER_REQUEST',
} satisfies CreateTableInput

const BATCH = 25

export async function engineSystem(directory: string, sample: Sample): Promise<System> {
  const started = performance.now()
  const engine = await openEngine({ directory })
  await engine.getItem({ TableName: TABLE, Key: sample.key(0) }).catch(() => undefined)
  const startMs = performance.now() - started

  return {
    startMs,
    calls: {
      get: (i) => engine.getItem({ TableName: TABLE, Key: sample.key(i) }),
      put: (i) => engine.putItem({ TableName: TABLE, Item: orderOf(sample.key(i), i) }),
      update: (i) =>
        engine.updateItem({
          TableName: TABLE,
          Key: sample.key(i),
          UpdateExpression: 'SET stock = stock - :quantity',
          ConditionExpression: 'stock >= :quantity',
          ExpressionAttributeValues: { ':quantity': 1 },
        }),
      transaction: (i) =>
        engine.transactWriteItems({
          TransactItems: sample.three(i).map((Item) => ({ Put: { TableName: TABLE, Item } })),
        }),
      query: (i) =>
        engine.query({
          TableName: TABLE,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: {
            ':pk': sample.key(i).pk,
            ':prefix': ORDER_PREFIX,
          },
        }),
    },
    async load(items) {
      await engine.createTable(TABLE_INPUT)
      await inParallel(Math.ceil(items / BATCH), 32, async (batch) => {
        const size = Math.min(BATCH, items - batch * BATCH)
        const requests = Array.from({ length: size }, (_, at) => ({
          PutRequest: { Item: orderOf(keyOf(batch * BATCH + at)) },
        }))
        await engine.batchWriteItem({ RequestItems: { [TABLE]: requests } })
      })
    },
    close: () => engine.close(),
  }
}

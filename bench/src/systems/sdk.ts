// Calls any DynamoDB through the AWS SDK, with the same requests.

import {
  type AttributeValue,
  BatchWriteItemCommand,
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { setTimeout } from 'node:timers/promises'
import type { Call, Case } from '../cases.ts'
import { keyOf, ORDER_PREFIX, orderOf, type Sample, TABLE } from '../data.ts'
import { inParallel } from '../parallel.ts'
import { TABLE_INPUT } from './engine.ts'

type Attributes = Record<string, AttributeValue>

/** Converts plain data to attribute values, for the types that the items have. */
function typed(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'number') return { N: String(value) }
  if (typeof value === 'boolean') return { BOOL: value }
  if (Array.isArray(value)) return { L: value.map(typed) }
  return { M: attributes(value as object) }
}

export function attributes(map: object): Attributes {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, typed(value)]))
}

export function sdkCalls(client: DynamoDBClient, sample: Sample): Record<Case, Call> {
  const key = (i: number): Attributes => attributes(sample.key(i))
  return {
    get: (i) => client.send(new GetItemCommand({ TableName: TABLE, Key: key(i) })),
    put: (i) => {
      const Item = attributes(orderOf(sample.key(i), i))
      return client.send(new PutItemCommand({ TableName: TABLE, Item }))
    },
    update: (i) =>
      client.send(
        new UpdateItemCommand({
          TableName: TABLE,
          Key: key(i),
          UpdateExpression: 'SET stock = stock - :quantity',
          ConditionExpression: 'stock >= :quantity',
          ExpressionAttributeValues: { ':quantity': { N: '1' } },
        }),
      ),
    transaction: (i) =>
      client.send(
        new TransactWriteItemsCommand({
          TransactItems: sample.three(i).map((order) => ({
            Put: { TableName: TABLE, Item: attributes(order) },
          })),
        }),
      ),
    query: (i) =>
      client.send(
        new QueryCommand({
          TableName: TABLE,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: {
            ':pk': { S: sample.key(i).pk },
            ':prefix': { S: ORDER_PREFIX },
          },
        }),
      ),
  }
}

const BATCH = 25

export async function sdkLoad(client: DynamoDBClient, count: number): Promise<void> {
  await client.send(new CreateTableCommand(TABLE_INPUT))
  await becomesActive(client)
  await inParallel(Math.ceil(count / BATCH), 8, async (batch) => {
    const size = Math.min(BATCH, count - batch * BATCH)
    const requests = Array.from({ length: size }, (_, at) => ({
      PutRequest: { Item: attributes(orderOf(keyOf(batch * BATCH + at))) },
    }))
    await client.send(new BatchWriteItemCommand({ RequestItems: { [TABLE]: requests } }))
  })
}

async function becomesActive(client: DynamoDBClient): Promise<void> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- asks until the answer is yes
    const { Table } = await client.send(new DescribeTableCommand({ TableName: TABLE }))
    if (Table?.TableStatus === 'ACTIVE') return
    // oxlint-disable-next-line no-await-in-loop
    await setTimeout(20)
  }
}

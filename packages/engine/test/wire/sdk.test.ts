import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ResourceNotFoundException,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { expect, test } from 'vitest'
import { embedded } from '../../src/wire/sdk.ts'
import { freshEngine, notes, plain, refusal } from '../support/engine.ts'

const putIfNew = {
  TableName: 'plain',
  Item: { id: { S: 'a' } },
  ConditionExpression: 'attribute_not_exists(id)',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
}

async function freshClient() {
  const engine = await freshEngine()
  const client = new DynamoDBClient({ ...embedded(engine) })
  return { engine, client }
}

test("the AWS SDK's client works on the engine, without a socket", async () => {
  const { client } = await freshClient()
  await client.send(new CreateTableCommand(notes))
  await waitUntilTableExists({ client, maxWaitTime: 30 }, { TableName: 'notes' })
  const Item = {
    pk: { S: 'p' },
    sk: { N: '1' },
    bytes: { B: new Uint8Array([1, 2]) },
    tags: { SS: ['a', 'b'] },
    list: { L: [{ NULL: true as const }, { BOOL: false }] },
    long: { N: '1234567890123456789012345678901234567.8' },
  }
  await client.send(new PutItemCommand({ TableName: 'notes', Item }))
  const got = await client.send(
    new GetItemCommand({ TableName: 'notes', Key: { pk: { S: 'p' }, sk: { N: '1' } } }),
  )
  expect(got.Item).toEqual(Item)
  const page = await client.send(
    new QueryCommand({
      TableName: 'notes',
      KeyConditionExpression: 'pk = :p',
      ExpressionAttributeValues: { ':p': { S: 'p' } },
    }),
  )
  expect(page.Items).toEqual([Item])
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'notes' }))
  expect(Table?.CreationDateTime).toBeInstanceOf(Date)
})

test("failures are the SDK's own exceptions", async () => {
  const { client } = await freshClient()
  const missing = client.send(new GetItemCommand({ TableName: 'nowhere', Key: { id: { S: 'a' } } }))
  await expect(missing).rejects.toBeInstanceOf(ResourceNotFoundException)
  await client.send(new CreateTableCommand(plain))
  await client.send(new PutItemCommand(putIfNew))
  const failed = await refusal(client.send(new PutItemCommand(putIfNew)))
  expect(failed).toBeInstanceOf(ConditionalCheckFailedException)
  expect(failed).toMatchObject({ Item: { id: { S: 'a' } }, $metadata: { httpStatusCode: 400 } })
  const cancelled = await refusal(
    client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: putIfNew }] })),
  )
  expect(cancelled).toBeInstanceOf(TransactionCanceledException)
  expect(cancelled).toMatchObject({
    message:
      'Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed]',
    CancellationReasons: [{ Code: 'ConditionalCheckFailed', Item: { id: { S: 'a' } } }],
  })
})

test('the document client works on it as well', async () => {
  const { client } = await freshClient()
  await client.send(new CreateTableCommand(plain))
  const documents = DynamoDBDocumentClient.from(client)
  await documents.send(new PutCommand({ TableName: 'plain', Item: { id: 'a', n: 1, list: ['x'] } }))
  await documents.send(
    new UpdateCommand({
      TableName: 'plain',
      Key: { id: 'a' },
      UpdateExpression: 'SET n = n + :one',
      ExpressionAttributeValues: { ':one': 1 },
    }),
  )
  const { Item } = await documents.send(new GetCommand({ TableName: 'plain', Key: { id: 'a' } }))
  expect(Item).toEqual({ id: 'a', n: 2, list: ['x'] })
})

test('the SDK and the in-process face see the same items', async () => {
  const { engine, client } = await freshClient()
  await engine.createTable(plain)
  await engine.putItem({ TableName: 'plain', Item: { id: 'a', set: new Set([1, 2]) } })
  const { Responses } = await client.send(
    new BatchGetItemCommand({ RequestItems: { plain: { Keys: [{ id: { S: 'a' } }] } } }),
  )
  expect(Responses?.['plain']).toEqual([{ id: { S: 'a' }, set: { NS: ['1', '2'] } }])
})

test('a request that is aborted before it begins is not executed', async () => {
  const { engine, client } = await freshClient()
  await engine.createTable(plain)
  const abort = new AbortController()
  abort.abort()
  const error = await refusal(
    client.send(new PutItemCommand({ TableName: 'plain', Item: { id: { S: 'a' } } }), {
      abortSignal: abort.signal,
    }),
  )
  expect(error.name).toBe('AbortError')
  expect(await engine.scan({ TableName: 'plain' })).toMatchObject({ Count: 0 })
})

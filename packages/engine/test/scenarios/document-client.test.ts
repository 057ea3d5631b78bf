/** Programs on the SDK's document client, its paginators and its waiters. */
import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteTableCommand,
  paginateListTables,
  paginateScan as paginateRawScan,
  ResourceNotFoundException,
  TransactionCanceledException,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocument,
  DynamoDBDocumentClient,
  GetCommand,
  NumberValue,
  paginateQuery,
  paginateScan,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failure, freshName, tableInput } from '../../conformance/harness.ts'
import { openProgramTargets } from '../../conformance/program-targets.ts'

for (const target of await openProgramTargets()) {
  describe(`the document client on ${target.name}`, () => {
    const TableName = freshName()
    const { client } = target
    // The document client keeps its options on the client it was made from, so one set serves all.
    const options = {
      marshallOptions: { removeUndefinedValues: true },
      unmarshallOptions: {
        wrapNumbers: (text: string) =>
          String(Number(text)) === text ? Number(text) : NumberValue.from(text),
      },
    }
    const documents = DynamoDBDocumentClient.from(client, options)

    beforeAll(async () => {
      const shape = {
        key: { pk: 'S', sk: 'N' },
        global: { 'by-owner': { key: { owner: 'S', sk: 'N' } } },
      } as const
      await client.send(new CreateTableCommand(tableInput(TableName, shape)))
      await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName })
    })
    afterAll(async () => {
      await client.send(new DeleteTableCommand({ TableName }))
      await waitUntilTableNotExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName })
      await target.close()
    })

    test('stores and returns native values', async () => {
      const Item = {
        pk: 'native',
        sk: 1,
        text: 'hello',
        fraction: 0.1,
        yes: true,
        nothing: null,
        list: [1, 'two', [3]],
        map: { deep: { deeper: ['x'] } },
        words: new Set(['a', 'b']),
        bytes: new Uint8Array([1, 2, 255]),
      }
      await documents.send(new PutCommand({ TableName, Item: { ...Item, left: undefined } }))
      const output = await documents.send(
        new GetCommand({ TableName, Key: { pk: 'native', sk: 1 } }),
      )
      expect(output.Item).toEqual(Item)
    })

    test('keeps numbers that JavaScript cannot hold', async () => {
      const long = NumberValue.from('12345678901234567890123456789012345678')
      await documents.send(new PutCommand({ TableName, Item: { pk: 'long', sk: 1, long } }))
      const output = await documents.send(new GetCommand({ TableName, Key: { pk: 'long', sk: 1 } }))
      expect(output.Item?.['long']).toEqual(long)
    })

    test('updates with expressions and returns what changed', async () => {
      const Key = { pk: 'updated', sk: 1 }
      await documents.send(new PutCommand({ TableName, Item: { ...Key, views: 2, tags: ['a'] } }))
      const output = await documents.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression: 'SET #v = #v - :one, tags = list_append(tags, :tags), seen = :at',
          ConditionExpression: '#v > :zero',
          ExpressionAttributeNames: { '#v': 'views' },
          ExpressionAttributeValues: { ':one': 1, ':zero': 0, ':tags': ['b'], ':at': 'now' },
          ReturnValues: 'ALL_NEW',
        }),
      )
      expect(output.Attributes).toEqual({ ...Key, views: 1, tags: ['a', 'b'], seen: 'now' })
    })

    test('throws the exceptions of the SDK, with their details', async () => {
      const Key = { pk: 'guarded', sk: 1 }
      await documents.send(new PutCommand({ TableName, Item: { ...Key, v: 1 } }))
      const put = await failure(
        documents.send(
          new PutCommand({
            TableName,
            Item: Key,
            ConditionExpression: 'attribute_not_exists(pk)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      )
      expect(put).toBeInstanceOf(ConditionalCheckFailedException)
      expect(put.Item).toEqual({ pk: { S: 'guarded' }, sk: { N: '1' }, v: { N: '1' } })
      const transaction = await failure(
        documents.send(
          new TransactWriteCommand({
            TransactItems: [
              { Put: { TableName, Item: Key, ConditionExpression: 'attribute_not_exists(pk)' } },
            ],
          }),
        ),
      )
      expect(transaction).toBeInstanceOf(TransactionCanceledException)
      const missing = await failure(documents.send(new GetCommand({ TableName: freshName(), Key })))
      expect(missing).toBeInstanceOf(ResourceNotFoundException)
    })

    test('writes and reads in batches and in transactions', async () => {
      const items = [1, 2, 3].map((sk) => ({ pk: 'batch', sk, v: sk * sk }))
      await documents.send(
        new BatchWriteCommand({
          RequestItems: { [TableName]: items.map((Item) => ({ PutRequest: { Item } })) },
        }),
      )
      const batch = await documents.send(
        new BatchGetCommand({
          RequestItems: { [TableName]: { Keys: items.map(({ pk, sk }) => ({ pk, sk })) } },
        }),
      )
      expect(batch.Responses?.[TableName]?.toSorted((a, b) => a['sk'] - b['sk'])).toEqual(items)
      await documents.send(
        new TransactWriteCommand({
          TransactItems: [
            { Delete: { TableName, Key: { pk: 'batch', sk: 1 } } },
            {
              Update: {
                TableName,
                Key: { pk: 'batch', sk: 2 },
                UpdateExpression: 'ADD v :one',
                ExpressionAttributeValues: { ':one': 1 },
              },
            },
          ],
        }),
      )
      const read = await documents.send(
        new TransactGetCommand({
          TransactItems: [1, 2].map((sk) => ({ Get: { TableName, Key: { pk: 'batch', sk } } })),
        }),
      )
      expect(read.Responses).toEqual([{}, { Item: { pk: 'batch', sk: 2, v: 5 } }])
      await documents.send(new DeleteCommand({ TableName, Key: { pk: 'batch', sk: 2 } }))
    })

    test('queries an index and pages with the paginators', async () => {
      const document = DynamoDBDocument.from(client, options)
      for (let sk = 0; sk < 10; sk += 1) {
        await document.put({ TableName, Item: { pk: `page${sk % 3}`, sk, owner: 'ada' } })
      }
      const query = {
        TableName,
        IndexName: 'by-owner',
        KeyConditionExpression: '#o = :o',
        ExpressionAttributeNames: { '#o': 'owner' },
        ExpressionAttributeValues: { ':o': 'ada' },
      }
      const pages: number[][] = []
      for await (const page of paginateQuery({ client: documents, pageSize: 4 }, { ...query })) {
        pages.push((page.Items ?? []).map((item) => item['sk'] as number))
      }
      expect(pages).toEqual([
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
      ])
      const newest = await documents.send(
        new QueryCommand({ ...query, ScanIndexForward: false, Limit: 1 }),
      )
      expect(newest.Items?.[0]?.['sk']).toBe(9)

      let scanned = 0
      for await (const page of paginateScan({ client: documents, pageSize: 3 }, { TableName })) {
        scanned += page.Count ?? 0
      }
      let counted = 0
      for await (const page of paginateRawScan({ client }, { TableName, Select: 'COUNT' })) {
        counted += page.Count ?? 0
      }
      expect(scanned).toBe(counted)
      expect(scanned).toBeGreaterThanOrEqual(10)
    })

    test('lists tables with the paginator', async () => {
      const names: string[] = []
      for await (const page of paginateListTables({ client, pageSize: 1 }, {})) {
        names.push(...(page.TableNames ?? []))
      }
      expect(names).toContain(TableName)
      expect(names).toEqual(names.toSorted())
    })

    test('an aborted request is an AbortError', async () => {
      const controller = new AbortController()
      controller.abort()
      const request = client.send(new DeleteTableCommand({ TableName }), {
        abortSignal: controller.signal,
      })
      expect((await failure(request)).name).toBe('AbortError')
    })
  })
}

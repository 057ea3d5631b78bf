import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { freshEngine, plain } from '../support/engine.ts'
import { expectAwsShaped, freshServer, send } from '../support/robustness.ts'

const SLOW = Boolean(process.env['SLOW'])
const RUNS = SLOW ? 5000 : 150

const values = { ':v': { N: '1' } }
const key = { id: { S: 'a' } }
const seeds: [operation: string, request: object][] = [
  [
    'PutItem',
    {
      TableName: 'plain',
      Item: { ...key, list: { L: [{ S: 'x' }] }, set: { NS: ['1'] } },
      ConditionExpression: 'attribute_exists(id) OR n < :v',
      ExpressionAttributeValues: values,
    },
  ],
  [
    'UpdateItem',
    {
      TableName: 'plain',
      Key: key,
      UpdateExpression: 'SET n = if_not_exists(n, :v) + :v, #m.x = :v REMOVE list[0] ADD c :v',
      ExpressionAttributeNames: { '#m': 'map' },
      ExpressionAttributeValues: values,
      ReturnValues: 'UPDATED_NEW',
    },
  ],
  [
    'GetItem',
    {
      TableName: 'plain',
      Key: key,
      ProjectionExpression: 'list[0], map.x',
      ReturnConsumedCapacity: 'INDEXES',
    },
  ],
  ['DeleteItem', { TableName: 'plain', Key: key, ReturnValues: 'ALL_OLD' }],
  [
    'Query',
    {
      TableName: 'notes',
      KeyConditionExpression: 'pk = :p AND sk BETWEEN :v AND :v',
      ExpressionAttributeValues: { ':p': { S: 'p' }, ...values },
      Limit: 5,
      ExclusiveStartKey: { pk: { S: 'p' }, sk: { N: '1' } },
    },
  ],
  [
    'Query',
    {
      TableName: 'notes',
      IndexName: 'by-owner',
      KeyConditionExpression: '#o = :p',
      ExpressionAttributeNames: { '#o': 'owner' },
      ExpressionAttributeValues: { ':p': { S: 'p' } },
      Select: 'COUNT',
    },
  ],
  [
    'Scan',
    {
      TableName: 'plain',
      FilterExpression: 'size(list) > :v AND contains(map, :v)',
      ExpressionAttributeValues: values,
      Segment: 0,
      TotalSegments: 2,
    },
  ],
  ['BatchGetItem', { RequestItems: { plain: { Keys: [key], ProjectionExpression: 'id' } } }],
  [
    'BatchWriteItem',
    {
      RequestItems: {
        plain: [{ PutRequest: { Item: key } }, { DeleteRequest: { Key: { id: { S: 'b' } } } }],
      },
    },
  ],
  [
    'TransactWriteItems',
    {
      TransactItems: [
        { Put: { TableName: 'plain', Item: key } },
        {
          Update: {
            TableName: 'notes',
            Key: { pk: { S: 'p' }, sk: { N: '1' } },
            UpdateExpression: 'ADD n :v',
            ExpressionAttributeValues: values,
          },
        },
      ],
      ClientRequestToken: 'token',
    },
  ],
  ['TransactGetItems', { TransactItems: [{ Get: { TableName: 'plain', Key: key } }] }],
  ['CreateTable', { ...plain, TableName: 'another' }],
  [
    'UpdateTable',
    {
      TableName: 'plain',
      AttributeDefinitions: [{ AttributeName: 'g', AttributeType: 'S' }],
      GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'none' } }],
    },
  ],
]

const fragments = [
  'null',
  '[]',
  '{}',
  '""',
  '-1',
  '1e400',
  '{"S":"x"}',
  '{"N":"x"}',
  '{"SS":[]}',
  'true',
  '"__proto__"',
  '{"__proto__":{}}',
  '((',
  ':v',
  '#',
  'AND',
  '[0]',
  '"',
]

/** Cuts, doubles or replaces a piece of a text. */
const mutation = fc
  .tuple(
    fc.nat(),
    fc.nat({ max: 40 }),
    fc.constantFrom(...fragments),
    fc.constantFrom('cut', 'insert', 'replace', 'double'),
  )
  .map(([position, length, fragment, kind]) => (text: string) => {
    const at = position % (text.length + 1)
    const piece = text.slice(at, at + length)
    const rest = text.slice(at + length)
    const middle = { cut: '', insert: fragment + piece, replace: fragment, double: piece + piece }
    return text.slice(0, at) + middle[kind] + rest
  })

describe('requests at random', { timeout: SLOW ? 600_000 : 60_000 }, () => {
  const operations = [
    'PutItem',
    'GetItem',
    'UpdateItem',
    'DeleteItem',
    'Query',
    'Scan',
    'BatchGetItem',
    'BatchWriteItem',
    'TransactWriteItems',
    'TransactGetItems',
    'CreateTable',
    'UpdateTable',
    'UpdateTimeToLive',
    'TagResource',
  ]

  test("of random bytes get a response in AWS's form", async () => {
    const { server, agent } = await freshServer()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...operations),
        fc.oneof(
          fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
          fc.json().map((text) => Buffer.from(text)),
        ),
        async (operation, body) => expectAwsShaped(await send(server, agent, operation, body)),
      ),
      { numRuns: RUNS },
    )
    expect(await send(server, agent, 'ListTables', '{}')).toMatchObject({ status: 200 })
  })

  test("mutated from valid ones get a response in AWS's form", async () => {
    const { server, agent } = await freshServer()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...seeds),
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        async ([operation, seed], mutations) => {
          const text = mutations.reduce((json, mutate) => mutate(json), JSON.stringify(seed))
          expectAwsShaped(await send(server, agent, operation, text))
        },
      ),
      { numRuns: RUNS * 2 },
    )
    expect(await send(server, agent, 'ListTables', '{}')).toMatchObject({ status: 200 })
  })

  test('in process succeed or are rejected, and never reveal a defect', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await fc.assert(
      fc.asyncProperty(fc.anything({ withNullPrototype: true, withMap: true }), async (value) => {
        const requests = [
          engine.getItem({ TableName: 'plain', Key: value as never }),
          engine.putItem({ TableName: 'plain', Item: { id: 'a', value } as never }),
          engine.query(value as never),
          engine.scan({ TableName: 'plain', ExclusiveStartKey: value as never }),
          engine.transactWriteItems({ TransactItems: [value] as never }),
        ]
        for (const { status, ...outcome } of await Promise.allSettled(requests)) {
          if (status === 'fulfilled') continue
          const { reason } = outcome as { reason: Error }
          expect(['ValidationException', 'SerializationException']).toContain(reason.name)
        }
      }),
      { numRuns: RUNS },
    )
  })
})

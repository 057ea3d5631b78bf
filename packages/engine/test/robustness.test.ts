import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type DynamoServer, serve } from '../src/protocol.ts'
import { freshEngine, notes, plain, refusal } from './engine-support.ts'

const RUNS = process.env['SLOW'] ? 5000 : 300

async function freshServer() {
  const engine = await freshEngine()
  await engine.createTable(plain)
  await engine.createTable(notes)
  await engine.putItem({ TableName: 'plain', Item: { id: 'a', list: [1, 2], map: { x: 1 } } })
  const server = await serve(engine)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(async () => {
    agent.destroy()
    await server.close()
  })
  return { engine, server, agent }
}

interface Answer {
  status: number
  body: object
}

async function send(
  server: DynamoServer,
  agent: Agent,
  operation: string,
  body: string | Buffer,
): Promise<Answer> {
  const outgoing = request({
    host: server.host,
    port: server.port,
    method: 'POST',
    agent,
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'content-length': Buffer.byteLength(body),
    },
  })
  outgoing.end(body)
  const [response] = await once(outgoing, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) }
}

/** Whatever was sent, the answer is a result or a failure in AWS's form, never a defect. */
function expectAwsShaped({ status, body }: Answer): void {
  if (status === 200) return
  expect({ status, ...body }).toMatchObject({
    status: expect.toSatisfy((code: number) => code >= 400 && code < 500),
    __type: expect.stringMatching(/^com\.amazon(aws)?\.[\w.]+#\w+$/),
  })
}

const nested = (depth: number, open: string, core: string, close: string) =>
  open.repeat(depth) + core + close.repeat(depth)

const item = (value: string) => `{"TableName":"plain","Item":{"id":{"S":"deep"},"v":${value}}}`

const get = (more: object) =>
  JSON.stringify({ TableName: 'plain', Key: { id: { S: 'a' } }, ...more })

const put = (ConditionExpression: string, ExpressionAttributeValues?: object) =>
  JSON.stringify({
    TableName: 'plain',
    Item: { id: { S: 'b' } },
    ConditionExpression,
    ExpressionAttributeValues,
  })

describe('a request that means harm is refused, and the next one is answered', () => {
  test.each<[title: string, operation: string, body: () => string]>([
    ['lists in lists', 'PutItem', () => item(nested(100, '{"L":[', '{"S":"x"}', ']}'))],
    ['lists in lists, very deep', 'PutItem', () => item(nested(400_000, '{"L":[', '', ']}'))],
    ['maps in maps', 'PutItem', () => item(nested(50_000, '{"M":{"a":', '{"S":"x"}', '}}'))],
    ['JSON that only nests', 'PutItem', () => nested(4_000_000, '[', '', ']')],
    ['JSON that never closes', 'PutItem', () => '{"a":'.repeat(1_000_000)],
    ['parentheses', 'PutItem', () => put(nested(2000, '(', 'attribute_exists(id)', ')'))],
    ['negations', 'PutItem', () => put(`${'NOT '.repeat(900)}attribute_exists(id)`)],
    ['a long condition', 'PutItem', () => put(Array(2000).fill('a = b').join(' AND '))],
    ['a huge expression', 'PutItem', () => put(`a = ${'b'.repeat(1_000_000)}`)],
    [
      'a path that never ends',
      'GetItem',
      () => get({ ProjectionExpression: Array(2000).fill('a').join('.') }),
    ],
    [
      'many paths',
      'GetItem',
      () => get({ ProjectionExpression: Array.from({ length: 900 }, (_, n) => `a${n}`).join(',') }),
    ],
    [
      'many names',
      'GetItem',
      () =>
        get({
          ProjectionExpression: 'a',
          ExpressionAttributeNames: Object.fromEntries(
            Array.from({ length: 20_000 }, (_, n) => [`#n${n}`, 'x']),
          ),
        }),
    ],
    [
      'a list of many values',
      'PutItem',
      () => item(`{"L":[${Array(200_000).fill('{"N":"1"}').join()}]}`),
    ],
    [
      'a set of many members',
      'PutItem',
      () => item(`{"NS":[${Array.from({ length: 100_000 }, (_, n) => `"${n}"`).join()}]}`),
    ],
    ['a number of many digits', 'PutItem', () => item(`{"N":"${'9'.repeat(1_000_000)}"}`)],
    ['a number with a monstrous exponent', 'PutItem', () => item('{"N":"1e999999999"}')],
    [
      'names of JavaScript',
      'PutItem',
      () => item('{"M":{"__proto__":{"M":{"constructor":{"S":"x"}}}}}'),
    ],
    ['__proto__ for a request', 'GetItem', () => '{"__proto__":{"TableName":"plain"}}'],
    ['__proto__ for a value', 'PutItem', () => item('{"__proto__":{"S":"x"}}')],
    [
      'members of the wrong kinds',
      'Query',
      () => '{"TableName":["x"],"Limit":{},"ExclusiveStartKey":"x"}',
    ],
    [
      'a comparison with something missing',
      'Scan',
      () => '{"TableName":"plain","FilterExpression":"a < b OR size(a) > size(b)"}',
    ],
    [
      'many transactions in one',
      'TransactWriteItems',
      () => JSON.stringify({ TransactItems: Array.from({ length: 5000 }, () => ({})) }),
    ],
    [
      'a tag without a value',
      'TagResource',
      () =>
        '{"ResourceArn":"arn:aws:dynamodb:local:000000000000:table/plain","Tags":[{"Key":"a"}]}',
    ],
    ['a lone surrogate', 'PutItem', () => item('{"S":"\\ud800"}')],
    ['a huge string of escapes', 'PutItem', () => item(`{"S":"${'\\u0000'.repeat(500_000)}"}`)],
  ])('%s', async (_title, operation, body) => {
    const { server, agent } = await freshServer()
    expectAwsShaped(await send(server, agent, operation, body()))
    expect(await send(server, agent, 'GetItem', get({ ProjectionExpression: 'id' }))).toEqual({
      status: 200,
      body: { Item: { id: { S: 'a' } } },
    })
  })

  test('a body beyond 16 MB, announced or not', async () => {
    const { server, agent } = await freshServer()
    const announced = connect(server.port, server.host)
    announced.write(
      'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\nx-amz-target: DynamoDB_20120810.GetItem\r\ncontent-length: 999999999\r\n\r\n{',
    )
    const [first] = await once(announced, 'data')
    expect(String(first)).toMatch(/^HTTP\/1\.1 413 /)
    announced.destroy()

    const chunked = connect(server.port, server.host)
    chunked.on('error', () => {})
    chunked.write(
      'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\nx-amz-target: DynamoDB_20120810.GetItem\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    const megabyte = Buffer.alloc(1024 * 1024, ' ')
    const answer = { text: '' }
    chunked.on('data', (data) => (answer.text += String(data)))
    for (let n = 0; n < 64 && answer.text === '' && !chunked.destroyed; n += 1) {
      chunked.write('100000\r\n')
      chunked.write(megabyte)
      const more = chunked.write('\r\n')
      // oxlint-disable-next-line no-await-in-loop -- the server sets the pace
      if (!more) await Promise.race([once(chunked, 'drain'), once(chunked, 'close')])
    }
    expect(answer.text).toMatch(/^HTTP\/1\.1 413 /)
    chunked.destroy()
    expectAwsShaped(await send(server, agent, 'GetItem', get({})))
  })

  test('bytes that are no HTTP', async () => {
    const { server, agent } = await freshServer()
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        const socket = connect(server.port, server.host)
        socket.on('error', () => {})
        socket.end(bytes)
        await once(socket.resume(), 'close')
      }),
      { numRuns: RUNS / 5 },
    )
    expect(await send(server, agent, 'GetItem', get({}))).toMatchObject({ status: 200 })
  })
})

describe('requests at random', () => {
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

  test('of any bytes get an answer in AWS form', async () => {
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

  test('made from good ones by a mutation get an answer in AWS form', async () => {
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

  test('in process are answered or refused, never with a defect', async () => {
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

test('a value that holds itself is refused', async () => {
  const engine = await freshEngine()
  await engine.createTable(plain)
  const ring: Record<string, unknown> = {}
  ring['self'] = ring
  const error = await refusal(
    engine.putItem({ TableName: 'plain', Item: { id: 'ring', ring } as never }),
  )
  expect(error.name).toBe('ValidationException')
})

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

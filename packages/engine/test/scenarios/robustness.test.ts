import { once } from 'node:events'
import { connect } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { freshEngine, plain, refusal } from '../support/engine.ts'
import { expectAwsShaped, freshServer, send } from '../support/robustness.ts'

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

describe('a malicious request is rejected, and the next one is served', () => {
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
    chunked.on('error', () => {}).setMaxListeners(0)
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
      { numRuns: 60 },
    )
    expect(await send(server, agent, 'GetItem', get({}))).toMatchObject({ status: 200 })
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

import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { crc32, gunzipSync } from 'node:zlib'
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../src/engine.ts'
import { type DynamoServer, serve, type ServeOptions } from '../../src/wire/server.ts'
import { freshEngine, plain } from '../support/engine.ts'

const JSON_1_0 = 'application/x-amz-json-1.0'

async function freshServer(options: ServeOptions = {}) {
  const engine = await freshEngine()
  await engine.createTable(plain)
  const server = await serve(engine, options)
  onTestFinished(() => server.close())
  return { engine, server }
}

/** Sends a raw HTTP request, on a new connection unless an agent is passed. */
async function send(
  server: DynamoServer,
  { headers = {}, method = 'POST', body = '', agent = new Agent() } = {},
) {
  const outgoing = request({
    host: server.host,
    port: server.port,
    method,
    agent,
    headers: {
      'content-type': JSON_1_0,
      'x-amz-target': 'DynamoDB_20120810.ListTables',
      ...headers,
    },
  })
  outgoing.end(body)
  const [response] = await once(outgoing, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return { status: response.statusCode as number, headers: response.headers, text }
}

const target = (name: string) => ({ 'x-amz-target': `DynamoDB_20120810.${name}` })

/** The response of the server to malformed bytes. */
async function raw(server: DynamoServer, bytes: string): Promise<string> {
  const socket = connect(server.port, server.host)
  socket.write(bytes)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

describe('a response', () => {
  test('has the content type, the checksum and the request id that AWS sends', async () => {
    const { server } = await freshServer()
    const { status, headers, text } = await send(server, { body: '{}' })
    expect(status).toBe(200)
    expect(text).toBe('{"TableNames":["plain"]}')
    expect(headers).toMatchObject({
      'content-type': JSON_1_0,
      'x-amz-crc32': `${crc32(text)}`,
      'x-amzn-requestid': expect.stringMatching(/^[\w-]{36}$/),
    })
  })

  test('is compressed for clients that ask for it, with the checksum of the compressed bytes', async () => {
    const { engine, server } = await freshServer()
    await engine.putItem({ TableName: 'plain', Item: { id: 'a', text: 'x'.repeat(5000) } })
    const get = async (encoding?: string) => {
      const outgoing = request({
        host: server.host,
        port: server.port,
        method: 'POST',
        headers: {
          'content-type': JSON_1_0,
          ...target('GetItem'),
          ...(encoding && { 'accept-encoding': encoding }),
        },
      })
      outgoing.end('{"TableName":"plain","Key":{"id":{"S":"a"}}}')
      const [response] = await once(outgoing, 'response')
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      return { headers: response.headers, bytes: Buffer.concat(chunks) }
    }
    const whole = await get()
    for (const encoding of ['gzip', 'deflate, gzip;q=0.5']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { headers, bytes } = await get(encoding)
      expect(headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-length': `${bytes.length}`,
        'x-amz-crc32': `${crc32(bytes)}`,
      })
      expect(gunzipSync(bytes)).toEqual(whole.bytes)
      expect(bytes.length).toBeLessThan(whole.bytes.length)
    }
    for (const encoding of ['identity', 'gzip;q=0', 'br']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await get(encoding)).headers['content-encoding']).toBeUndefined()
    }
  })

  test("names a failure with its namespace, AWS's text and status 400", async () => {
    const { server } = await freshServer()
    const get = (body: object) =>
      send(server, { headers: target('GetItem'), body: JSON.stringify(body) })
    expect(await get({ TableName: 'nowhere', Key: { id: { S: 'a' } } })).toMatchObject({
      status: 400,
      text: '{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}',
    })
    expect(await get({ TableName: 'plain', Key: {} })).toMatchObject({
      status: 400,
      text: '{"__type":"com.amazon.coral.validate#ValidationException","message":"The provided key element does not match the schema"}',
    })
    expect(await get({ TableName: 5, Key: {} })).toMatchObject({
      status: 400,
      text: '{"__type":"com.amazon.coral.service#SerializationException","Message":"NUMBER_VALUE cannot be converted to String"}',
    })
  })

  test("to an unknown operation or a body that is not JSON has AWS's error", async () => {
    const { server } = await freshServer()
    expect(await send(server, { headers: target('MakeCoffee'), body: '{}' })).toMatchObject({
      status: 400,
      text: '{"__type":"com.amazon.coral.service#UnknownOperationException"}',
    })
    for (const body of ['', '{', 'null', '[]', '"x"', '{"TableName":}']) {
      // oxlint-disable-next-line no-await-in-loop -- one connection after the other
      const answer = await send(server, { headers: target('GetItem'), body })
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('com.amazon.coral.service#SerializationException')
    }
  })
})

describe('what a web page could send is refused', () => {
  test.each([
    ['a method that is not POST', { method: 'PUT' }, 404],
    ['a health check for another Host', { method: 'GET', headers: { host: 'evil.example' } }, 403],
    [
      'a preflight request',
      { method: 'OPTIONS', headers: { origin: 'https://evil.example' } },
      404,
    ],
    ['the content type of a form', { headers: { 'content-type': 'text/plain' } }, 404],
    ['plain JSON', { headers: { 'content-type': 'application/json' } }, 404],
    ['a Host that is not this machine', { headers: { host: 'evil.example:8000' } }, 403],
    ['a Host that begins like one', { headers: { host: '127.0.0.1.evil.example' } }, 403],
    [
      'a signed request for another Host',
      { headers: { host: 'evil.example', authorization: 'AWS4-HMAC-SHA256 Credential=x' } },
      403,
    ],
  ])('%s', async (_title, input, status) => {
    const { server } = await freshServer()
    const answer = await send(server, input)
    expect(answer.status).toBe(status)
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual(
      [],
    )
    expect(answer.text).toContain('__type')
  })

  test('a request without x-amz-target', async () => {
    const { server } = await freshServer()
    const answer = await raw(
      server,
      `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${JSON_1_0}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 404 /)
    expect(answer).toContain('UnknownOperationException')
  })

  test('and this machine is reached by any of its loopback names', async () => {
    const { server } = await freshServer()
    for (const host of [
      'localhost',
      'localhost:8000',
      '127.0.0.1:1',
      '[::1]:8000',
      'db.localhost',
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one connection after the other
      expect(await send(server, { headers: { host }, body: '{}' })).toMatchObject({ status: 200 })
    }
  })

  test('and an address that others can reach is not listened on', async () => {
    const engine = await freshEngine()
    for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.com']) {
      // oxlint-disable-next-line no-await-in-loop -- one address after the other
      await expect(serve(engine, { host })).rejects.toThrow('Cannot listen on')
    }
  })
})

describe('connections', () => {
  test('are kept for the next request', async () => {
    const { server } = await freshServer()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    await send(server, { agent, body: '{}' })
    await send(server, { agent, headers: target('GetItem'), body: '{' })
    await send(server, { agent, body: '{}' })
    const sockets = Object.values(agent.freeSockets).flat()
    expect(sockets).toHaveLength(1)
  })

  test('serve the AWS SDK, many requests at a time', async () => {
    const { server } = await freshServer()
    const client = new DynamoDBClient({
      endpoint: server.url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
      maxAttempts: 1,
    })
    onTestFinished(() => client.destroy())
    const ids = Array.from({ length: 50 }, (_, n) => `i${n}`)
    await Promise.all(
      ids.map((id) =>
        client.send(new PutItemCommand({ TableName: 'plain', Item: { id: { S: id } } })),
      ),
    )
    const found = await Promise.all(
      ids.map((id) =>
        client.send(new GetItemCommand({ TableName: 'plain', Key: { id: { S: id } } })),
      ),
    )
    expect(found.map(({ Item }) => Item?.['id']?.S)).toEqual(ids)
  })

  test('get the requested pages, however late they read them', async () => {
    const { engine, server } = await freshServer()
    const ids = Array.from({ length: 20 }, (_, n) => `i${n}`)
    const textOf = (id: string) => `${id} `.repeat(10_000)
    for (const id of ids)
      await engine.putItem({ TableName: 'plain', Item: { id, text: textOf(id) } })
    const queryOf = (id: string) =>
      JSON.stringify({
        TableName: 'plain',
        KeyConditionExpression: 'id = :id',
        ExpressionAttributeValues: { ':id': { S: id } },
      })
    const asked = Array.from({ length: 300 }, (_, n) => ids[n % 7]!)
    const late = connect(server.port, server.host)
    for (const [n, id] of asked.entries()) {
      const body = queryOf(id)
      late.write(
        `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${JSON_1_0}\r\n` +
          `connection: ${n + 1 < asked.length ? 'keep-alive' : 'close'}\r\n` +
          `x-amz-target: DynamoDB_20120810.Query\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
    }
    // More than the socket buffers hold, so that much of it is still in the server.
    const others = Array.from({ length: 100 }, (_, n) => ids[7 + (n % 13)]!)
    for (const id of others) {
      const { text } = await send(server, { headers: target('Query'), body: queryOf(id) })
      expect(JSON.parse(text).Items[0].text.S === textOf(id), id).toBe(true)
    }
    const chunks: Buffer[] = []
    for await (const chunk of late) chunks.push(chunk as Buffer)
    const answers = Buffer.concat(chunks).toString().split('HTTP/1.1 200 OK').slice(1)
    const found = answers.map((answer) => JSON.parse(answer.split('\r\n\r\n')[1]!).Items[0])
    expect(found.map(({ id }) => id.S)).toEqual(asked)
    for (const { id, text } of found) expect(text.S === textOf(id.S), id.S).toBe(true)
  })

  test('with a running request get their response before the server closes', async () => {
    const { server } = await freshServer()
    const outgoing = request({
      host: server.host,
      port: server.port,
      method: 'POST',
      agent: new Agent({ keepAlive: true }),
      headers: { 'content-type': JSON_1_0, ...target('ListTables'), 'content-length': 2 },
    })
    outgoing.flushHeaders()
    outgoing.write('{')
    await once(outgoing, 'socket')
    await send(server, { body: '{}' })
    const closing = server.close()
    outgoing.end('}')
    const [response] = await once(outgoing, 'response')
    response.resume()
    expect(response.statusCode).toBe(200)
    expect(response.headers.connection).toBe('close')
    await closing
    await expect(send(server, { body: '{}' })).rejects.toThrow('ECONNREFUSED')
  })

  test('whose request never arrives whole do not keep the server from closing', async () => {
    const { server } = await freshServer({ requestTimeoutMs: 300 })
    const socket = connect(server.port, server.host)
    const disconnected = once(socket, 'close')
    socket.write(`POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n`)
    await send(server, { body: '{}' })
    await expect(server.close()).resolves.toBeUndefined()
    socket.resume()
    await disconnected
  })

  test('that keep the server waiting for a body are closed', async () => {
    const { server } = await freshServer({ requestTimeoutMs: 50 })
    const answer = await raw(
      server,
      `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${JSON_1_0}\r\nx-amz-target: DynamoDB_20120810.ListTables\r\ncontent-length: 100\r\n\r\n{`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain('com.amazon.coral.service#RequestTimeoutException')
    expect(await send(server, { body: '{}' })).toMatchObject({ status: 200 })
  })
})

test('a defect has status 500, and its message is not sent', async () => {
  const { engine } = await freshServer()
  const broken: Engine = { ...engine, handle: () => Promise.reject(new Error('secret detail')) }
  const server = await serve(broken)
  onTestFinished(() => server.close())
  const answer = await send(server, { body: '{}' })
  expect(answer.status).toBe(500)
  expect(answer.text).toContain('com.amazonaws.dynamodb.v20120810#InternalServerError')
  expect(answer.text).not.toContain('secret')
})

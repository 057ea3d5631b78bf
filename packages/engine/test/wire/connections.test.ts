import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../../src/wire/server.ts'
import { freshEngine, plain } from '../support/engine.ts'

async function connected() {
  const engine = await freshEngine()
  await engine.createTable(plain)
  const server = await serve(engine)
  onTestFinished(() => server.close())
  return { engine, server, socket: connect(server.port, server.host).setEncoding('utf8') }
}

function request(operation: string, body: object): string {
  const text = JSON.stringify(body)
  return (
    'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\n' +
    `x-amz-target: DynamoDB_20120810.${operation}\r\ncontent-length: ${text.length}\r\n\r\n${text}`
  )
}

const Item = { id: { S: 'a' }, text: { S: 'x'.repeat(2000) } }
const put = request('PutItem', { TableName: 'plain', Item })
const get = request('GetItem', { TableName: 'plain', Key: { id: { S: 'a' } } })
const gzipped = get.replace('host:', 'accept-encoding: gzip\r\nhost:')

describe('a client that closes its side after its request', () => {
  test.each([
    ['a read', get, `{"Item":${JSON.stringify(Item)}}`],
    ['a read that is compressed', gzipped, 'content-encoding: gzip'],
    ['a write', put, '{}'],
    ['what does not exist', request('MakeCoffee', {}), 'UnknownOperationException'],
  ])('gets the answer to %s', async (_, asked, expected) => {
    const { engine, socket } = await connected()
    await engine.putItem({ TableName: 'plain', Item: { id: 'a', text: Item.text.S } })
    socket.end(asked)
    let received = ''
    for await (const part of socket) received += String(part)
    expect(received).toContain(expected)
  })
})

describe('a server that closes', () => {
  test('responds to a request on its way on an idle connection, and announces that it is the last', async () => {
    const { server, socket } = await connected()
    const ended = once(socket, 'close')
    socket.write(put)
    expect(String(await once(socket, 'data'))).toMatch(/connection: keep-alive/i)
    const closed = server.close()
    socket.write(get)
    const answer = String(await once(socket, 'data'))
    expect(answer).toContain('{"Item":')
    expect(answer).toMatch(/connection: close/i)
    await Promise.all([ended, closed])
  })

  test('responds to all requests of a client that pipelines', async () => {
    const { server, socket } = await connected()
    socket.write(put)
    await once(socket, 'data')
    const closed = server.close()
    socket.write(put + get + get)
    let received = ''
    for await (const part of socket) received += String(part)
    expect(received.split('HTTP/1.1 200 OK')).toHaveLength(4)
    await closed
  })
})

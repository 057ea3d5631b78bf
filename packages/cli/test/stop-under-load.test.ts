import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { emptyDirectory, type Running, start } from './strongroom.ts'

const CLIENTS = 40
const ANSWERS = 1000

const table = {
  TableName: 'things',
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
}

describe('a stop under load leaves no request without a response from', () => {
  let server: Running | undefined
  afterEach(() => void server?.process.kill('SIGKILL'))

  async function started(args: string[]): Promise<number> {
    const env = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y' }
    server = start([...args, '--port', '0'], { cwd: await emptyDirectory(), env })
    const printed = await server.until('Press Ctrl+C to stop')
    return Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1])
  }

  /** Clients send requests until the server closes the connection; returns the statuses they got. */
  async function stoppedUnderLoad(port: number, requests: string[]): Promise<Set<number>> {
    const statuses = new Set<number>()
    let answers = 0
    const asking = async (request: string) => {
      const client = connected(port)
      for (let isLast = false; !isLast && !client.socket.readableEnded;) {
        const answer = await answered(client, request)
        isLast = answer.isLast
        statuses.add(answer.status)
        answers += 1
        if (answers === ANSWERS) server?.process.kill('SIGTERM')
        // A slow client notices that a connection was closed before it reuses it.
        await nextTurn()
        await nextTurn()
      }
    }
    const clients = Array.from({ length: CLIENTS }, (_, n) => requests[n % requests.length]!)
    await Promise.all(clients.map(asking))
    expect((await server?.finished)?.code).toBe(0)
    return statuses
  }

  test('strongroom dynamodb', async () => {
    const port = await started(['dynamodb'])
    await answered(connected(port), written('DynamoDB_20120810.CreateTable', table))
    const put = { TableName: 'things', Item: { id: { S: 'a' } } }
    const requests = [
      written('DynamoDB_20120810.PutItem', put),
      written('DynamoDB_20120810.ListTables', {}),
    ]
    expect(await stoppedUnderLoad(port, requests)).toEqual(new Set([200]))
  })

  test('strongroom kms serve', async () => {
    const port = await started(['kms', 'serve'])
    // Not signed: the error is a response too.
    const requests = [written('TrentService.ListKeys', {})]
    expect(await stoppedUnderLoad(port, requests)).toEqual(new Set([403]))
  })
})

function written(target: string, body: object): string {
  const content = JSON.stringify(body)
  return (
    'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\n' +
    `x-amz-target: ${target}\r\ncontent-length: ${content.length}\r\n\r\n${content}`
  )
}

interface Client {
  socket: Socket
  closed: Promise<undefined[]>
}

function connected(port: number): Client {
  const socket = connect(port, '127.0.0.1')
  return { socket, closed: once(socket, 'close').then(() => []) }
}

async function answered({ socket, closed }: Client, request: string) {
  socket.write(request)
  for (let received = ''; ;) {
    const [part] = await Promise.race([once(socket, 'data'), closed])
    if (!Buffer.isBuffer(part)) throw new Error('The connection was closed without an answer')
    received += part.toString('latin1')
    const [head = '', body] = received.split('\r\n\r\n', 2)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
    if (body?.length !== length) continue
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1])
    return { status, isLast: /^connection: close/im.test(head) }
  }
}

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { required } from '../support/test-stores.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

/** The response of a destination, byte by byte, and the expected result: a status, or a failure. */
const answers: [what: string, bytes: string, end: number | string][] = [
  [
    '100 that nobody asked for',
    '100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    'connection',
  ],
  ['103 before it', '103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 500 No\r\n\r\n', 500],
  [
    '101 that nobody asked for',
    '101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    'connection',
  ],
  ['204 with a body', '204 No Content\r\ncontent-length: 5\r\n\r\nhello', 204],
  ['304 with a body', '304 Not Modified\r\ncontent-length: 5\r\n\r\nhello', 304],
  ['200 with less than it says', '200 OK\r\ncontent-length: 50\r\n\r\nhello', 200],
  ['500 with less than it says', '500 No\r\ncontent-length: 50\r\n\r\nhello', 500],
  [
    '200 with two lengths',
    '200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello',
    'connection',
  ],
  ['200 with a length below zero', '200 OK\r\ncontent-length: -5\r\n\r\nhello', 'connection'],
  ['200 with chunks that are none', '200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 200],
  ['200 without a reason', '200\r\ncontent-length: 0\r\n\r\n', 200],
  ['a header with a null byte', '200 OK\r\nx-a: \0\r\ncontent-length: 0\r\n\r\n', 'connection'],
  ['a header with other bytes', '200 OK\r\nx-a: \xff\xfe\r\ncontent-length: 0\r\n\r\n', 200],
  ['a header without a colon', '200 OK\r\nnonsense\r\n\r\n', 'connection'],
  [
    'a header called __proto__',
    '500 OK\r\n__proto__: a\r\n__proto__: b\r\nretry-after: 1\r\n\r\n',
    500,
  ],
  ['an enormous header', `200 OK\r\nx-a: ${'a'.repeat(100_000)}\r\n\r\n`, 'too_large'],
  ['very many headers', `200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}\r\n`, 'too_large'],
  ['status 000', '000 Nothing\r\ncontent-length: 0\r\n\r\n', 'connection'],
  ['status 999', '999 Beyond\r\ncontent-length: 0\r\n\r\n', 999],
  ['status 1000', '1000 Beyond\r\ncontent-length: 0\r\n\r\n', 'connection'],
  ['a redirect', '307 Go\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n', 307],
  ['a redirect to nowhere', '302 Go\r\nlocation: \xff:\0\r\n\r\n', 'connection'],
]

describe.each(serviceStores())('an unusual response of a destination, on $name', (store) => {
  let bench: WorkerBench
  let server: Server
  let answer: (socket: Socket, requests: number) => void

  beforeAll(async () => {
    bench = await openWorkerBench({ store })
    server = createServer((socket) => {
      let requests = 0
      socket.on('error', () => {})
      socket.on('data', (data) => {
        if (data.includes('POST ')) answer(socket, ++requests)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(async () => {
    await bench.close()
    server.close()
  })

  async function connected() {
    const source = await bench.newSource()
    const { port } = server.address() as AddressInfo
    const connection = await bench.connect(source, `http://127.0.0.1:${port}/`)
    return { source, connection }
  }

  test.each(answers)('with %s is recorded as received, once', async (_, bytes, end) => {
    answer = (socket) => socket.end(Buffer.from(`HTTP/1.1 ${bytes}`, 'latin1'))
    const { source, connection } = await connected()
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    const attempts = await bench.attempts(event, connection)
    expect(attempts).toHaveLength(1)
    const { state, reason } = required(await bench.delivery(event, connection))
    const failed = { statusCode: typeof end === 'number' ? end : 0, state: 'retrying' }
    const expected =
      typeof end === 'number' && end < 300
        ? { ...failed, state: 'delivered', reason: undefined }
        : { ...failed, reason: typeof end === 'number' ? `http_${end}` : end }
    expect({ statusCode: attempts[0]?.statusCode, state, reason }).toEqual(expected)
    expect(attempts[0]?.error === undefined).toBe(typeof end === 'number')
  })

  test.each(['', 'PRI * HTTP/2.0\r\n\r\n', '\x15\x03\x01\0\x02\x02'])(
    'that does not speak HTTP (%j) is a failure that is retried',
    async (bytes) => {
      answer = (socket) => socket.end(Buffer.from(bytes, 'latin1'))
      const { source, connection } = await connected()
      const event = await bench.receive(source)
      await bench.worker.runOnce()
      expect(await bench.attempts(event, connection)).toMatchObject([{ statusCode: 0 }])
      const delivery = await bench.delivery(event, connection)
      expect(delivery).toMatchObject({ state: 'retrying', reason: 'connection' })
    },
  )

  test('a reset of a reused connection causes the event to be sent again', async () => {
    const answered = { ok: 0, reset: 0 }
    answer = (socket, requests) => {
      if (requests > 1 && answered.reset === 0) {
        answered.reset += 1
        return void socket.resetAndDestroy()
      }
      answered.ok += 1
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    }
    const { source, connection } = await connected()
    await bench.receive(source)
    await bench.worker.runOnce()
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    expect(answered).toEqual({ ok: 1, reset: 1 })
    expect(await bench.delivery(event, connection)).toMatchObject({ state: 'retrying' })
    await bench.live(40)
    expect(await bench.delivery(event, connection)).toMatchObject({ state: 'delivered' })
    const attempts = await bench.attempts(event, connection)
    expect(attempts.map(({ statusCode }) => statusCode)).toEqual([0, 200])
  })
})

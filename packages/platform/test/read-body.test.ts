import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { discardRest, findHeader, readRequestBody, readStream } from '../src/read-body.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const server = createServer((request, response) => void handle(request, response)).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  ends.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  return (server.address() as AddressInfo).port
}

async function post(port: number, body: string | ReadableStream<Uint8Array>) {
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    body,
    duplex: 'half',
  })
  return response.text()
}

async function* chunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

const stream = (...texts: string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(Buffer.from(text))
      controller.close()
    },
  })

describe('the body of a request', () => {
  const echo = (maxBytes: number) =>
    serve(async (request, response) => {
      const read = await readRequestBody(request, maxBytes)
      if (read.kind !== 'read') {
        response.setHeader('connection', 'close')
        discardRest(request, { bytes: 1_000_000 })
      }
      response.end(read.kind === 'read' ? read.bytes.toString() : read.kind)
    })

  test('is read up to its limit, with or without a length', async () => {
    const port = await echo(6)
    expect(await post(port, '')).toBe('')
    expect(await post(port, 'abcdef')).toBe('abcdef')
    expect(await post(port, stream('abc', 'def'))).toBe('abcdef')
  })

  test('is too large by its length or by its bytes', async () => {
    const port = await echo(5)
    expect(await post(port, 'abcdef')).toBe('too_large')
    expect(await post(port, stream('abc', 'def'))).toBe('too_large')
    expect(await post(port, 'x'.repeat(500_000))).toBe('too_large')
  })

  test('is incomplete when the client leaves', async () => {
    let outcome: Promise<unknown> | undefined
    const port = await serve((request) => {
      outcome = readRequestBody(request, 100)
      socket.destroy()
    })
    const socket = connect(port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc')
    await once(socket, 'close')
    await expect.poll(() => outcome).toBeDefined()
    expect(await outcome).toStrictEqual({ kind: 'incomplete' })
  })
})

describe('the rest of a refused body', () => {
  async function firstClose(limit: { ms: number } | { bytes: number }, sendBytes: number) {
    const port = await serve((request, response) => {
      discardRest(request, limit)
      response.setHeader('connection', 'close')
      response.flushHeaders()
    })
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.resume()
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10000000\r\n\r\n`)
    socket.write('x'.repeat(sendBytes))
    // Bytes that the server has not read turn its close into a reset, on some versions of Node.
    await new Promise((resolve) => socket.once('close', resolve))
  }

  test('ends the connection after its bytes', async () => {
    await expect(firstClose({ bytes: 1_000 }, 200_000)).resolves.toBeUndefined()
  })

  test('ends the connection after its time', async () => {
    await expect(firstClose({ ms: 20 }, 10)).resolves.toBeUndefined()
  })
})

describe('a stream', () => {
  test('is read as a whole', async () => {
    expect(await readStream(chunks('ab', 'cd'), 4)).toStrictEqual({
      kind: 'read',
      bytes: Uint8Array.from(Buffer.from('abcd')),
    })
    expect(await readStream([], 0)).toStrictEqual({ kind: 'read', bytes: new Uint8Array() })
  })

  test('is left when it is too large', async () => {
    let isLeft = false
    async function* endless() {
      try {
        for (;;) yield Buffer.from('x')
      } finally {
        isLeft = true
      }
    }
    expect(await readStream(endless(), 4)).toStrictEqual({ kind: 'too_large' })
    expect(isLeft).toBe(true)
  })

  test('passes its failure through', async () => {
    await expect(readStream(failing(), 4)).rejects.toThrow('broken')
  })
})

async function* failing() {
  yield Buffer.from('ab')
  throw new Error('broken')
}

test('a header is found by its name in any case', () => {
  const raw = ['Host', 'a', 'Content-Length', '1', 'content-length', '2']
  expect(findHeader(raw, 'content-length')).toBe('1')
  expect(findHeader(raw, 'accept')).toBeUndefined()
})

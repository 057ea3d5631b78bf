import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { enableGracefulClose } from '../src/http-server.ts'

async function served(answer: RequestListener, graceMs = 60_000) {
  const server = createServer(answer)
  const close = enableGracefulClose(server, graceMs)
  onTestFinished(close)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { close, connected: () => connect(port, '127.0.0.1').setEncoding('utf8') }
}

const get = (path: string) => `GET /${path} HTTP/1.1\r\nhost: x\r\n\r\n`

/** All that comes until the other side closes in good order; a reset is thrown. */
async function received(socket: Socket): Promise<string> {
  let text = ''
  for await (const part of socket) text += String(part)
  return text
}

function resolvable() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}

describe('a client that closes its side after its request', () => {
  test.each([
    ['in the same turn', async () => {}],
    ['later', () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))],
  ])('gets an answer that is made %s', async (_, made) => {
    const { connected } = await served((request, response) => {
      void made().then(() => response.end(`answer to ${request.url}`))
    })
    const socket = connected()
    socket.end(get('a'))
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 200 [^]*answer to \/a/)
  })

  test('gets the responses to all of its requests in order', async () => {
    const { connected } = await served((request, response) => {
      const end = () => response.end(`answer to ${request.url}.`)
      // The second is ready first.
      if (request.url === '/a') setImmediate(() => setImmediate(end))
      else end()
    })
    const socket = connected()
    socket.end(get('a') + get('b'))
    expect(await received(socket)).toMatch(/answer to \/a\.[^]*answer to \/b\./)
  })

  test('is not waited for once it has its response', async () => {
    const { connected, close } = await served((_, response) => void response.end('done'))
    const socket = connected()
    socket.end(get('a'))
    await received(socket)
    const next = connected()
    await once(next, 'connect')
    next.end()
    expect(await received(next)).toBe('')
    await close()
  })
})

describe('a server that ends', () => {
  test('responds to the next request of a client whose connection was kept alive', async () => {
    const { promise: ready, resolve: finish } = resolvable()
    const { connected, close } = await served((request, response) => {
      response.flushHeaders()
      void (request.url === '/a' ? ready : Promise.resolve()).then(() => response.end('done'))
    })
    const socket = connected()
    socket.write(get('a'))
    expect(String(await once(socket, 'data'))).toMatch(/connection: keep-alive/i)
    const closed = close()
    finish()
    await once(socket, 'data')
    socket.write(get('b'))
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 200 [^]*connection: close/i)
    await closed
  })

  test('announces it with the last response of a pipelining client', async () => {
    const { promise: asked, resolve: arrived } = resolvable()
    const { promise: ready, resolve: finish } = resolvable()
    const { connected, close } = await served((request, response) => {
      if (request.url === '/c') arrived()
      void ready.then(() => response.end(`answer to ${request.url}.`))
    })
    const socket = connected()
    socket.write(get('a') + get('b') + get('c'))
    await asked
    const closed = close()
    finish()
    const answers = (await received(socket)).split('HTTP/1.1 200 OK').slice(1)
    expect(answers.map((answer) => /connection: (\S+)/i.exec(answer)?.[1])).toEqual([
      'keep-alive',
      'keep-alive',
      'close',
    ])
    await closed
  })

  test('cuts off what takes longer than the time of grace', async () => {
    const { promise: asked, resolve: arrived } = resolvable()
    const { connected, close } = await served(() => arrived(), 0)
    const socket = connected()
    socket.write(get('a'))
    await asked
    await close()
    expect(await received(socket)).toBe('')
  })
})

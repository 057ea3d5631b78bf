import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createRoute, z } from '@hono/zod-openapi'
import { createApp } from '../src/http/app.ts'
import { nodeListener } from '../src/http/node.ts'
import { jsonBody, jsonResponse } from '../src/http/openapi.ts'
import { streamBody } from '../src/http/stream.ts'
import { createLog, silentLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'
import { describe, expect, test } from 'vitest'
import { listen } from '../src/http/node.ts'

const http = { log: silentLog, metrics: createMetrics() }

describe('a listener', () => {
  test('responds 503 until it serves, with an id, security headers and an access line', async () => {
    const lines: string[] = []
    const log = createLog({ sink: (line) => lines.push(line) })
    const listener = await listen('127.0.0.1', 0, { ...http, log })
    const address = `http://127.0.0.1:${listener.port}/`
    const response = await fetch(address, { method: 'POST', body: 'early' })
    expect([response.status, await response.text()]).toEqual([503, 'Starting'])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'retry-after': '1',
      'x-content-type-options': 'nosniff',
    })
    expect(JSON.parse(lines.join(''))).toMatchObject({
      message: 'request',
      requestId: response.headers.get('x-request-id'),
      route: 'starting',
      status: 503,
    })
    listener.serve(getRequestListener(() => new Response('ready')))
    expect(await (await fetch(address)).text()).toBe('ready')
    await listener.close()
  })

  test('finishes running requests before it closes and accepts no new ones', async () => {
    const listener = await listen('127.0.0.1', 0, http)
    const address = `http://127.0.0.1:${listener.port}/`
    let finish = (_text: string) => {}
    const text = new Promise<string>((resolve) => (finish = resolve))
    const { promise: asked, resolve: arrived } = resolvable()
    listener.serve(
      getRequestListener(async () => {
        arrived()
        return new Response(await text)
      }),
    )
    const answer = fetch(address)
    await asked
    const closed = listener.close()
    await expect(fetch(address)).rejects.toThrow('fetch failed')
    finish('done')
    expect(await (await answer).text()).toBe('done')
    await closed
  })

  test('responds to all pipelined requests of a client, even while it closes', async () => {
    const listener = await listen('127.0.0.1', 0, http)
    const { promise: asked, resolve: arrived } = resolvable()
    const { promise: ready, resolve: finish } = resolvable()
    listener.serve(
      getRequestListener(async (request) => {
        if (request.url.endsWith('/second')) {
          arrived()
          await ready
        }
        return new Response(new URL(request.url).pathname)
      }),
    )
    const socket = connect(listener.port, '127.0.0.1')
    socket.write('GET /first HTTP/1.1\r\nhost: x\r\n\r\nGET /second HTTP/1.1\r\nhost: x\r\n\r\n')
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => (received += text))
    await asked
    const closed = listener.close()
    finish()
    await once(socket, 'close')
    await closed
    expect(received).toContain('/first')
    expect(received).toContain('/second')
  })

  test('responds to a request that arrives on an idle connection while it closes, with connection: close', async () => {
    const listener = await listen('127.0.0.1', 0, http)
    listener.serve(getRequestListener((request) => new Response(new URL(request.url).pathname)))
    const socket = connect(listener.port, '127.0.0.1').setEncoding('utf8')
    const ended = once(socket, 'close')
    socket.write('GET /first HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(String(await once(socket, 'data'))).toMatch(/keep-alive[^]*\/first$/i)
    const closed = listener.close()
    socket.write('GET /second HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(String(await once(socket, 'data'))).toMatch(/connection: close[^]*\/second$/i)
    await Promise.all([ended, closed])
  })

  test('responds to a client that half-closes the connection after its request', async () => {
    const listener = await listen('127.0.0.1', 0, http)
    listener.serve(
      getRequestListener(async (request) => {
        const text = await request.text()
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
        return new Response(`${text} came`)
      }),
    )
    const socket = connect(listener.port, '127.0.0.1').setEncoding('utf8')
    socket.end('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nall')
    let received = ''
    for await (const part of socket) received += String(part)
    expect(received).toContain('all came')
    await listener.close()
  })

  test.each([
    ['before it begins', 'end' as const],
    ['while it is read', 'write' as const],
  ])('ends a stream whose client half-closes the connection %s', async (_, ask) => {
    const listener = await listen('127.0.0.1', 0, http)
    const app = createApp({ log: silentLog, metrics: createMetrics() })
    const { promise: left, resolve: leave } = resolvable()
    app.get('/stream', async (c) => {
      const start = (controller: ReadableStreamDefaultController) => controller.enqueue('ready')
      const body = new ReadableStream({ start, cancel: leave }).pipeThrough(new TextEncoderStream())
      const { socket: connection } = (c.env as { incoming: IncomingMessage }).incoming
      if (ask === 'end' && !connection.readableEnded) await once(connection, 'end')
      return c.body(streamBody(c, body))
    })
    listener.serve(nodeListener(app))
    const socket = connect(listener.port, '127.0.0.1')
    socket[ask]('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n')
    if (ask === 'write') await once(socket, 'data')
    const ended = once(socket.resume(), 'close')
    socket.end()
    await Promise.all([left, ended])
    expect(socket.errored).toBe(null)
    await listener.close()
  })

  test('does not wait for idle connections', async () => {
    const listener = await listen('127.0.0.1', 0, http)
    const socket = connect(listener.port, '127.0.0.1')
    await once(socket, 'connect')
    const ended = once(socket.resume(), 'close')
    await listener.close()
    await ended
    expect(socket.destroyed).toBe(true)
  })

  test('does not log a client that disconnects during its body as a server failure', async () => {
    const listener = await listen('127.0.0.1', 0, http)
    const { promise: logged, resolve } = resolvable()
    const lines: string[] = []
    const log = createLog({ sink: (line) => (lines.push(line), resolve()) })
    const app = createApp({ log, metrics: createMetrics() })
    const { promise: asked, resolve: arrived } = resolvable()
    app.post('/notes', async (c) => {
      arrived()
      return c.text(await c.req.text())
    })
    listener.serve(nodeListener(app))
    const socket = connect(listener.port, '127.0.0.1')
    socket.write('POST /notes HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf')
    await asked
    socket.destroy()
    await logged
    expect(lines).toEqual([expect.stringContaining('"code":"request.incomplete"')])
    await listener.close()
  })

  test.each([
    ['small enough', '{"text":"in parts"}', 200, '{"text":"in parts"}'],
    ['too large', `{"text":"${'x'.repeat(100)}"}`, 413, 'request.too_large'],
  ])('passes a chunked body to the app: one that is %s', async (_, body, status, said) => {
    const listener = await listen('127.0.0.1', 0, http)
    const app = createApp({ log: silentLog, metrics: createMetrics(), maxBodyBytes: 50 })
    const schema = z.object({ text: z.string() })
    const route = createRoute({
      method: 'post',
      path: '/notes',
      request: { body: jsonBody(schema) },
      responses: { 200: jsonResponse(schema, 'What came') },
    })
    app.openapi(route, (c) => c.json(c.req.valid('json'), 200))
    listener.serve(nodeListener(app))
    const socket = connect(listener.port, '127.0.0.1')
    socket.write('POST /notes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n')
    socket.write('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const part of [body.slice(0, 9), body.slice(9), ''])
      socket.write(`${part.length.toString(16)}\r\n${part}\r\n`)
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => (received += text))
    await once(socket, 'close')
    expect(received).toContain(`HTTP/1.1 ${status} `)
    expect(received).toContain(said)
    await listener.close()
  })

  test('reports that a port is in use and what to do', async () => {
    const listener = await listen('127.0.0.1', 0, http)
    await expect(listen('127.0.0.1', listener.port, http)).rejects.toThrow(
      `Port ${listener.port} of 127.0.0.1 is in use: stop what uses it, or choose another port`,
    )
    await listener.close()
  })
})

function resolvable() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}

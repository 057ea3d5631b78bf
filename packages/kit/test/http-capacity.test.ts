import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createApp } from '../src/http/app.ts'
import { bodyLimit } from '../src/http/body-limit.ts'
import { createCapacity } from '../src/http/capacity.ts'
import { type CapacityLimits } from '../src/http/capacity-limits.ts'
import type { TrustedProxies } from '../src/http/client-address.ts'
import { requestError } from '../src/http/errors.ts'
import {
  createHotMatcher,
  honoHandler,
  type HotRoute,
  mountHotRoutes,
} from '../src/http/hot-routes.ts'
import { listen, nodeListener } from '../src/http/node.ts'
import { createLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'

const MAX_BYTES = 1_000

/** A server with one service, `box`, whose requests end when the test says so, and one other route. */
async function serving(
  limits: Partial<CapacityLimits>,
  options: { face?: 'Node' | 'the app'; trustedProxies?: TrustedProxies } = {},
) {
  const { face = 'Node', trustedProxies = { hops: 0 } } = options
  const lines: string[] = []
  const log = createLog({ sink: (line) => lines.push(line) })
  const metrics = createMetrics()
  const capacity = createCapacity({ limits, trustedProxies, metrics })
  const http = { log, metrics, trustedProxies, capacity }
  const waiting: (() => void)[] = []
  let onArrival = () => {}
  const route: HotRoute = {
    methods: ['POST'],
    path: '/box/:id',
    maxBodyBytes: MAX_BYTES,
    admit({ parameter }) {
      if (parameter === 'missing') throw requestError('not_found')
      return undefined
    },
    async handle({ parameter, body }) {
      if (parameter === 'waits') {
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
          onArrival()
        })
      }
      return { status: 200, contentType: 'text/plain', body: String(body.byteLength) }
    },
  }
  const app = createApp(http)
  app.use('/box/*', async (c, next) => {
    c.get('call').enterService('box')
    await next()
  })
  app.on([...route.methods], [route.path], bodyLimit(MAX_BYTES), honoHandler(route))
  app.get('/other', (c) => c.text('other'))
  const matcher = createHotMatcher(mountHotRoutes({ hotRoutes: [route] }, 'box', '/'))
  const listener = await listen('127.0.0.1', 0, http)
  onTestFinished(() => listener.close())
  listener.serve(face === 'Node' ? nodeListener(app, matcher) : nodeListener(app))
  const { port } = listener
  const url = `http://127.0.0.1:${port}`
  return {
    port,
    url,
    lines,
    metrics,
    post: (id: string, body: string) => fetch(`${url}/box/${id}`, { method: 'POST', body }),
    /** Resolves when one more request waits. */
    async started(id: 'waits', body: string) {
      const arrived = new Promise<void>((resolve) => (onArrival = resolve))
      const response = fetch(`${url}/box/${id}`, { method: 'POST', body })
      await arrived
      return { response, finish: () => waiting.shift()?.() }
    },
  }
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

async function closed(socket: Socket): Promise<string> {
  let received = ''
  socket.on('data', (text: string) => (received += text))
  await once(socket, 'close')
  return received
}

const GET = 'GET /other HTTP/1.1\r\nhost: x\r\n\r\n'

/** A connection that is in use. */
async function used(port: number): Promise<Socket> {
  const socket = await opened(port)
  socket.write(GET)
  expect(String(await once(socket, 'data'))).toContain('HTTP/1.1 200')
  return socket
}

const codeOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string } }).error.code

describe('a server', () => {
  test.each([
    ['in all', { maxConnections: 2 }, 'STRONGROOM_MAX_CONNECTIONS"'],
    ['from one address', { maxConnectionsPerAddress: 2 }, 'STRONGROOM_TRUSTED_PROXIES'],
  ])('refuses connections beyond the limit %s with 503', async (_, limits, setting) => {
    const { port, lines, metrics } = await serving(limits)
    const [first, second] = [await used(port), await used(port)]
    const refused = connect(port, '127.0.0.1').setEncoding('utf8')
    // Without a request: the response does not depend on one.
    const response = await closed(refused)
    expect(response).toMatch(/^HTTP\/1\.1 503 /)
    expect(response).toContain('\r\nretry-after: 1\r\n')
    expect(response).toContain('"code":"server.overloaded"')
    expect(lines.join('')).toContain(setting)
    expect(await metrics.text()).toMatch(/strongroom_http_refused_total\{.*connections"\} 1\n/)

    // The others are not affected, and a closed one makes room.
    second.write(GET)
    expect(String(await once(second, 'data'))).toContain('HTTP/1.1 200')
    first.write(GET.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'))
    await closed(first)
    await vi.waitFor(() => used(port))
  })

  test('does not limit the connections of a trusted proxy', async () => {
    const trustedProxies = { networks: ['127.0.0.0/8'] }
    const { port } = await serving({ maxConnectionsPerAddress: 1 }, { trustedProxies })
    await used(port)
    expect((await used(port)).destroyed).toBe(false)
  })

  describe.each(['Node', 'the app'] as const)('with routes of %s', (face) => {
    test('refuses a request of a service with too many running ones, but not of another', async () => {
      const { post, started, url, lines } = await serving({ maxRequests: 1 }, { face })
      const { response, finish } = await started('waits', 'x')
      const refused = await post('any', 'x')
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      expect(refused.headers.get('x-request-id')).not.toBe(null)
      expect(await codeOf(refused)).toBe('server.overloaded')
      expect((await fetch(`${url}/other`)).status).toBe(200)
      finish()
      expect((await response).status).toBe(200)
      expect((await post('any', 'x')).status).toBe(200)
      const logged = lines.join('')
      expect(logged).toContain('"service":"box"')
      expect(logged).toContain('too many requests are running, refusing more')
      expect(logged).not.toContain('request failed')
    })

    test('refuses a body while others fill the memory for bodies', async () => {
      const { post, started } = await serving({ maxBodyBytes: 1_000 }, { face })
      const { response, finish } = await started('waits', 'x'.repeat(600))
      const refused = await post('any', 'x'.repeat(401))
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([413, '1'])
      expect(await codeOf(refused)).toBe('server.body_overloaded')
      expect(await (await post('any', 'x'.repeat(400))).text()).toBe('400')
      finish()
      expect(await (await response).text()).toBe('600')
      for (let n = 0; n < 3; n++) {
        expect(await (await post('any', 'x'.repeat(1_000))).text()).toBe('1000')
      }
    })

    test('releases the bytes of bodies that were too large or incomplete', async () => {
      const { port, post } = await serving({ maxBodyBytes: 1_000 }, { face })
      for (const end of ['', '3e8\r\n']) {
        const socket = await opened(port)
        socket.write('POST /box/any HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n')
        socket.write(`1f4\r\n${'x'.repeat(500)}\r\n${end}`)
        if (end === '') socket.end()
        else socket.write('x'.repeat(1_000))
        await closed(socket)
      }
      expect(await (await post('any', 'x'.repeat(1_000))).text()).toBe('1000')
    })

    test.each([
      ['with a length', 'content-length: 900'],
      ['in chunks', 'transfer-encoding: chunked'],
    ])('does not wait for a body %s that no one will use', async (_, header) => {
      const { port } = await serving({}, { face })
      const socket = await opened(port)
      socket.write(`POST /box/missing HTTP/1.1\r\nhost: x\r\n${header}\r\n\r\n`)
      expect(String(await once(socket, 'data'))).toContain('HTTP/1.1 404')
    })

    test('reads a body that comes one byte at a time', async () => {
      const { port } = await serving({}, { face })
      const socket = await opened(port)
      socket.write('POST /box/any HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n')
      socket.write('connection: close\r\n\r\n')
      for (let n = 0; n < 900; n++) socket.write('1\r\nx\r\n')
      socket.write('0\r\n\r\n')
      expect(await closed(socket)).toMatch(/\r\n\r\n(?:3\r\n)?900/)
    })
  })
})

describe('the connections of IPv6 clients', () => {
  const fill = (addresses: string[]) => {
    const capacity = createCapacity({ limits: { maxConnectionsPerAddress: 2 } })
    const admitted = addresses.filter((address) => !capacity.enterConnection(address))
    return { capacity, admitted: admitted.length }
  }
  const each = (count: number, toAddress: (n: string) => string) =>
    Array.from({ length: count }, (_, n) => toAddress(n.toString(16)))

  test('are limited for a /64, at four times the limit for a /56 and sixteen times for a /48', () => {
    expect(fill(each(5, (n) => `2001:db8::${n}`)).admitted).toBe(2)
    expect(fill(each(20, (n) => `2001:db8:0:a${n.padStart(2, '0')}::1`)).admitted).toBe(8)
    expect(fill(each(100, (n) => `2001:db8:0:${n}00::1`)).admitted).toBe(32)
    expect(fill(each(100, (n) => `2001:db8:${n}::1`)).admitted).toBe(100)
    expect(fill(each(5, () => '::ffff:203.0.113.1')).admitted).toBe(2)
  })

  test('make room when they close', () => {
    const { capacity } = fill(['2001:db8::1', '2001:db8::2'])
    expect(capacity.enterConnection('2001:db8::3')).toBe('address_connections')
    capacity.leaveConnection('2001:db8::1')
    expect(capacity.enterConnection('2001:db8::3')).toBe(undefined)
  })
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createApp } from '../src/http/app.ts'
import { bodyLimit } from '../src/http/body-limit.ts'
import { createCapacity } from '../src/http/capacity.ts'
import {
  createHotMatcher,
  honoHandler,
  type HotRoute,
  mountHotRoutes,
} from '../src/http/hot-routes.ts'
import { listen, nodeListener } from '../src/http/node.ts'
import { createLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'
import { testClock } from '../src/testing/test-clock.ts'
import { testTimers } from '../src/testing/test-timers.ts'

const MAX_BYTES = 200_000

/** A server with a hot route whose requests end when the test says so, a probe and a route of the app. */
async function serving(maxHotRequests: number, face: 'Node' | 'the app' = 'Node') {
  const clock = testClock()
  const timers = testTimers(clock)
  const lines: string[] = []
  const log = createLog({ sink: (line) => lines.push(line) })
  const metrics = createMetrics()
  const capacity = createCapacity({ limits: { maxHotRequests }, metrics })
  const http = { log, metrics, capacity, now: () => clock.now(), startTimer: timers.start }
  const stored: string[] = []
  const waiting: (() => void)[] = []
  const box: HotRoute = {
    methods: ['POST'],
    path: '/box/:id',
    maxBodyBytes: MAX_BYTES,
    ownerOf: (id) => /^owner-\w/.exec(id)?.[0],
    async handle({ body, parameter }) {
      stored.push(parameter)
      await new Promise<void>((resolve) => waiting.push(resolve))
      return { status: 200, contentType: 'text/plain', body: String(body.byteLength) }
    },
  }
  const probe: HotRoute = {
    methods: ['GET'],
    path: '/healthz',
    maxBodyBytes: 0,
    handle: async () => ({ status: 200, contentType: 'text/plain', body: 'ok' }),
  }
  const app = createApp(http)
  app.use('/box/*', async (c, next) => {
    c.get('call').enterService('box')
    await next()
  })
  app.on([...box.methods], [box.path], bodyLimit(MAX_BYTES), honoHandler(box))
  app.get('/healthz', honoHandler(probe))
  app.get('/box', (c) => {
    c.get('call').enterService('box')
    return c.text('listed')
  })
  const hot = mountHotRoutes({ hotRoutes: [box, probe] }, 'box', '/')
  const listener = await listen('127.0.0.1', 0, http)
  onTestFinished(() => listener.close())
  listener.serve(face === 'Node' ? nodeListener(app, createHotMatcher(hot)) : nodeListener(app))
  const { port } = listener
  const url = `http://127.0.0.1:${port}`
  const post = (id: string, body = 'x') => fetch(`${url}/box/${id}`, { method: 'POST', body })
  return {
    port,
    url,
    metrics,
    timers,
    stored,
    post,
    logged: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    finishAll: () => waiting.splice(0).forEach((finish) => finish()),
  }
}

describe.each(['Node', 'the app'] as const)('the hot routes of a service, run by %s', (face) => {
  test('are refused beyond their limit with 503 and Retry-After, run nothing, and recover', async () => {
    const { post, stored, finishAll, metrics } = await serving(1, face)
    const first = post('first')
    await expect.poll(() => stored).toEqual(['first'])
    const refused = await post('second')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('x-request-id')).not.toBe(null)
    expect(refused.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await refused.json()).toMatchObject({ error: { code: 'server.overloaded' } })
    expect(stored).toEqual(['first'])
    expect(await metrics.text()).toContain('strongroom_http_refused_total{limit="hot_requests"} 1')

    finishAll()
    expect((await first).status).toBe(200)
    const third = post('third')
    await expect.poll(() => stored).toEqual(['first', 'third'])
    finishAll()
    expect((await third).status).toBe(200)
  })

  test('do not keep probes and other routes of the service from responding', async () => {
    const { post, url, stored, finishAll } = await serving(1, face)
    const running = post('first')
    await expect.poll(() => stored).toEqual(['first'])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await (await fetch(`${url}/box`)).text()).toBe('listed')
    finishAll()
    await running
  })

  test('of many simultaneous requests run exactly as many as the limit allows', async () => {
    const { post, stored, finishAll } = await serving(8, face)
    const responses = Array.from({ length: 60 }, (_, n) => post(`n${n}`))
    let refused = 0
    const counted = responses.map(async (response) => {
      if ((await response).status === 503) refused += 1
    })
    await expect.poll(() => refused).toBe(52)
    expect(stored.length).toBe(8)
    finishAll()
    await Promise.all(counted)
    expect(refused).toBe(52)
    const again = post('again')
    await expect.poll(() => stored.length).toBe(9)
    finishAll()
    expect((await again).status).toBe(200)
  })

  test('are left to others by an owner that has three quarters of them', async () => {
    const { post, stored, finishAll } = await serving(4, face)
    const flood = Array.from({ length: 3 }, (_, n) => post(`owner-a${n}`))
    await expect.poll(() => stored.length).toBe(3)
    expect((await post('owner-a3')).status).toBe(503)
    const other = post('owner-b')
    await expect.poll(() => stored.length).toBe(4)
    expect((await post('owner-c')).status).toBe(503)
    finishAll()
    for (const response of [...flood, other]) expect((await response).status).toBe(200)
    const again = post('owner-a4')
    await expect.poll(() => stored.length).toBe(5)
    finishAll()
    expect((await again).status).toBe(200)
  })

  test('are not occupied by a request that has not sent its body', async () => {
    const { port, post, stored, finishAll } = await serving(1, face)
    const slow = connect(port, '127.0.0.1').setEncoding('utf8')
    onTestFinished(() => void slow.destroy())
    slow.write('POST /box/slow HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\na')
    const quick = post('quick')
    await expect.poll(() => stored).toEqual(['quick'])
    // Now the body ends while another request has the only place.
    slow.write('b')
    expect(String(await once(slow, 'data'))).toContain('HTTP/1.1 503')
    finishAll()
    expect((await quick).status).toBe(200)
    expect(stored).toEqual(['quick'])
  })
})

describe('a refused request of a hot route', () => {
  const head = (bytes: number) =>
    `POST /box/more HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`

  test('leaves its connection open, and the next request on it is admitted', async () => {
    const { port, post, stored, finishAll } = await serving(1)
    const running = post('first')
    await expect.poll(() => stored).toEqual(['first'])
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    onTestFinished(() => void socket.destroy())
    socket.write(`${head(1_000)}${'x'.repeat(1_000)}`)
    const refused = String(await once(socket, 'data'))
    expect(refused).toContain('HTTP/1.1 503')
    expect(refused.toLowerCase()).not.toContain('connection: close')
    finishAll()
    await running
    socket.write(`${head(3)}abc`)
    await expect.poll(() => stored).toEqual(['first', 'more'])
    finishAll()
    expect(String(await once(socket, 'data'))).toContain('HTTP/1.1 200')
  })

  test('closes its connection instead of reading a long body', async () => {
    const { port, post, stored, finishAll } = await serving(1)
    const running = post('first')
    await expect.poll(() => stored).toEqual(['first'])
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    onTestFinished(() => void socket.destroy())
    socket.write(head(MAX_BYTES))
    expect(String(await once(socket, 'data')).toLowerCase()).toContain('connection: close')
    finishAll()
    await running
  })

  test('is counted, and logged only when an overload begins and when it has ended', async () => {
    const { post, stored, finishAll, timers, logged, metrics } = await serving(1)
    const running = post('first')
    await expect.poll(() => stored).toEqual(['first'])
    for (let n = 0; n < 5; n++) expect((await post('more')).status).toBe(503)
    expect(logged()).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: 'too many requests are running, refusing more',
        service: 'box',
      }),
    ])
    finishAll()
    expect((await running).status).toBe(200)
    await timers.pass({ seconds: 9 })
    expect(logged().map(({ message }) => message)).not.toContain('overload ended')
    await timers.pass({ seconds: 11 })
    expect(logged().at(-1)).toMatchObject({ message: 'overload ended', service: 'box', refused: 5 })
    expect(await metrics.text()).toContain('limit="hot_requests"} 5')
  })
})

import { request as nodeRequest } from 'node:http'
import { connect } from 'node:net'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import { createApp, type AppOptions } from '@strongroom/kit/http/app'
import { serverError } from '@strongroom/kit/http/errors'
import {
  createHotMatcher,
  honoHandler,
  type HotRequest,
  type HotRoute,
  mountHotRoutes,
} from '@strongroom/kit/http/hot-routes'
import { nodeListener } from '@strongroom/kit/http/node'
import type { Call, HttpRequest } from '@strongroom/kit/http/request'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listen } from '../../kit/src/http/node.ts'

const LIMIT = 1_000

type Handle = HotRoute['handle']

/** A route that returns its input. */
const echo: Handle = async ({ body, rawHeaders, ...request }) => ({
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify({
    ...request,
    marks: rawHeaders.filter((_, at) => /^x-mark$/i.test(rawHeaders[at - 1] ?? '')),
    body: Buffer.from(body).toString('hex'),
  }),
})

/** The same route on a server, run by Node or by the app. */
async function serving(
  face: 'Node' | 'the app',
  handle: Handle,
  options: Partial<AppOptions> = {},
) {
  const lines: string[] = []
  const log = createLog({ sink: (line) => lines.push(line) })
  const metrics = createMetrics()
  const http = { log, metrics, publicUrl: 'https://hooks.example', ...options }
  const route: HotRoute = {
    methods: ['POST', 'PUT'],
    path: '/in/:id',
    maxBodyBytes: LIMIT,
    handle,
  }
  const app = createApp(http)
  app.use('/in/:id', async (c, next) => {
    c.get('call').enterService('box')
    await next()
  })
  app.on([...route.methods], ['/in/:id'], bodyLimit(LIMIT), honoHandler(route))
  const findHotRoute = createHotMatcher(mountHotRoutes({ hotRoutes: [route] }, 'box', '/'))
  const taken: boolean[] = []
  const listener = await listen('127.0.0.1', 0, http)
  onTestFinished(() => listener.close())
  const find: typeof findHotRoute = (method, target) => {
    const found = face === 'Node' ? findHotRoute(method, target) : undefined
    taken.push(found !== undefined)
    return found
  }
  listener.serve(nodeListener(app, find))
  return {
    port: listener.port,
    url: `http://127.0.0.1:${listener.port}`,
    taken,
    metrics,
    lines,
    logged: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => ({
  method: 'POST',
  body,
  headers,
})

describe.each(['Node', 'the app'] as const)('a hot route run by %s', (face) => {
  test('gets method, parameter, query, headers, bytes and address as they were sent', async () => {
    const { url, taken } = await serving(face, echo)
    const bytes = new Uint8Array([0xff, 0x00, 0x0d, 0x0a, 0x80])
    const answer = await fetch(`${url}/in/src_A-1?a=%20b&a=2`, post(bytes, { 'X-Mark': 'Ä b' }))
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      method: 'POST',
      parameter: 'src_A-1',
      query: 'a=%20b&a=2',
      marks: ['Ä b'],
      body: 'ff000d0a80',
      clientAddress: '127.0.0.1',
    })
    expect(taken).toEqual([face === 'Node'])
    const bare = await fetch(`${url}/in/x`, { method: 'PUT' })
    expect(await bare.json()).toMatchObject({ method: 'PUT', body: '' })
  })

  test('leaves other methods and paths to the app', async () => {
    const { url } = await serving(face, echo)
    expect((await fetch(`${url}/in/x`)).status).toBe(405)
    expect((await fetch(`${url}/in/x/y`, post(''))).status).toBe(404)
    expect((await fetch(`${url}/in/`, post(''))).status).toBe(404)
    expect((await fetch(`${url}/other`, post(''))).status).toBe(404)
    const decoded = await fetch(`${url}/in/%41`, post(''))
    expect(await decoded.json()).toMatchObject({ parameter: 'A' })
  })

  test('sends the common headers, and a request id that only a trusted proxy can set', async () => {
    const { url } = await serving(face, echo)
    const id = '3b0f8f6e-9d0c-4f0e-9f43-1d7f3f5e3d11'
    const given = { 'x-request-id': id, 'x-forwarded-for': '203.0.113.9' }
    const { headers } = await fetch(`${url}/in/x`, post('', given))
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers.get('x-request-id')).not.toBe(id)
    const trusting = await serving(face, echo, { trustedProxies: { hops: 1 } })
    const trusted = await fetch(`${trusting.url}/in/x`, post('', given))
    expect(trusted.headers.get('x-request-id')).toBe(id)
    expect(await trusted.json()).toMatchObject({ clientAddress: '203.0.113.9' })
  })

  test('accepts a body of exactly its limit and rejects one byte more, with or without a length', async () => {
    const { url, logged } = await serving(face, echo)
    const chunked = (size: number) => ({
      method: 'POST',
      body: new Blob([new Uint8Array(size)]).stream(),
      duplex: 'half' as const,
    })
    expect((await fetch(`${url}/in/x`, post(new Uint8Array(LIMIT)))).status).toBe(200)
    expect((await fetch(`${url}/in/x`, chunked(LIMIT))).status).toBe(200)
    for (const init of [post(new Uint8Array(LIMIT + 1)), chunked(LIMIT + 1)]) {
      const answer = await fetch(`${url}/in/x`, init)
      expect(answer.status).toBe(413)
      expect(await answer.json()).toMatchObject({
        error: { code: 'request.too_large', data: { maxBytes: LIMIT } },
      })
    }
    expect(logged().at(-1)).toMatchObject({ status: 413, code: 'request.too_large' })
  })

  test('rejects a declared length over the limit before the body arrives', async () => {
    const { url } = await serving(face, echo)
    const headers = { 'content-length': '5000000' }
    const sending = nodeRequest(`${url}/in/x`, { method: 'POST', headers })
    sending.on('error', () => {})
    sending.flushHeaders()
    const status = await new Promise((resolve) =>
      sending.once('response', (answer) => resolve(answer.statusCode)),
    )
    expect(status).toBe(413)
    sending.destroy()
  })

  test('does not run for an incomplete request', async () => {
    const handled: HotRequest[] = []
    const handle: Handle = async (request) => {
      handled.push(request)
      return echo(request)
    }
    const { port, taken, logged } = await serving(face, handle)
    const socket = connect(port, '127.0.0.1')
    socket.write('POST /in/x HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf')
    await expect.poll(() => taken).toHaveLength(1)
    socket.destroy()
    await expect.poll(() => logged().map(({ code }) => code)).toEqual(['request.incomplete'])
    expect(handled).toEqual([])
  })

  test('returns errors of the catalogue, and server.internal for any other', async () => {
    const handle: Handle = async ({ parameter }) => {
      if (parameter === 'defect') throw new Error('The password is tiger')
      throw serverError('unavailable', { cause: new Error('Why'), headers: { 'retry-after': '7' } })
    }
    const { url, logged, lines } = await serving(face, handle)
    const busy = await fetch(`${url}/in/busy`, post('b0dy'))
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '7'])
    expect(busy.headers.get('x-content-type-options')).toBe('nosniff')
    expect(busy.headers.get('content-type')).toBe('application/json')
    const id = busy.headers.get('x-request-id')
    expect(logged()).toMatchObject([
      { message: 'request failed', requestId: id, error: { message: 'Why' } },
      { message: 'request', requestId: id, status: 503, code: 'server.unavailable' },
    ])
    const defect = await fetch(`${url}/in/defect`, post('b0dy'))
    expect(defect.status).toBe(500)
    expect(await defect.text()).not.toContain('tiger')
    expect(lines.join('')).not.toMatch(/b0dy|\/in\/(busy|defect)/)
  })

  test('does not log an expected 5xx as a failure, because anybody can cause it', async () => {
    const { url, logged } = await serving(face, async () => {
      throw serverError('unavailable', { isExpected: true })
    })
    expect((await fetch(`${url}/in/x`, post('b0dy'))).status).toBe(503)
    expect(logged()).toMatchObject([{ message: 'request', code: 'server.unavailable' }])
  })

  test('responds without a body if the status has none', async () => {
    const none: Handle = async () => ({ status: 204, contentType: 'text/plain', body: '' })
    const { url } = await serving(face, none)
    const answer = await fetch(`${url}/in/x`, post(''))
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect(answer.headers.get('content-length')).toBeNull()
  })

  test('appears in log and metrics by its pattern', async () => {
    const { url, logged, metrics } = await serving(face, echo)
    await fetch(`${url}/in/src_1?secret=1`, post('x'))
    expect(logged()).toMatchObject([
      { message: 'request', service: 'box', method: 'POST', route: '/in/:id', status: 200 },
    ])
    const text = await metrics.text()
    expect(text).toContain(
      'strongroom_http_requests_total{service="box",route="/in/:id",method="POST",status="200"} 1',
    )
  })
})

test('a hot route has the same bytes and headers on Node and in the app', async () => {
  const handle: Handle = async (request) => {
    if (request.parameter === 'none') throw serverError('unavailable')
    return echo(request)
  }
  const seen = []
  for (const face of ['Node', 'the app'] as const) {
    const { url } = await serving(face, handle)
    for (const id of ['some', 'none']) {
      const answer = await fetch(`${url}/in/${id}`, post('{}'))
      const headers = Object.fromEntries(answer.headers)
      for (const name of ['x-request-id', 'date']) delete headers[name]
      seen.push({ status: answer.status, headers, body: await answer.text() })
    }
  }
  expect(seen.slice(0, 2)).toEqual(seen.slice(2))
})

describe('a request', () => {
  const route = (path: HotRoute['path'], method = 'POST') => ({
    methods: [method],
    path,
    maxBodyBytes: LIMIT,
    handle: echo,
  })
  const hotRoutes = [
    route('/v1/things'),
    route('/v1/things/:id', 'DELETE'),
    route('/v1/things/:id/open'),
    { ...route('/in/:id'), atRoot: true },
  ]
  const match = createHotMatcher(mountHotRoutes({ hotRoutes }, 'box', '/box'))

  test.each([
    ['POST', '/box/v1/things', '/box/v1/things', ''],
    ['POST', '/box/v1/things?a=/b', '/box/v1/things', ''],
    ['DELETE', '/box/v1/things/a_B-1', '/box/v1/things/:id', 'a_B-1'],
    ['POST', '/box/v1/things/a/open', '/box/v1/things/:id/open', 'a'],
    ['POST', '/box/v1/things/a/open?x', '/box/v1/things/:id/open', 'a'],
    ['POST', '/in/open', '/in/:id', 'open'],
  ])('%s %s runs the hot route %s', async (method, target, pattern, parameter) => {
    const found = match(method, target)
    expect(found).toMatchObject({ pattern })
    const bytes = new Uint8Array()
    const readBody = async () => ({ kind: 'read' as const, bytes })
    const request = { method, target, rawHeaders: [] } as unknown as HttpRequest
    const none = { enterHotRoute() {}, restartDeadline() {} }
    const call = { ...none, readBody } as unknown as Call
    const response = await found?.handle(request, call)
    expect(JSON.parse(response?.body ?? '')).toMatchObject({ parameter })
  })

  test.each([
    ['GET', '/box/v1/things'],
    ['POST', '/box/v1/things/'],
    ['POST', '/box/v1/thingsy'],
    ['POST', '/box/v1/things/a'],
    ['POST', '/box/v1/things/open'],
    ['POST', '/box/v1/things//open'],
    ['POST', '/box/v1/things/a/b/open'],
    ['POST', '/box/v1/things/%41/open'],
    ['POST', '/box/v1/things/a/open/'],
    ['POST', '/box/v1/things/../open'],
    ['POST', '//box/v1/things'],
    ['POST', 'http://here/box/v1/things'],
    ['POST', ''],
  ])('%s %s runs in the app', (method, url) => {
    expect(match(method, url)).toBeUndefined()
  })
})

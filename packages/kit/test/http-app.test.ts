import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { HTTPException } from 'hono/http-exception'
import { describe, expect, test } from 'vitest'
import { defineErrors } from '../src/errors.ts'
import { type AppOptions, createApp } from '../src/http/app.ts'
import { bodyLimit } from '../src/http/body-limit.ts'
import { pagePolicy } from '../src/http/content-security-policy.ts'
import type { AppEnv } from '../src/http/env.ts'
import { jsonBody, jsonResponse } from '../src/http/openapi.ts'
import { rateLimited, rateLimitHeaders } from '../src/http/rate-limit-headers.ts'
import { createLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'

const boxError = defineErrors('box', { locked: [423, 'This box is locked'] })

function testApp(options: Partial<AppOptions> = {}) {
  const lines: string[] = []
  const log = createLog({ level: 'debug', sink: (line) => lines.push(line) })
  const metrics = createMetrics()
  const app = createApp({ log, metrics, ...options })
  const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { app, metrics, lines, logged }
}

/** The `c.env` of Node's server for a connection from this address. */
const from = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } })

const Box = z.object({
  name: z.string().min(2),
  size: z.int().max(9).optional(),
  tags: z.array(z.strictObject({ id: z.string() })).optional(),
})

/** A typical service: its own app without settings, mounted in the app. */
function withBoxes(options: Partial<AppOptions> = {}) {
  const made = testApp(options)
  const boxes = new OpenAPIHono<AppEnv>()
  boxes.openapi(
    createRoute({
      method: 'post',
      path: '/boxes/{id}',
      request: {
        params: z.object({ id: z.string().max(8) }),
        query: z.object({ limit: z.coerce.number().max(5).optional() }),
        headers: z.object({ 'x-mode': z.enum(['a', 'b']).optional() }),
        body: jsonBody(Box),
      },
      responses: { 200: jsonResponse(Box, 'The box') },
    }),
    (c) => c.json(c.req.valid('json'), 200),
  )
  made.app.route('/box', boxes)
  return made
}

const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

async function errorOf(response: Response) {
  const body = (await response.json()) as { error: Record<string, unknown> }
  expect(Object.keys(body)).toEqual(['error'])
  const error: Record<string, unknown> = { status: response.status, ...body.error }
  return error
}

describe('a valid request', () => {
  test('is handled by its service', async () => {
    const { app } = withBoxes()
    const response = await app.request(
      '/box/boxes/b1?limit=3',
      json({ name: 'tin' }, { 'x-mode': 'a' }),
    )
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ name: 'tin' })
  })
})

describe('an invalid request', () => {
  test('gets every invalid field of its body by path, without values', async () => {
    const { app } = withBoxes()
    const body = { name: 7, size: 44, tags: [{ id: 'x' }, { id: 3, 'sword fish': 1, extra: 2 }] }
    const error = await errorOf(await app.request('/box/boxes/b1', json(body)))
    expect(error).toEqual({
      status: 400,
      code: 'request.invalid',
      message: 'The request is not valid: correct the fields named in details',
      details: [
        { path: 'body.name', message: 'Invalid input: expected string, received number' },
        { path: 'body.size', message: 'Too big: expected number to be <=9' },
        { path: 'body.tags[1].id', message: 'Invalid input: expected string, received number' },
        { path: 'body.tags[1].(unreadable name)', message: 'Is not a known field' },
        { path: 'body.tags[1].extra', message: 'Is not a known field' },
      ],
    })
    expect(JSON.stringify(error)).not.toMatch(/44|sword/)
  })

  test.each([
    ['/box/boxes/much-too-long', {}, 'path.id'],
    ['/box/boxes/b1?limit=6', {}, 'query.limit'],
    ['/box/boxes/b1', { 'x-mode': 'swordfish' }, 'header.x-mode'],
  ])('gets the invalid part outside its body: %s', async (path, headers, wrong) => {
    const { app } = withBoxes()
    const error = await errorOf(await app.request(path, json({ name: 'tin' }, headers)))
    expect(error).toMatchObject({ code: 'request.invalid', details: [{ path: wrong }] })
    expect(JSON.stringify(error)).not.toContain('swordfish')
  })

  test('gets the missing fields, even without a body', async () => {
    const { app } = withBoxes()
    for (const init of [json({}), { method: 'POST' }]) {
      expect(await errorOf(await app.request('/box/boxes/b1', init))).toMatchObject({
        code: 'request.invalid',
        details: [{ path: 'body.name', message: 'Is required' }],
      })
    }
  })

  test('gets the issues of the closest alternative of a union', async () => {
    const { app } = testApp()
    const schema = z.object({
      shape: z.union([z.string(), z.object({ round: z.object({ r: z.number() }) })]),
    })
    app.openapi(
      createRoute({
        method: 'post',
        path: '/u',
        request: { body: jsonBody(schema) },
        responses: { 200: { description: 'x' } },
      }),
      (c) => c.text('ok'),
    )
    const nested = await errorOf(await app.request('/u', json({ shape: { round: { r: 'x' } } })))
    expect(nested['details']).toEqual([
      { path: 'body.shape.round.r', message: 'Invalid input: expected number, received string' },
    ])
    const other = await errorOf(await app.request('/u', json({ shape: 7 })))
    expect(other['details']).toEqual([{ path: 'body.shape', message: 'Invalid input' }])
  })

  test('gets at most twenty details', async () => {
    const { app } = withBoxes()
    const tags = Array.from({ length: 100 }, () => ({}))
    const error = await errorOf(await app.request('/box/boxes/b1', json({ name: 'tin', tags })))
    expect(error['details']).toHaveLength(20)
  })

  test('is rejected as malformed if its body is not JSON', async () => {
    const { app } = withBoxes()
    const error = await errorOf(await app.request('/box/boxes/b1', json('{"name": swordfish')))
    expect(error).toEqual({
      status: 400,
      code: 'request.malformed_json',
      message: 'The request body is not valid JSON',
    })
  })

  test.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'json'])(
    'is refused when its content type is %s where JSON is needed',
    async (type) => {
      const { app } = withBoxes()
      const response = await app.request(
        '/box/boxes/b1',
        json({ name: 'tin' }, { 'content-type': type }),
      )
      expect(await errorOf(response)).toMatchObject({
        status: 415,
        code: 'request.unsupported_media_type',
      })
    },
  )

  test('gets 404 at an unknown path', async () => {
    const { app } = withBoxes()
    for (const path of ['/nothing', '/box', '/box/nothing', '/box/boxes/a/b', '/%ff%zz']) {
      expect(await errorOf(await app.request(path))).toMatchObject({
        status: 404,
        code: 'request.not_found',
      })
    }
  })

  test('gets 405 with the allowed methods for a wrong method', async () => {
    const { app } = withBoxes()
    app.get('/thing/:id', (c) => c.text('x'))
    app.delete('/thing/:id', (c) => c.text('x'))
    const wrong = await app.request('/thing/1', { method: 'PUT' })
    expect(wrong.headers.get('allow')).toBe('DELETE, GET, HEAD')
    expect(await errorOf(wrong)).toMatchObject({ status: 405, code: 'request.method_not_allowed' })
    const mounted = await app.request('/box/boxes/b1')
    expect(mounted.status).toBe(405)
    expect(mounted.headers.get('allow')).toBe('POST')
    expect((await app.request('/thing/1', { method: 'HEAD' })).status).toBe(200)
  })

  test('gets 404 although a wildcard page matches the path', async () => {
    const { app } = testApp()
    app.get('/*', (c) => c.notFound())
    expect(await errorOf(await app.request('/nothing', { method: 'POST' }))).toMatchObject({
      status: 404,
    })
    expect(await errorOf(await app.request('/nothing'))).toMatchObject({ status: 404 })
  })

  test('gets the error of the service with its details, data and headers', async () => {
    const { app } = testApp()
    app.get('/locked', (c) => {
      c.header('cache-control', 'public, max-age=60')
      throw boxError('locked', {
        data: { triesLeft: 2 },
        headers: { 'x-hint': 'wait' },
        cause: new Error('swordfish'),
      })
    })
    const response = await app.request('/locked')
    expect(response.headers.get('x-hint')).toBe('wait')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await response.json()).toEqual({
      error: { code: 'box.locked', message: 'This box is locked', data: { triesLeft: 2 } },
    })
  })
})

/** A body that arrives in these pieces. */
const chunks = (...parts: string[]) => {
  let cancelled = false
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift()
      if (part === undefined) controller.close()
      else controller.enqueue(new TextEncoder().encode(part))
    },
    cancel() {
      cancelled = true
    },
  })
  return {
    init: { method: 'POST', body, duplex: 'half' } as RequestInit,
    wasCancelled: () => cancelled,
  }
}

describe('a body', () => {
  const tenBytes = { maxBodyBytes: 10 }
  const echo = (options: Partial<AppOptions> = {}) => {
    const { app } = testApp({ ...tenBytes, ...options })
    app.post('/echo', async (c) => c.text(await c.req.text()))
    app.post('/large', bodyLimit(20), async (c) => c.text(await c.req.text()))
    app.post('/small', bodyLimit(5), async (c) => c.text(await c.req.text()))
    return app
  }

  test('of exactly the limit arrives unchanged, in one chunk or many', async () => {
    expect(
      await (await echo().request('/echo', { method: 'POST', body: '0123456789' })).text(),
    ).toBe('0123456789')
    expect(await (await echo().request('/echo', chunks('01234', '56789').init)).text()).toBe(
      '0123456789',
    )
  })

  test('over the limit is rejected with the limit before the handler runs', async () => {
    const response = await echo().request('/echo', { method: 'POST', body: '0123456789x' })
    expect(await errorOf(response)).toMatchObject({
      status: 413,
      code: 'request.too_large',
      data: { maxBytes: 10 },
    })
  })

  test('in chunks is read only up to the limit', async () => {
    const stream = chunks('01234', '56789', 'x', 'never read', 'never read')
    expect((await echo().request('/echo', stream.init)).status).toBe(413)
    expect(stream.wasCancelled()).toBe(true)
  })

  test('whose declared length is over the limit is not read at all', async () => {
    const stream = chunks('0')
    const init = { ...stream.init, headers: { 'content-length': '11' } }
    expect((await echo().request('/echo', init)).status).toBe(413)
  })

  test('that is longer than its declared length is rejected', async () => {
    const init = { ...chunks('0123456789', 'x').init, headers: { 'content-length': '3' } }
    expect((await echo().request('/echo', init)).status).toBe(413)
  })

  test('whose length Node guarantees is passed on without a copy', async () => {
    const init = { method: 'POST', body: '0123', headers: { 'content-length': '4' } }
    expect(await (await echo().request('/echo', init, from('192.0.2.1'))).text()).toBe('0123')
    const chunked = {
      ...chunks('0123456789', 'x').init,
      headers: { 'transfer-encoding': 'chunked' },
    }
    expect((await echo().request('/echo', chunked, from('192.0.2.1'))).status).toBe(413)
  })

  test('has the limit of its route, larger or smaller', async () => {
    const app = echo()
    expect((await app.request('/large', { method: 'POST', body: 'x'.repeat(20) })).status).toBe(200)
    expect((await app.request('/large', { method: 'POST', body: 'x'.repeat(21) })).status).toBe(413)
    expect((await app.request('/small', { method: 'POST', body: 'x'.repeat(6) })).status).toBe(413)
  })

  test('has the limit of its route in a mounted service too', async () => {
    const { app } = testApp(tenBytes)
    const service = new OpenAPIHono<AppEnv>()
    service.openapi(
      createRoute({
        method: 'post',
        path: '/raw',
        middleware: [bodyLimit(20)],
        responses: { 200: { description: 'x' } },
      }),
      async (c) => c.text(await c.req.text()),
    )
    app.route('/service', service)
    expect(
      (await app.request('/service/raw', { method: 'POST', body: 'x'.repeat(20) })).status,
    ).toBe(200)
    expect(
      (await app.request('/service/raw', { method: 'POST', body: 'x'.repeat(21) })).status,
    ).toBe(413)
  })

  test('cannot have a limit outside an app that applies it', async () => {
    const bare = new OpenAPIHono<AppEnv>()
    bare.onError((error, c) => c.text(error.message, 500))
    bare.post('/x', bodyLimit(5), (c) => c.text('x'))
    expect(await (await bare.request('/x', { method: 'POST' })).text()).toContain('outside an app')
  })
})

describe('a defect', () => {
  test('is logged with its cause', async () => {
    const { app, logged } = testApp()
    app.get('/broken', () => {
      throw new TypeError('Cannot read the box')
    })
    await app.request('/broken')
    expect(logged()[0]).toMatchObject({
      level: 'error',
      error: { name: 'TypeError', message: 'Cannot read the box', stack: expect.any(String) },
    })
  })

  test.each([
    ['an error', new Error('swordfish')],
    ['a text', 'swordfish'],
    ['nothing at all', undefined],
    ['an exception of the framework', new HTTPException(418, { message: 'swordfish' })],
  ])(
    'that throws %s is answered server.internal, tells nothing, and is logged with the request id',
    async (_, thrown) => {
      const { app, logged } = testApp()
      app.get('/broken', () => {
        throw thrown
      })
      const response = await app.request('/broken')
      const text = await response.clone().text()
      expect(text).not.toContain('swordfish')
      expect(await errorOf(response)).toMatchObject({ status: 500, code: 'server.internal' })
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      const line = logged().find(({ level }) => level === 'error')
      expect(line).toMatchObject({
        requestId: response.headers.get('x-request-id'),
        code: 'server.internal',
      })
    },
  )

  test('in the data of an error is a defect like any other', async () => {
    const { app } = testApp()
    app.get('/broken', () => {
      throw boxError('locked', { data: { big: 1n } })
    })
    expect(await errorOf(await app.request('/broken'))).toMatchObject({ code: 'server.internal' })
  })
})

describe('an outage of the store or of KMS', () => {
  test.each([
    'ThrottlingException',
    'DisabledException',
    'KMSInternalException',
    'ProvisionedThroughputExceededException',
    'InternalServerError',
  ])('(%s) becomes server.unavailable with Retry-After', async (name) => {
    const { app, logged } = testApp()
    app.get('/x', () => {
      throw Object.assign(new Error('swordfish'), { name })
    })
    const response = await app.request('/x')
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await errorOf(response)).toMatchObject({ status: 503, code: 'server.unavailable' })
    expect(logged().some(({ level }) => level === 'error')).toBe(true)
  })

  test('without free space becomes server.storage_full', async () => {
    const { app } = testApp()
    app.get('/x', () => {
      throw Object.assign(new Error('swordfish'), { code: 'ENOSPC' })
    })
    expect(await errorOf(await app.request('/x'))).toMatchObject({
      status: 507,
      code: 'server.storage_full',
    })
  })
})

describe('a limit', () => {
  const state = { limit: { limit: 10 }, remaining: 0, resetSeconds: 59.2, retryAfterSeconds: 5.1 }

  test('that is exceeded responds request.rate_limited with Retry-After', async () => {
    const { app } = testApp()
    app.get('/limited', () => {
      throw rateLimited(state)
    })
    const response = await app.request('/limited')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'ratelimit-limit': '10',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '60',
      'retry-after': '6',
    })
    expect(await errorOf(response)).toMatchObject({ status: 429, code: 'request.rate_limited' })
  })

  test('never sends a Retry-After of 0', () => {
    expect(rateLimited({ ...state, retryAfterSeconds: 0 }).headers).toMatchObject({
      'retry-after': '1',
    })
  })

  test('that is not exceeded reports what is left, without Retry-After', () => {
    expect(rateLimitHeaders({ ...state, remaining: 3.7, retryAfterSeconds: 0 })).toEqual({
      'ratelimit-limit': '10',
      'ratelimit-remaining': '3',
      'ratelimit-reset': '60',
    })
  })
})

describe('every response', () => {
  const answers: [string, string, RequestInit?][] = [
    ['a handler', '/ok'],
    ['an unknown address', '/nothing'],
    ['a wrong method', '/ok', { method: 'POST' }],
    ['a defect', '/broken'],
    ['a body over the limit', '/in', { method: 'POST', body: 'x'.repeat(200_000) }],
    ['an upstream', '/upstream'],
  ]

  test.each(answers)('of %s has the security headers and a request id', async (_, path, init) => {
    const { app } = testApp({ publicUrl: 'https://trust.example' })
    app.get('/ok', (c) => c.text('ok'))
    app.post('/in', (c) => c.text('ok'))
    app.get('/broken', () => {
      throw new Error('x')
    })
    app.get('/upstream', async () => fetch('data:text/plain,hello'))
    const response = await app.request(path, init)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'content-security-policy':
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
      'strict-transport-security': 'max-age=31536000',
      'cache-control': 'no-store',
    })
  })

  test('has HSTS only if the public URL is https', async () => {
    for (const publicUrl of [undefined, 'http://localhost:4280']) {
      const response = await testApp({ publicUrl }).app.request('/x')
      expect(response.headers.has('strict-transport-security')).toBe(false)
    }
  })

  test('keeps the policy and lifetime of its handler, and the strict defaults elsewhere', async () => {
    const { app } = testApp()
    const policy = pagePolicy({ scripts: ["'self'"] })
    app.get('/page', (c) => {
      c.header('content-security-policy', policy)
      c.header('cache-control', 'max-age=60')
      c.header('x-frame-options', 'SAMEORIGIN')
      return c.html('<p>Page</p>')
    })
    const { headers } = await app.request('/page')
    expect(headers.get('content-security-policy')).toBe(policy)
    expect(headers.get('cache-control')).toBe('max-age=60')
    expect(headers.get('x-frame-options')).toBe('DENY')
  })

  test('has its own request id, which the handler can read', async () => {
    const { app } = testApp()
    app.get('/id', (c) => c.text(c.get('call').requestId))
    const [one, two] = [await app.request('/id'), await app.request('/id')]
    expect(await one.text()).toBe(one.headers.get('x-request-id'))
    expect(one.headers.get('x-request-id')).not.toBe(two.headers.get('x-request-id'))
  })
})

/** The id that a request gets which comes from this peer with that id. */
const idFor = async (peer: string, sent: string, options: Partial<AppOptions> = {}) => {
  const { app } = testApp(options)
  const response = await app.request('/x', { headers: { 'x-request-id': sent } }, from(peer))
  return response.headers.get('x-request-id')
}

describe('an incoming request id', () => {
  const id = '4bf92f3577b34da6a3ce929d0e0e4736'

  test('is kept if a trusted proxy sends it in a known format', async () => {
    const trusting = { trustedProxies: { networks: ['10.0.0.0/8'] } }
    for (const sent of [id, '6f1c1f8e-7f1b-4b8e-9d4e-0a1b2c3d4e5f', '01ARZ3NDEKTSV4RRFFQ69G5FAV']) {
      expect(await idFor('10.1.2.3', sent, trusting)).toBe(sent)
      expect(await idFor('::ffff:10.1.2.3', sent, trusting)).toBe(sent)
    }
  })

  test('is replaced when anyone else sends it', async () => {
    expect(await idFor('10.1.2.3', id)).not.toBe(id)
    expect(await idFor('192.0.2.1', id, { trustedProxies: { networks: ['10.0.0.0/8'] } })).not.toBe(
      id,
    )
  })

  test('is replaced if it has another format', async () => {
    for (const sent of ['x', `${id}, x`, `${id}{"level":"error"}`, 'a'.repeat(500)]) {
      expect(await idFor('10.1.2.3', sent, { trustedProxies: { hops: 1 } })).not.toBe(sent)
    }
  })
})

describe('the access line', () => {
  test('contains the route pattern, never the path, the query or an id', async () => {
    const { app, lines, logged } = withBoxes()
    app.get('/things/:id', (c) => c.text('x'))
    const response = await app.request(
      '/things/swordfish?q=swordfish',
      { headers: { 'user-agent': 'swordfish' } },
      from('192.0.2.77'),
    )
    expect(logged()).toEqual([
      {
        time: expect.any(String),
        level: 'info',
        message: 'request',
        requestId: response.headers.get('x-request-id'),
        service: 'server',
        method: 'GET',
        route: '/things/:id',
        status: 200,
        durationMs: expect.any(Number),
      },
    ])
    expect(lines.join('')).not.toMatch(/swordfish|192\.0\.2\.77/)
  })

  test('contains the code of an error and its route', async () => {
    const { app, logged } = withBoxes({ maxBodyBytes: 5 })
    await app.request('/box/boxes/b1', json({ name: 'tin' }))
    await app.request('/swordfish')
    expect(logged()).toMatchObject([
      { route: '/box/boxes/:id', status: 413, code: 'request.too_large' },
      { route: 'unmatched', status: 404, code: 'request.not_found' },
    ])
  })

  test('has debug level for health checks that succeed', async () => {
    const { app, logged } = testApp()
    app.get('/healthz', (c) => c.text('ok'))
    app.get('/readyz', (c) => c.text('no', 503))
    await app.request('/healthz')
    await app.request('/readyz')
    expect(logged()).toMatchObject([{ level: 'debug' }, { level: 'info' }])
  })

  test('has metrics with the same route pattern', async () => {
    const { app, metrics } = withBoxes()
    await app.request('/box/boxes/swordfish')
    await app.request('/box/boxes/b1', json({ name: 'tin' }))
    const text = await metrics.text()
    expect(text).toContain('service="server",route="/box/boxes/:id",method="POST",status="200"} 1')
    expect(text).toContain('route="unmatched",method="GET",status="405"} 1')
    expect(text).not.toContain('swordfish')
  })
})

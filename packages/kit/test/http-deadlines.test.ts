import { describe, expect, test } from 'vitest'
import { requestError } from '../src/http/errors.ts'
import { type AppOptions, createApp } from '../src/http/app.ts'
import { createHarness } from '../src/http/harness.ts'
import { honoHandler, type HotRoute, mountHotRoutes } from '../src/http/hot-routes.ts'
import type { Call, HttpRequest } from '../src/http/request.ts'
import { streamBody } from '../src/http/stream.ts'
import { createLog } from '../src/log.ts'
import { createMetrics } from '../src/metrics.ts'
import { testClock } from '../src/testing/test-clock.ts'
import { testTimers } from '../src/testing/test-timers.ts'

function testHarness() {
  const clock = testClock()
  const timers = testTimers(clock)
  const lines: string[] = []
  const options: AppOptions = {
    log: createLog({ sink: (line) => lines.push(line) }),
    metrics: createMetrics(),
    startTimer: timers.start,
    now: () => clock.now(),
  }
  const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  return { options, clock, timers, logged }
}

/** A promise that is settled from outside. */
function pending<T = void>() {
  let resolve = (_value: T) => {}
  let reject = (_error: Error) => {}
  const promise = new Promise<T>((...settle) => ([resolve, reject] = settle))
  return { promise, resolve, reject }
}

const never = new Promise<never>(() => {})

async function outcomeOf(response: Response) {
  const { error } = (await response.json()) as { error: { code: string } }
  return [response.status, error.code]
}

describe('a request that takes too long', () => {
  test('gets 503 request.timeout after 60 seconds, with the headers of every response', async () => {
    const { options, timers, logged } = testHarness()
    const app = createApp(options)
    app.get('/slow', () => never)
    const response = await timers.until(Promise.resolve(app.request('/slow')))
    expect(await outcomeOf(response)).toEqual([503, 'request.timeout'])
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(logged().at(-1)).toMatchObject({
      message: 'request',
      route: '/slow',
      status: 503,
      code: 'request.timeout',
      durationMs: 60_000,
    })
  })

  test('is not ended a second before its deadline', async () => {
    const { options, timers } = testHarness()
    const app = createApp(options)
    const { promise, resolve } = pending()
    app.get('/slow', async (c) => {
      await promise
      return c.text('done')
    })
    const response = Promise.resolve(app.request('/slow'))
    await timers.pass({ seconds: 59 })
    resolve()
    expect((await response).status).toBe(200)
  })

  test('aborts the signal of its call, with the error that the client gets', async () => {
    const { options, timers } = testHarness()
    const app = createApp(options)
    const aborted: unknown[] = []
    app.get('/slow', async (c) => {
      const { signal } = c.get('call')
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push((signal.reason as { code: string }).code)
          reject(new Error('Stopped'))
        })
      })
      return c.text('late')
    })
    await timers.until(Promise.resolve(app.request('/slow')))
    expect(aborted).toEqual(['request.timeout'])
  })

  test('has an aborted signal for a handler that first looks at it after the deadline', async () => {
    const { options, timers } = testHarness()
    const app = createApp(options)
    const { promise, resolve } = pending()
    const { promise: seen, resolve: see } = pending<boolean>()
    app.get('/slow', async (c) => {
      await promise
      see(c.get('call').signal.aborted)
      return c.text('late')
    })
    await timers.until(Promise.resolve(app.request('/slow')))
    resolve()
    expect(await seen).toBe(true)
  })

  test('completes a write that was sent before the deadline', async () => {
    const { options, timers, logged } = testHarness()
    const app = createApp(options)
    const store = pending()
    const written: string[] = []
    app.post('/items', async (c) => {
      await store.promise
      written.push('item')
      return c.text('written', 201)
    })
    const request = Promise.resolve(app.request('/items', { method: 'POST' }))
    expect((await timers.until(request)).status).toBe(503)
    expect(written).toEqual([])
    store.resolve()
    await timers.pass({ seconds: 1 })
    expect(written).toEqual(['item'])
    expect(logged().filter(({ message }) => message === 'request')).toHaveLength(1)
  })

  test('logs a failure after the deadline, which has no response to be in', async () => {
    const { options, timers, logged } = testHarness()
    const app = createApp(options)
    const { promise, reject } = pending()
    app.get('/slow', async (c) => {
      await promise
      return c.text('never')
    })
    const response = await timers.until(Promise.resolve(app.request('/slow')))
    reject(new Error('The store is gone'))
    await timers.pass({ seconds: 1 })
    expect(logged().at(-1)).toMatchObject({
      requestId: response.headers.get('x-request-id'),
      error: { message: 'The store is gone' },
    })
  })

  test('ends a stream that begins after the deadline', async () => {
    const { options, timers } = testHarness()
    const app = createApp(options)
    const { promise, resolve } = pending()
    const { promise: left, resolve: cancel } = pending()
    app.get('/stream', async (c) => {
      await promise
      return c.body(new ReadableStream({ cancel: () => cancel() }))
    })
    await timers.until(Promise.resolve(app.request('/stream')))
    resolve()
    await expect(left).resolves.toBeUndefined()
  })
})

describe('a hot route that takes too long', () => {
  const route: HotRoute = {
    methods: ['POST'],
    path: '/in/:id',
    maxBodyBytes: 10,
    timeoutMs: 30_000,
    handle: () => never,
  }

  function request(readBody: HttpRequest['readBody']): HttpRequest {
    const headers = { rawHeaders: [], peerAddress: undefined, bodyBytes: undefined }
    const unused = { web: () => new Request('http://x'), platform: {}, onDisconnect: () => {} }
    return {
      method: 'POST',
      target: '/in/1',
      ...headers,
      ...unused,
      readBody,
      isAborted: () => false,
    }
  }

  test('gets 503 request.timeout after the time that it sets itself', async () => {
    const { options, clock, timers } = testHarness()
    const [mounted] = mountHotRoutes({ hotRoutes: [route] }, 'box', '/')
    const readBody = async () => ({ kind: 'read' as const, bytes: new Uint8Array() })
    const from = clock.now()
    const handled = createHarness(options)(mounted!, request(readBody))
    const response = await timers.until(handled)
    expect(response.status).toBe(503)
    expect(response.body).toContain('request.timeout')
    expect(clock.now() - from).toBe(30_000)
  })

  test('counts its time from the end of the body', async () => {
    const { options, clock, timers } = testHarness()
    const [mounted] = mountHotRoutes({ hotRoutes: [route] }, 'box', '/')
    const body = pending()
    const readBody = async () => {
      await body.promise
      return { kind: 'read' as const, bytes: new Uint8Array() }
    }
    const from = clock.now()
    const handled = createHarness(options)(mounted!, request(readBody))
    await timers.pass({ seconds: 20 })
    body.resolve()
    await timers.until(handled)
    expect(clock.now() - from).toBe(50_000)
  })

  test('has the same time in the app', async () => {
    const { options, clock, timers } = testHarness()
    const app = createApp(options)
    app.post('/in/:id', honoHandler(route))
    const from = clock.now()
    const response = await timers.until(Promise.resolve(app.request('/in/1', { method: 'POST' })))
    expect(await outcomeOf(response)).toEqual([503, 'request.timeout'])
    expect(clock.now() - from).toBe(30_000)
  })
})

test('the signal of a call aborts when its client disconnects', async () => {
  const { options } = testHarness()
  const app = createApp(options)
  const { promise: called, resolve: call } = pending<Call>()
  app.get('/slow', async (c) => {
    call(c.get('call'))
    await never
    return c.text('never')
  })
  const controller = new AbortController()
  void app.request(new Request('http://x/slow', { signal: controller.signal }))
  const { signal } = await called
  expect(signal.aborted).toBe(false)
  controller.abort()
  expect(signal.aborted).toBe(true)
  expect(signal.reason).toEqual(requestError('incomplete'))
})

describe('a stream', () => {
  function openStream(idleMs = 60_000) {
    const { timers } = testHarness()
    let send = (_text: string) => {}
    const { promise: left, resolve: cancel } = pending()
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => {
        send = (text) => controller.enqueue(new TextEncoder().encode(text))
      },
      cancel: () => cancel(),
    })
    const body = streamBody({}, source, { idleMs, startTimer: timers.start })
    return { reader: body.getReader(), send: (text: string) => send(text), timers, left }
  }

  test('that is idle is closed, and so is its source', async () => {
    const { reader, send, timers, left } = openStream()
    send('first')
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('first')
    const next = reader.read()
    await timers.pass({ seconds: 60 })
    expect(await next).toEqual({ done: true, value: undefined })
    await left
  })

  test('that sends something before it is idle too long stays open', async () => {
    const { reader, send, timers } = openStream()
    for (let minute = 0; minute < 10; minute++) {
      const next = reader.read()
      await timers.pass({ seconds: 59 })
      send(String(minute))
      expect((await next).done).toBe(false)
    }
  })

  test('whose client does not read it is closed', async () => {
    const { send, timers, left } = openStream()
    send('unread')
    await timers.pass({ seconds: 60 })
    await expect(left).resolves.toBeUndefined()
  })

  test('ends with its source, and its source with its reader', async () => {
    const { timers } = testHarness()
    const source = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })
    const body = streamBody({}, source, { startTimer: timers.start })
    expect(await body.getReader().read()).toEqual({ done: true, value: undefined })
    const { reader, left } = openStream()
    await reader.cancel()
    await left
  })
})

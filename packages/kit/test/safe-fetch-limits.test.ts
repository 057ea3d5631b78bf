import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testClock } from '../src/testing/test-clock.ts'
import { serveHttp, serveTcp } from './loopback-server.ts'
import { failure, loopbackFetch, manualTimer } from './safe-fetch-client.ts'

const url = (port: number) => `http://hook.example.com:${port}/`

/** Calls back once the client has the head of the response and has started on the body. */
function afterHeaders(callback: () => void): void {
  const listener = () => setImmediate(callback)
  subscribe('undici:request:headers', listener)
  onTestFinished(() => {
    unsubscribe('undici:request:headers', listener)
  })
}

describe('The deadline ends a request', () => {
  test('whose name is never resolved', async () => {
    const timer = manualTimer()
    const safeFetch = loopbackFetch({
      startTimer: timer.startTimer,
      resolve: () => {
        queueMicrotask(timer.expire)
        return new Promise(() => {})
      },
    })
    expect((await failure(safeFetch(url(8080)))).reason).toBe('timeout')
  })

  test('whose server accepts and never speaks TLS', async () => {
    const timer = manualTimer()
    const port = await serveTcp(() => timer.expire())
    const request = loopbackFetch({ startTimer: timer.startTimer })(`https://a.example:${port}/`)
    expect((await failure(request)).reason).toBe('timeout')
  })

  test('whose server never responds, and closes its connection', async () => {
    const timer = manualTimer()
    let closed: Promise<unknown> = Promise.resolve()
    const port = await serveHttp((request) => {
      closed = once(request.socket, 'close')
      timer.expire()
    })
    const error = await failure(loopbackFetch({ startTimer: timer.startTimer })(url(port)))
    expect(error.reason).toBe('timeout')
    await closed
  })

  test('whose server responds with 1xx endlessly', async () => {
    const timer = manualTimer()
    const port = await serveTcp((socket) => {
      let sent = 0
      const informational = () => {
        if (++sent === 50) timer.expire()
        socket.write('HTTP/1.1 103 Early Hints\r\n\r\n', () => setImmediate(informational))
      }
      socket.once('data', informational)
      socket.once('close', () => (sent = Number.NaN))
    })
    const error = await failure(loopbackFetch({ startTimer: timer.startTimer })(url(port)))
    expect(error.reason).toBe('timeout')
  })

  test('whose body drips, keeping the status and the bytes so far', async () => {
    const timer = manualTimer()
    let closed: Promise<unknown> = Promise.resolve()
    afterHeaders(timer.expire)
    const port = await serveHttp((request, response) => {
      closed = once(request.socket, 'close')
      response.writeHead(200).write('drip')
    })
    const response = await loopbackFetch({ startTimer: timer.startTimer })(url(port))
    expect(response).toMatchObject({ status: 200, truncated: true, truncatedBy: 'timeout' })
    await closed
  })

  test('across all redirects together', async () => {
    const timer = manualTimer()
    let starts = 0
    const port = await serveHttp((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/hang' }).end()
      else timer.expire()
    })
    const safeFetch = loopbackFetch({
      startTimer: (ms, expire) => {
        starts++
        return timer.startTimer(ms, expire)
      },
    })
    expect((await failure(safeFetch(url(port), { maxRedirects: 1 }))).reason).toBe('timeout')
    expect(starts).toBe(1)
  })

  test('with the timeout of the request, else of the client', async () => {
    const given: number[] = []
    const port = await serveHttp((_request, response) => response.end())
    const safeFetch = loopbackFetch({
      timeoutMs: 30_000,
      clock: testClock(),
      startTimer: (ms) => {
        given.push(ms)
        return () => {}
      },
    })
    await safeFetch(url(port))
    await safeFetch(url(port), { timeoutMs: 8_000 })
    expect(given).toEqual([30_000, 8_000])
  })

  test('by the real clock too', async () => {
    const port = await serveHttp(() => {})
    const request = loopbackFetch()(url(port), { timeoutMs: 1 })
    expect((await failure(request)).reason).toBe('timeout')
  })
})

describe('The caller ends a request', () => {
  test('before it starts, so that nothing is sent', async () => {
    let requests = 0
    const port = await serveHttp((_request, response) => {
      requests++
      response.end()
    })
    const safeFetch = loopbackFetch()
    const request = safeFetch(url(port), { signal: AbortSignal.abort() })
    expect((await failure(request)).reason).toBe('aborted')
    await safeFetch(url(port))
    expect(requests).toBe(1)
  })

  test('while it waits for the response', async () => {
    const controller = new AbortController()
    const port = await serveHttp(() => controller.abort())
    const request = loopbackFetch()(url(port), { signal: controller.signal })
    expect((await failure(request)).reason).toBe('aborted')
  })

  test('while it reads the body, and gets no half response', async () => {
    const controller = new AbortController()
    afterHeaders(() => controller.abort())
    const port = await serveHttp((_request, response) => {
      response.writeHead(200).write('half')
    })
    const request = loopbackFetch()(url(port), { signal: controller.signal })
    expect((await failure(request)).reason).toBe('aborted')
  })
})

describe('The size limit', () => {
  test('truncates a body of 128 MB and closes the connection long before its end', async () => {
    let sent = 0
    let closed: Promise<unknown> = Promise.resolve()
    const megabyte = Buffer.alloc(1_048_576, 'x')
    const port = await serveHttp((_request, response) => {
      closed = once(response, 'close')
      const more = (error?: Error | null) => {
        // To a connection that is gone some versions of Node write on, and fail each time.
        if (error || response.destroyed || sent === 128) return void response.end()
        sent++
        response.write(megabyte, more)
      }
      more()
    })
    const response = await loopbackFetch()(url(port))
    expect(response).toMatchObject({ status: 200, truncated: true, truncatedBy: 'too_large' })
    expect(response.body.byteLength).toBe(65_536)
    await closed
    expect(sent).toBeLessThan(128)
  })

  test('truncates a body without a length in small chunks', async () => {
    const port = await serveHttp((_request, response) => {
      const more = () => {
        if (!response.destroyed) response.write('xy', () => setImmediate(more))
      }
      more()
    })
    const response = await loopbackFetch({ maxResponseBytes: 5 })(url(port))
    expect(Buffer.from(response.body).toString()).toBe('xyxyx')
    expect(response.truncatedBy).toBe('too_large')
  })

  test('does not truncate a body of exactly the limit', async () => {
    const port = await serveHttp((_request, response) => response.end('12345'))
    const response = await loopbackFetch({ maxResponseBytes: 5 })(url(port))
    expect(response).toMatchObject({ truncated: false, truncatedBy: null })
    expect(response.body.byteLength).toBe(5)
  })

  test('can be overridden for a request', async () => {
    const port = await serveHttp((_request, response) => response.end('12345'))
    const response = await loopbackFetch()(url(port), { maxResponseBytes: 3 })
    expect(response.body.byteLength).toBe(3)
    expect(response.truncated).toBe(true)
  })

  test('applies to headers, where exceeding it is an error', async () => {
    const port = await serveTcp((socket) => {
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nx-huge: ${'x'.repeat(1_000_000)}`))
    })
    expect((await failure(loopbackFetch()(url(port)))).reason).toBe('too_large')
  })

  test('applies to many small headers together', async () => {
    const port = await serveTcp((socket) => {
      const headers = Array.from({ length: 1_000 }, () => `x-many: ${'y'.repeat(100)}\r\n`).join('')
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${headers}\r\n`))
    })
    expect((await failure(loopbackFetch()(url(port)))).reason).toBe('too_large')
  })
})

describe('A body that fails on the way', () => {
  test('does not discard the response before it', async () => {
    const port = await serveTcp((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'))
    })
    const response = await loopbackFetch()(url(port))
    expect(response).toMatchObject({ status: 200, truncated: true, truncatedBy: 'connection' })
    expect(Buffer.from(response.body).toString()).toBe('half')
  })
})

import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createForwarder, type LiveEvent } from '../src/ferryhook/listen-forward.ts'
import { listen } from '../src/ferryhook/listen-session.ts'
import { eventFrame, frame, localProgram, ready, streamServer } from './listen-server.ts'

const sourceId = 'src_AAAAAAAAAAAAAAAA'

/** A session without pauses between connections. */
function session(server: string) {
  const log: string[] = []
  const events: LiveEvent[] = []
  const timers = new Set<{ ms: number; call: () => void }>()
  const waiting: (() => void)[] = []
  const stop = new AbortController()
  const record = (line: string) => {
    log.push(line)
    for (const check of waiting) check()
  }
  const ended = listen({
    server,
    sourceId,
    key: 'fh_live_secret',
    signal: stop.signal,
    random: () => 0.5,
    startTimer(ms, call) {
      // Pauses end immediately; the test triggers the idle timeout itself.
      if (ms < 45_000) setImmediate(call)
      const timer = { ms, call }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async onEvent(event) {
      events.push(event)
      record(event.id.slice(-1))
    },
    onReady: ({ again }) => record(again ? 'again' : 'ready'),
    onBreak: ({ reason, retryInMs }) => record(`${reason}, ${retryInMs}`),
    onGap: () => record('gap'),
  })
  // Only tests of an error await it; it must not fail the others.
  ended.catch(() => {})
  onTestFinished(async () => {
    stop.abort()
    await ended.catch(() => {})
  })
  return {
    log,
    events,
    ended,
    stop: () => stop.abort(),
    async idle() {
      const isIdleTimer = ({ ms }: { ms: number }) => ms === 45_000
      while (![...timers].some(isIdleTimer)) await nextTurn()
      for (const timer of timers) if (isIdleTimer(timer)) timer.call()
    },
    said: (line: string) =>
      new Promise<void>((resolve) => {
        const check = () => log.includes(line) && resolve()
        waiting.push(check)
        check()
      }),
  }
}

describe('listening', () => {
  test('sends the key and passes on events in order of arrival', async () => {
    const server = await streamServer()
    const { log, said, events } = session(server.url)
    const connection = await server.connection(0)
    const text = ready() + ':\n\n' + eventFrame(1, { body: 'ä\r\n\r\n' }) + eventFrame(2)
    // In pieces that end in the middle of a character and of a frame.
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 7) connection.write(bytes.subarray(at, at + 7))
    await said('2')
    expect(log).toEqual(['ready', '1', '2'])
    expect(events[0]?.body).toBe('ä\r\n\r\n')
    const [request] = server.requests
    expect(request?.url).toBe(`/ferryhook/v1/sources/${sourceId}/stream`)
    expect(request?.headers).toMatchObject({ authorization: 'Bearer fh_live_secret' })
    expect(request?.headers).not.toHaveProperty('last-event-id')
  })

  test('finds Ferryhook at the root of a server that runs it alone', async () => {
    const server = await streamServer()
    const nothing = { status: 404, code: 'request.not_found' }
    server.refuse({ ...nothing, below: '/ferryhook/' })
    const { said } = session(server.url)
    const connection = await server.connection(0)
    connection.write(ready())
    await said('ready')
    expect(server.requests.at(-1)?.url).toBe(`/v1/sources/${sourceId}/stream`)

    server.refuse(nothing)
    await expect(session(server.url).ended).rejects.toThrow(/does not run ferryhook: use the URL/)
  })

  test('resumes after a disconnect, reports it and handles no event twice', async () => {
    const server = await streamServer()
    const { log, said } = session(server.url)
    const first = await server.connection(0)
    first.write(ready() + eventFrame(1) + eventFrame(2))
    await said('2')
    first.destroy()
    const second = await server.connection(1)
    second.write(ready('position-2') + eventFrame(2) + eventFrame(3))
    await said('3')
    expect(server.requests[1]?.headers['last-event-id']).toBe('position-2')
    expect(log).toEqual(['ready', '1', '2', expect.stringMatching(/, 1000$/), 'again', '3'])
  })

  test('backs off up to 30 seconds, or for the time in Retry-After', async () => {
    const server = await streamServer()
    const { log, said } = session(server.url)
    const first = await server.connection(0)
    first.write(ready())
    await said('ready')
    server.refuse({ status: 503 })
    first.destroy()
    await said('status 503, 30000')
    server.refuse({ status: 429, headers: { 'retry-after': '7' } })
    await said('status 429, 7000')
    server.refuse()
    ;(await server.connection(1)).write(ready())
    await said('again')
    const pauses = log.flatMap((line) => /^status 503, (\d+)$/.exec(line)?.[1] ?? [])
    expect(pauses.slice(0, 5)).toEqual(['2000', '4000', '8000', '16000', '30000'])
  })

  test('reconnects when the server sends no data', async () => {
    const server = await streamServer()
    const { said, idle, log } = session(server.url)
    ;(await server.connection(0)).write(ready())
    await said('ready')
    await idle()
    await said('no data received, 1000')
    ;(await server.connection(1)).write(ready())
    await said('again')
    expect(log).toEqual(['ready', 'no data received, 1000', 'again'])
  })

  test('reports that the server lost its position in the stream', async () => {
    const server = await streamServer()
    const { said } = session(server.url)
    const first = await server.connection(0)
    first.write(ready())
    await said('ready')
    server.refuse({ status: 400, code: 'request.invalid_cursor' })
    first.destroy()
    await said('gap')
    server.refuse()
    ;(await server.connection(1)).write(ready())
    await said('again')
    expect(server.requests.at(-1)?.headers).not.toHaveProperty('last-event-id')
  })

  test('reconnects to a server that is stopping', async () => {
    const server = await streamServer()
    const { said, log } = session(server.url)
    ;(await server.connection(0)).end(ready() + frame('end', undefined, { reason: 'stopping' }))
    await said('the server is stopping, 1000')
    ;(await server.connection(1)).write(ready())
    await said('again')
    expect(log).toEqual(['ready', 'the server is stopping, 1000', 'again'])
  })

  test.each([
    ['unauthorized', 'no longer accepts the API key'],
    ['source_deleted', 'The source was deleted'],
  ])('fails when the server ends the stream for good: %s', async (reason, message) => {
    const server = await streamServer()
    const { ended } = session(server.url)
    ;(await server.connection(0)).end(ready() + frame('end', undefined, { reason }))
    await expect(ended).rejects.toThrow(message)
  })

  test.each([401, 403, 404])('fails when the server answers %d', async (status) => {
    const server = await streamServer()
    server.refuse({ status, code: 'ferryhook.refused' })
    await expect(session(server.url).ended).rejects.toThrow('Not now: come back')
    expect(server.requests).toHaveLength(1)
  })

  test('fails without a retry if the first connection fails', async () => {
    await expect(session('http://127.0.0.1:9').ended).rejects.toThrow(
      /^Cannot listen at http:\/\/127\.0\.0\.1:9 \([^)]+\): check that it runs/,
    )
  })

  test('ends without an error when it is stopped', async () => {
    const server = await streamServer()
    const { ended, stop, said } = session(server.url)
    ;(await server.connection(0)).write(ready())
    await said('ready')
    stop()
    await expect(ended).resolves.toBeUndefined()
  })
})

describe('forwarding', () => {
  const event: LiveEvent = {
    id: 'evt_AAAAAAAAAAAAAAAA',
    receivedAt: '2100-01-01T00:00:00.000Z',
    type: null,
    unverified: false,
    method: 'PUT',
    query: 'a=1&b=%20',
    headers: {
      host: 'hooks.example',
      connection: 'close',
      'content-length': '999',
      'transfer-encoding': 'chunked',
      'x-hub-signature-256': 'sha256=abc',
      'x-many': ['1', '2'],
      'x-gitlab-token': '(not kept)',
      'x-forwarded-user': 'admin',
      'content-type': 'application/octet-stream',
    },
    body: Buffer.from([0xff, 0x00, 0x0d, 0x0a]).toString('base64'),
    encoding: 'base64',
  }

  async function forwarding(to: string) {
    const forwarder = createForwarder(new URL(to))
    onTestFinished(() => forwarder.close())
    const stop = new AbortController()
    return { stop, send: (sent = event) => forwarder.forward(sent, stop.signal) }
  }

  test('preserves method, query, body and headers, except hop-by-hop headers and redacted secrets', async () => {
    const program = await localProgram((response) => response.writeHead(202).end('ok'))
    const { send } = await forwarding(`${program.url}/hook?token=x`)
    expect(await send()).toMatchObject({ status: 202, error: undefined })
    const [{ request, body } = { request: undefined, body: undefined }] = program.got
    expect([request?.method, request?.url]).toEqual(['PUT', '/hook?token=x&a=1&b=%20'])
    expect(body?.equals(Buffer.from([0xff, 0x00, 0x0d, 0x0a]))).toBe(true)
    expect(request?.headers).toMatchObject({
      host: new URL(program.url).host,
      'content-length': '4',
      'x-hub-signature-256': 'sha256=abc',
      'x-many': '1, 2',
    })
    expect(request?.headers).not.toHaveProperty('transfer-encoding')
    // The program would compare the placeholder with its secret.
    expect(request?.headers).not.toHaveProperty('x-gitlab-token')
    expect(request?.headers).not.toHaveProperty('x-forwarded-user')
  })

  test('does not follow redirects of the program', async () => {
    const program = await localProgram((response) =>
      response.writeHead(307, { location: '/other' }).end(),
    )
    const { send } = await forwarding(program.url)
    expect(await send()).toMatchObject({ status: 307 })
    expect(program.got).toHaveLength(1)
  })

  test('reports why there was no response', async () => {
    const closed = await forwarding('http://127.0.0.1:9/')
    expect(await closed.send()).toMatchObject({ status: undefined, error: 'ECONNREFUSED' })
    const program = await localProgram((response) => response.destroy())
    const { send } = await forwarding(program.url)
    expect(await send()).toMatchObject({ error: 'ECONNRESET' })
    expect(await send({ ...event, headers: { 'x-a': 'line\nbreak' } })).toMatchObject({
      error: 'ERR_INVALID_CHAR',
    })
  })

  test('is interrupted by Ctrl+C', async () => {
    let stop = () => {}
    const program = await localProgram(() => stop())
    const { send, stop: controller } = await forwarding(program.url)
    stop = () => controller.abort()
    expect(await send()).toMatchObject({ status: undefined, error: 'interrupted' })
  })
})

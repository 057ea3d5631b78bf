import { testStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultSchedule } from '../../src/worker/retry-schedule.ts'
import type { Connection } from '../../src/connections/item.ts'
import type { Event } from '../../src/events/item.ts'
import { required } from '../support/test-stores.ts'
import { answer, type Behaviour } from '../support/test-destination.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

const store = required(testStores()[0])

describe.each([
  ['shortest', 0],
  ['average', 0.5],
  ['longest', 1],
] as const)('retries with the %s jitter', (_, chance) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench({ store }, { random: () => chance })
  })
  afterAll(() => bench.close())

  test('eight attempts are made, each at its scheduled second, and then the delivery fails and its owner is notified', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/down')
    bench.sink.behave('/down', answer(500, {}, 'broken'))
    const event = await bench.receive(source)
    let expected = bench.clock.now()
    await bench.worker.runOnce()
    for (const seconds of defaultSchedule.slice(1)) {
      const delay = seconds * 1000 * (0.8 + 0.4 * chance)
      expect(await bench.delivery(event, connection)).toMatchObject({
        state: 'retrying',
        reason: 'http_500',
      })
      expected += delay
      const before = bench.sink.received('/down').length
      await bench.timers.pass({ ms: delay - 1 })
      await bench.worker.runOnce()
      expect(bench.sink.received('/down')).toHaveLength(before)
      await bench.timers.pass({ ms: 1 })
      await bench.worker.runOnce()
      expect(bench.sink.received('/down').slice(before)).toMatchObject([{ at: expected }])
    }
    expect(await bench.status(event)).toBe('failed')
    expect(await bench.delivery(event, connection)).toMatchObject({
      state: 'failed',
      reason: 'exhausted',
      attemptsMade: 8,
    })
    const attempts = await bench.attempts(event, connection)
    expect(attempts.map(({ attemptNumber }) => attemptNumber)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ statusCode: 500, responseBody: 'broken' })
    }
    const { userId, sourceId, connectionId, name: connectionName } = connection
    const about = { userId, sourceId, connectionId, connectionName }
    const { eventId } = event
    const told = bench.alerts.filter(({ kind }) => kind === 'delivery.failed')
    expect(told).toEqual([{ kind: 'delivery.failed', ...about, eventId, reason: 'exhausted' }])
    await bench.timers.pass({ ms: 10 * 86_400_000 })
    await bench.worker.runOnce()
    expect(bench.sink.received('/down')).toHaveLength(8)
  })
})

describe('retries', () => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench({ store }, { random: () => 0.5 })
  })
  afterAll(() => bench.close())

  /** An event that was attempted once, at a destination with this behaviour. */
  async function attempted(path: string, behave: Behaviour, given: Partial<Connection> = {}) {
    const source = await bench.newSource()
    const connection = await bench.connect(source, path, given)
    bench.sink.behave(path, behave)
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    return { connection, event }
  }

  /** Seconds until the second attempt, measured by letting time pass. */
  async function secondsToSecond(event: Event, connection: Connection) {
    const { nextAttemptAt } = required(await bench.delivery(event, connection))
    const delay = required(nextAttemptAt) - bench.clock.now()
    const path = new URL(connection.destinationUrl).pathname
    await bench.timers.pass({ ms: delay - 1 })
    await bench.worker.runOnce()
    expect(bench.sink.received(path)).toHaveLength(1)
    await bench.timers.pass({ ms: 1 })
    await bench.worker.runOnce()
    expect(bench.sink.received(path)).toHaveLength(2)
    return delay / 1000
  }

  test.each([
    ['seconds', () => '90', 90],
    ['a date', () => new Date(bench.clock.now() + 45_000).toUTCString(), 45],
    ['less than the schedule', () => '5', 30],
    ['a week', () => '604800', 86_400],
    ['nonsense', () => 'tomorrow', 30],
  ])('Retry-After with %s is honoured within bounds', async (what, header, seconds) => {
    const path = `/retry-after-${what.replaceAll(' ', '-')}`
    const behave: Behaviour = (response) =>
      void response.writeHead(429, { 'retry-after': header() }).end()
    const { event, connection } = await attempted(path, behave)
    expect(await secondsToSecond(event, connection)).toBe(seconds)
  })

  test('a connection with its own schedule is retried by that schedule, and fails after its last attempt', async () => {
    const { event, connection } = await attempted('/own', answer(502), { retryConfig: '[0,7,11]' })
    expect(await secondsToSecond(event, connection)).toBe(7)
    expect(await bench.status(event)).toBe('retrying')
    await bench.timers.pass({ ms: 11_000 })
    await bench.worker.runOnce()
    expect(bench.sink.received('/own')).toHaveLength(3)
    expect(await bench.status(event)).toBe('failed')
  })

  test.each([301, 302, 307, 400, 401, 404, 409, 500])(
    '%d is a failure and is retried',
    async (status) => {
      const location = { location: bench.sink.url('/redirected') }
      const { event, connection } = await attempted(`/status-${status}`, answer(status, location))
      expect(await bench.status(event)).toBe('retrying')
      expect(await bench.attempts(event, connection)).toMatchObject([{ statusCode: status }])
      expect(bench.sink.received('/redirected')).toEqual([])
    },
  )

  test.each([200, 201, 202, 204, 299])('%d is a success', async (status) => {
    const { event } = await attempted(`/status-${status}`, answer(status))
    expect(await bench.status(event)).toBe('delivered')
  })

  test('a reset or refused connection is a failure with its reason, and is retried', async () => {
    const reset: Behaviour = (_response, _received, request) => request.socket.resetAndDestroy()
    const { event, connection } = await attempted('/reset', reset)
    expect(await bench.status(event)).toBe('retrying')
    const [attempt] = await bench.attempts(event, connection)
    expect(attempt).toMatchObject({
      statusCode: 0,
      error: expect.stringContaining('Connection failed'),
    })
    expect(await bench.delivery(event, connection)).toMatchObject({ reason: 'connection' })

    const source = await bench.newSource()
    // A port without a listener.
    const refused = await bench.connect(source, 'http://127.0.0.1:1027/')
    const other = await bench.receive(source)
    await bench.worker.runOnce()
    expect(await bench.status(other)).toBe('retrying')
    expect(await bench.delivery(other, refused)).toMatchObject({ reason: 'connection' })
  })

  test('a response that breaks off after a success status is a success', async () => {
    const breaking: Behaviour = (response, _received, request) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('begun')
      setImmediate(() => request.socket.destroy())
    }
    const { event, connection } = await attempted('/broken-off', breaking)
    expect(await bench.status(event)).toBe('delivered')
    expect(await bench.attempts(event, connection)).toMatchObject([{ responseBody: 'begun' }])
  })

  test('64 KB of a long response are read, and 1,000 whole characters are stored', async () => {
    const long = `${'é'.repeat(999)}😀${'x'.repeat(200_000)}`
    const { event, connection } = await attempted('/long', answer(200, {}, long))
    expect(await bench.status(event)).toBe('delivered')
    expect(await bench.attempts(event, connection)).toMatchObject([
      { responseBody: 'é'.repeat(999) },
    ])
  })

  test('the latency of an attempt is recorded', async () => {
    const slow: Behaviour = (response) => {
      bench.clock.advance({ ms: 1_234 })
      response.end('done')
    }
    const { event, connection } = await attempted('/slow', slow)
    expect(await bench.attempts(event, connection)).toMatchObject([{ latencyMs: 1_234 }])
  })
})

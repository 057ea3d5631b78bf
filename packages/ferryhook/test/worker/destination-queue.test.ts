import { testStores } from '@strongroom/kit/testing/stores'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultConfig } from '../../src/worker/config.ts'
import type { Event } from '../../src/events/item.ts'
import type { Source } from '../../src/sources/item.ts'
import { required, storesOn, times } from '../support/test-stores.ts'
import { answer, type Behaviour, hang } from '../support/test-destination.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

const store = required(testStores()[0])

const forEver: Behaviour = (response) => {
  response.writeHead(200)
  const drip = () => response.write('x'.repeat(1000), () => setImmediate(drip))
  drip()
}
const slowly: Behaviour = (response) => {
  response.writeHead(200)
  response.write('one byte, and then nothing')
}
const reset: Behaviour = (_response, _received, request) => request.socket.resetAndDestroy()

describe('a slow or failing destination', () => {
  let bench: WorkerBench

  beforeEach(async () => {
    bench = await openWorkerBench({ store }, { random: () => 0.5 })
  })
  afterEach(() => bench.close())

  const receive = (source: Source, many: number) =>
    Promise.all(times(many, () => bench.receive(source)))
  const statuses = (events: Event[]) => Promise.all(events.map((event) => bench.status(event)))

  test.each([
    ['hangs', hang, 'retrying'],
    ['responds byte by byte', slowly, 'delivered'],
    ['never ends its response', forEver, 'delivered'],
    ['resets connections', reset, 'retrying'],
    ['fails', answer(500), 'retrying'],
  ] as const)('that %s does not delay the others', async (_, behave, end) => {
    const bad = await bench.newSource()
    await bench.connect(bad, '/bad')
    bench.sink.behave('/bad', behave)
    const waiting = await receive(bad, 60)
    const good = await Promise.all(times(10, () => bench.newSource()))
    await Promise.all(good.map((source, n) => bench.connect(source, `/good-${n}`)))
    const events = (await Promise.all(good.map((source) => receive(source, 3)))).flat()
    const now = bench.clock.now()

    const done = bench.worker.runOnce()
    await Promise.all(good.map((__, n) => bench.sink.until(`/good-${n}`, 3)))
    // The clock has not moved, so no destination waited for another.
    expect(bench.clock.now()).toBe(now)
    for (const [n] of good.entries()) {
      expect(bench.sink.received(`/good-${n}`).map(({ at }) => at)).toEqual([now, now, now])
    }
    await bench.timers.until(done)
    expect(new Set(await statuses(events))).toEqual(new Set(['delivered']))
    const ends = await statuses(waiting)
    expect(ends).toContain(end)
    expect(ends.every((status) => status === end || status === 'processing')).toBe(true)
  })

  test('that hangs occupies only its own slots, and each attempt ends at its deadline', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/hangs', { limits: '{"concurrency":3}' })
    bench.sink.behave('/hangs', hang)
    const events = await receive(source, 8)
    const done = bench.worker.runOnce()
    await bench.sink.until('/hangs', 3)
    await bench.timers.pass({ ms: 9_999 })
    expect(bench.sink.received('/hangs')).toHaveLength(3)
    await bench.timers.pass({ ms: 1 })
    await bench.sink.until('/hangs', 6)
    await bench.timers.until(done)
    const attempts = (
      await Promise.all(events.map((event) => bench.attempts(event, connection)))
    ).flat()
    expect(attempts.length).toBeGreaterThanOrEqual(6)
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ statusCode: 0, latencyMs: 10_000 })
      expect(attempt.error).toContain('in time')
    }
  })

  test('with more deliveries than it may queue has them parked and later released, each once', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/limited', { limits: '{"perSecond":2}' })
    const events = await receive(source, 30)
    bench.worker.start()
    await bench.timers.until(bench.sink.until('/limited', 30))
    await bench.timers.until(bench.worker.runOnce())
    expect(new Set(await statuses(events))).toEqual(new Set(['delivered']))
    const received = bench.sink.received('/limited')
    expect(received).toHaveLength(30)
    const perSecond = new Map<number, number>()
    for (const { at } of received)
      perSecond.set(Math.floor(at / 1000), (perSecond.get(Math.floor(at / 1000)) ?? 0) + 1)
    // A burst of one second is allowed, so two adjacent halves may be sent together.
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(4)
    expect(required(received.at(-1)).at - required(received[0]).at).toBeGreaterThanOrEqual(13_000)
  })

  test('never has more concurrent attempts than its limit', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/one', { limits: '{"concurrency":1}' })
    let now = 0
    let most = 0
    bench.sink.behave('/one', (response) => {
      most = Math.max(most, ++now)
      setImmediate(() => {
        now -= 1
        response.end()
      })
    })
    const events = await receive(source, 12)
    await bench.worker.runOnce()
    expect(new Set(await statuses(events))).toEqual(new Set(['delivered']))
    expect(most).toBe(1)
  })

  test('opens its breaker: deliveries are parked, one probe is sent, and then all are delivered', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/circuit', { retryConfig: '[0,600]' })
    bench.sink.behave('/circuit', answer(503))
    const { failures, openMs } = defaultConfig.destinationBreaker
    const first = await receive(source, 40)
    await bench.worker.runOnce()
    const attempted = bench.sink.received('/circuit').length
    expect(attempted).toBeGreaterThanOrEqual(failures)
    expect(attempted).toBeLessThan(40)
    const waiting = await bench.stores.wakeUps.listParked(connection.connectionId)
    expect(waiting).toHaveLength(40 - attempted)
    expect(new Set(waiting.map(({ reason }) => reason))).toEqual(new Set(['circuit']))

    // Open: new deliveries are parked without an attempt.
    await receive(source, 3)
    await bench.worker.runOnce()
    expect(bench.sink.received('/circuit')).toHaveLength(attempted)

    // Half-open: one probe decides, and it fails.
    await bench.timers.pass({ ms: openMs + 5_000 })
    await bench.worker.runOnce()
    expect(bench.sink.received('/circuit')).toHaveLength(attempted + 1)

    bench.sink.behave('/circuit', answer(200))
    await bench.live(3 * (openMs / 1000))
    expect(await bench.stores.wakeUps.listParked(connection.connectionId)).toEqual([])
    await bench.timers.pass({ ms: 600_000 })
    await bench.worker.runOnce()
    expect(new Set(await statuses(first))).toEqual(new Set(['delivered']))
  })

  test('shows every process the state of its breaker, since when it is open and the next attempt', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/visible', { retryConfig: '[0,600]' })
    const { sourceId, connectionId } = connection
    const about = { userId: source.userId, sourceId, connectionId }
    const elsewhere = storesOn(bench.db, bench.clock).connectionActivity
    const told = () => bench.alerts.filter(({ kind }) => kind.startsWith('connection.circuit'))
    bench.sink.behave('/visible', answer(503))
    const { openMs } = defaultConfig.destinationBreaker
    const since = bench.clock.now()
    await receive(source, 40)
    await bench.worker.runOnce()
    const nextAttemptAt = since + openMs
    expect(await elsewhere.circuitOf(connectionId)).toEqual({ state: 'open', since, nextAttemptAt })
    expect(told()).toEqual([
      expect.objectContaining({
        ...about,
        kind: 'connection.circuit_opened',
        nextAttemptAt: new Date(nextAttemptAt).toISOString(),
      }),
    ])

    await bench.timers.pass({ ms: openMs })
    expect(await elsewhere.circuitOf(connectionId)).toMatchObject({ state: 'half_open', since })
    // The probe fails, so the breaker stays open for twice as long.
    await bench.timers.pass({ ms: 5_000 })
    const probedAt = bench.clock.now()
    await bench.worker.runOnce()
    expect(await elsewhere.circuitOf(connectionId)).toEqual({
      state: 'open',
      since,
      nextAttemptAt: probedAt + 2 * openMs,
    })
    expect(told()).toHaveLength(1)

    bench.sink.behave('/visible', answer(200))
    await bench.live(3 * (openMs / 1000))
    expect(await elsewhere.circuitOf(connectionId)).toBeUndefined()
    expect(told().slice(1)).toEqual([
      expect.objectContaining({ ...about, kind: 'connection.circuit_closed' }),
    ])
  })

  test('that rejects requests does not open its breaker, because any response shows that it is up', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/refuses')
    bench.sink.behave('/refuses', answer(422))
    await receive(source, 30)
    await bench.worker.runOnce()
    expect(bench.sink.received('/refuses')).toHaveLength(30)
  })
})

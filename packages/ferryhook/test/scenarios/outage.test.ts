import { randomBytes } from 'node:crypto'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Event } from '../../src/events/item.ts'
import type { Source } from '../../src/sources/item.ts'
import { openApi } from '../support/test-api.ts'
import { answer } from '../support/test-destination.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'
import { allDue, deliveryTasksOf, eventInput, required, times } from '../support/test-stores.ts'

describe.each(serviceStores())('after an outage of all workers, on $name', (store) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench({ store })
  })
  afterAll(() => bench.close())

  const now = () => Math.floor(bench.clock.now() / 1000)

  /** When the first item of an event expires; from then on it is incomplete. */
  async function firstExpiry(event: Event): Promise<number> {
    const { Items = [] } = await bench.db.query({
      TableName: 'ferryhook-events',
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': `EVT#${event.eventId}` },
      ConsistentRead: true,
    })
    const { PK, SK } = event
    const own = required(await bench.stored('ferryhook-events', { PK, SK }))
    return Math.min(...[own, ...Items].map(({ expiresAt }) => Number(expiresAt)))
  }

  /**
   * An event that one of its connections, paused after a first attempt, keeps for thirty days: its
   * other deliveries were written before that.
   */
  async function receiveHeld(source: Source, path: string): Promise<Event> {
    bench.sink.behave(path, answer(503))
    const { connectionId, sourceId } = await bench.connect(source, path, { retryConfig: '[0,600]' })
    const event = await bench.receive(source, { plan: 'free' })
    await bench.worker.runOnce()
    await bench.stores.connections.update(connectionId, { status: 'paused' }, { sourceId })
    bench.clock.advance({ minutes: 20 })
    await bench.worker.runOnce()
    return event
  }

  /** Runs only the retention loop; no item of the events may be about to expire. */
  async function withoutWorkers(hours: number, events: readonly Event[]): Promise<void> {
    for (let hour = 0; hour < hours; hour++) {
      bench.clock.advance({ hours: 1 })
      await bench.stores.retention.extendOverdue()
      for (const event of events) {
        expect(await firstExpiry(event), `in hour ${hour}`).toBeGreaterThan(now() + 3_600)
      }
    }
  }

  test('tasks that are older than the retention are still routed and retried', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/outage', { retryConfig: '[0,3600]' })
    bench.sink.behave('/outage', answer(503))
    const tried = await bench.receive(source, { plan: 'free', body: randomBytes(5_000) })
    await bench.worker.runOnce()
    expect(await bench.status(tried)).toBe('retrying')
    const unrouted = await bench.receive(source, { plan: 'free', body: randomBytes(5_000) })

    await withoutWorkers(36, [tried, unrouted])

    bench.sink.behave('/outage', answer(200))
    await bench.worker.runOnce()
    expect(await bench.status(tried)).toBe('delivered')
    expect(await bench.status(unrouted)).toBe('delivered')
    expect(await bench.attempts(tried, connection)).toHaveLength(2)
  }, 60_000)

  test('each delivery of an event is retained with its attempts', async () => {
    const source = await bench.newSource()
    const tried = await Promise.all(
      ['/one', '/two', '/three'].map((path) => {
        bench.sink.behave(path, answer(503))
        return bench.connect(source, path, { retryConfig: '[0,3600]' })
      }),
    )
    const short = await bench.receive(source, { plan: 'free' })
    await bench.worker.runOnce()
    const long = await receiveHeld(source, '/paused')
    await withoutWorkers(36, [short, long])

    for (const path of ['/one', '/two', '/three']) bench.sink.behave(path, answer(200))
    await bench.worker.runOnce()
    for (const event of [short, long]) {
      for (const connection of tried) {
        expect(await bench.delivery(event, connection)).toMatchObject({ state: 'delivered' })
        expect(await bench.attempts(event, connection)).toHaveLength(2)
      }
    }
    expect(await bench.status(short)).toBe('delivered')
    expect(await bench.status(long)).toBe('held')
  }, 60_000)

  test('an expired delivery with a pending task is not replayed as well', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/open', { retryConfig: '[0,3600]' })
    bench.sink.behave('/open', answer(503))
    const event = await receiveHeld(source, '/open-paused')
    bench.clock.advance({ hours: 30 })
    expect(await bench.delivery(event, connection)).toBeNull()
    const replay = () => bench.stores.deliveries.replay(event.eventId, connection.connectionId)
    expect(await replay()).toEqual({ kind: 'run_open' })

    bench.sink.behave('/open', answer(200))
    await bench.worker.runOnce()
    expect(await bench.delivery(event, connection)).toMatchObject({ state: 'delivered', run: 1 })
    expect(await replay()).toMatchObject({ delivery: { run: 2 } })
    await bench.worker.runOnce()
    expect(bench.sink.received('/open')).toHaveLength(3)
  })

  test('a delivery that TTL deleted while its task was pending is replayed, and the task ends unsent', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/deleted', { retryConfig: '[0,3600]' })
    bench.sink.behave('/deleted', answer(503))
    const event = await receiveHeld(source, '/deleted-paused')
    bench.clock.advance({ hours: 30 })
    const { eventId } = event
    const { connectionId } = connection
    const Key = { PK: `EVT#${eventId}`, SK: `DLV#${connectionId}` }
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key })
    await bench.stores.deliveries.replay(eventId, connectionId)
    bench.sink.behave('/deleted', answer(200))
    const lines: string[] = []
    const log = createLog({ sink: (line) => void lines.push(line) })
    const metrics = createMetrics()
    await bench.anotherWorker({ log, metrics }).runOnce()

    expect(await bench.delivery(event, connection)).toMatchObject({
      state: 'delivered',
      replayId: expect.any(String),
      attemptsMade: 1,
    })
    const marks = bench.sink
      .received('/deleted')
      .map(({ headers }) => headers['x-ferryhook-replay'])
    expect(marks).toEqual([undefined, expect.stringMatching(/^rpl_/)])
    expect(await deliveryTasksOf(bench.stores, eventId)).toEqual([])
    expect(lines).toEqual([])
    expect(await metrics.text()).toContain('strongroom_ferryhook_runs_replaced_total 1')
  })

  test('an expired event that is still stored is delivered, and stays visible for an hour', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/late', {
      filters: '[{"path":"$headers.x-a","operator":"not_exists"}]',
      retryConfig: '[0,3600]',
    })
    bench.sink.behave('/late', answer(503))
    const tried = await bench.receive(source, { plan: 'free' })
    await bench.worker.runOnce()
    bench.sink.behave('/late', answer(200))
    const body = randomBytes(5_000)
    const event = await bench.receive(source, { plan: 'free', body })
    const forNobody = await bench.receive(await bench.newSource(), { plan: 'free' })
    bench.clock.advance({ hours: 30 })
    await bench.worker.runOnce()
    expect(bench.sink.received('/late').some((each) => each.body.equals(body))).toBe(true)
    expect(await bench.status(event)).toBe('delivered')
    expect(await bench.status(tried)).toBe('delivered')
    expect(await bench.status(forNobody)).toBe('unrouted')
    expect(await bench.attempts(tried, connection)).toHaveLength(2)
    for (const each of [event, tried, forNobody]) {
      expect(await firstExpiry(each)).toBeGreaterThanOrEqual(now() + 3_600)
    }
  })

  test('nothing is sent of an event that TTL has partly deleted, and no task remains', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/half')
    const { eventId } = await bench.receive(source, { plan: 'free', body: randomBytes(5_000) })
    bench.clock.advance({ hours: 25 })
    const Key = { PK: `EVT#${eventId}`, SK: 'BODY' }
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key })
    await bench.worker.runOnce()
    expect(bench.sink.received('/half')).toEqual([])
    const due = (await allDue(bench.stores)).filter((task) => 'eventId' in task)
    expect(due).toEqual([])
  })

  test('tasks without an event are reported to the operator once, with their number', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/gone', { retryConfig: '[0,3600]' })
    const { connectionId, sourceId } = await bench.connect(source, '/gone-paused', {
      retryConfig: '[0,3600]',
    })
    for (const path of ['/gone', '/gone-paused']) bench.sink.behave(path, answer(503))
    const body = randomBytes(5_000)
    const tried = await bench.receive(source, { plan: 'free', body })
    await bench.worker.runOnce()
    await bench.stores.connections.update(connectionId, { status: 'paused' }, { sourceId })
    const unrouted = await bench.receive(source, { plan: 'free', body })
    bench.clock.advance({ hours: 30 })
    for (const { eventId } of [tried, unrouted]) {
      const Key = { PK: `EVT#${eventId}`, SK: 'BODY' }
      await bench.db.deleteItem({ TableName: 'ferryhook-events', Key })
    }
    const lines: string[] = []
    const log = createLog({ sink: (line) => void lines.push(line) })
    const metrics = createMetrics()
    await bench.anotherWorker({ log, metrics }).runOnce()
    expect(lines).toEqual([expect.stringContaining('task dropped')])
    expect(lines[0]).not.toMatch(/evt_|src_|conn_/)
    const text = await metrics.text()
    expect(text).toContain('strongroom_ferryhook_events_gone_total{kind="route"} 1')
    expect(text).toContain('strongroom_ferryhook_events_gone_total{kind="deliver"} 2')
    expect(text).not.toContain('strongroom_ferryhook_parked_total{')
  })

  test('parked deliveries whose event has expired are reported to the operator', async () => {
    const source = await bench.newSource()
    const paths = ['/gone-released', '/gone-overstayed']
    const connections = await Promise.all(paths.map((path) => bench.connect(source, path)))
    const { sourceId } = source
    for (const { connectionId } of connections) {
      await bench.stores.connections.update(connectionId, { status: 'paused' }, { sourceId })
    }
    const { PK, SK } = await bench.receive(source)
    await bench.worker.runOnce()
    const { connectionId } = required(connections[0])
    await bench.stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key: { PK, SK } })

    const lines: string[] = []
    const log = createLog({ sink: (line) => void lines.push(line) })
    const metrics = createMetrics()
    const worker = bench.anotherWorker({ log, metrics })
    const count = 'strongroom_ferryhook_events_gone_total{kind="wait"}'
    bench.clock.advance({ seconds: 5 })
    await worker.runOnce()
    expect(await metrics.text()).toContain(`${count} 1`)
    bench.clock.advance({ hours: 30 * 24 })
    await worker.runOnce()
    expect(await metrics.text()).toContain(`${count} 2`)
    expect(lines).toEqual(times(2, () => expect.stringContaining('task dropped')))
  })

  test('work that is done in time leaves the expiry as the plan says', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/in-time')
    const event = await bench.receive(source, { plan: 'free' })
    await bench.worker.runOnce()
    const later = await bench.receive(source, { plan: 'free' })
    bench.clock.advance({ minutes: 21 })
    expect(await bench.stores.retention.extendOverdue()).toEqual({ tasks: 0, failures: 0 })
    expect(await firstExpiry(event)).toBe(event.expiresAt)
    expect(await firstExpiry(later)).toBe(later.expiresAt)
  })
})

describe.each(serviceStores())('a server that does not deliver, on $name', (store) => {
  const api = openApi(store, { FERRYHOOK_DELIVER: 'false' })

  test('retains what no worker has processed', async () => {
    const event = await api.stores.events.create(eventInput({ plan: 'free' }))
    api.clock.advance({ hours: 23 })
    await api.another({})
    await vi.waitFor(async () => {
      const current = required(await api.stores.events.getById(event.eventId))
      expect(current.expiresAt).toBeGreaterThan(event.expiresAt)
    })
  })
})

import { randomBytes } from 'node:crypto'
import { silentLog } from '@strongroom/kit/log'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createKeeper } from '../src/delivery/keeper.ts'
import type { Event } from '../src/items/event.ts'
import { openApi } from './api/open-api.ts'
import { answer } from './delivery/sink.ts'
import { openWorkerBench, type WorkerBench } from './delivery/worker-bench.ts'
import { allDue, eventInput, required } from './workbench.ts'

describe.each(serviceStores())('after an outage of all workers, on $name', (store) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench({ store })
  })
  afterAll(() => bench.close())

  const now = () => Math.floor(bench.clock.now() / 1000)

  /** When the first item about an event expires: from then on it is not whole. */
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

  test('that is longer than the retention, what was to be routed and what was to be retried is delivered', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/outage', { retryConfig: '[0,3600]' })
    bench.sink.behave('/outage', answer(503))
    const tried = await bench.receive(source, { plan: 'free', body: randomBytes(5_000) })
    await bench.worker.runOnce()
    expect(await bench.status(tried)).toBe('retrying')
    const unrouted = await bench.receive(source, { plan: 'free', body: randomBytes(5_000) })

    const timers = { after: bench.timers.start }
    const keeper = createKeeper({ layer: bench.layer, timers, log: silentLog })
    keeper.start()
    for (let hour = 0; hour < 36; hour++) {
      await bench.timers.pass({ seconds: 3_000 })
      // The last of them is under way.
      await keeper.close()
      keeper.start()
      await bench.timers.pass({ seconds: 600 })
      for (const event of [tried, unrouted]) {
        expect(await firstExpiry(event), `in hour ${hour}`).toBeGreaterThan(now())
      }
    }
    await keeper.close()

    bench.sink.behave('/outage', answer(200))
    await bench.worker.runOnce()
    expect(await bench.status(tried)).toBe('delivered')
    expect(await bench.status(unrouted)).toBe('delivered')
    expect(await bench.attempts(tried, connection)).toHaveLength(2)
  }, 60_000)

  test('what has expired but is still there is delivered, and stays to be seen for an hour', async () => {
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

  test('of what TTL has begun to delete nothing is sent, and nothing is left to do', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/half')
    const { eventId } = await bench.receive(source, { plan: 'free', body: randomBytes(5_000) })
    bench.clock.advance({ hours: 25 })
    const Key = { PK: `EVT#${eventId}`, SK: 'BODY' }
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key })
    await bench.worker.runOnce()
    expect(bench.sink.received('/half')).toEqual([])
    const due = (await allDue(bench.layer)).filter((task) => 'eventId' in task)
    expect(due).toEqual([])
  })

  test('work that is done in time leaves the expiry as the plan says', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/in-time')
    const event = await bench.receive(source, { plan: 'free' })
    await bench.worker.runOnce()
    const later = await bench.receive(source, { plan: 'free' })
    bench.clock.advance({ minutes: 21 })
    expect(await bench.layer.keeping.keepOverdue()).toBe(0)
    expect(await firstExpiry(event)).toBe(event.expiresAt)
    expect(await firstExpiry(later)).toBe(later.expiresAt)
  })
})

describe.each(serviceStores())('a server that only receives, on $name', (store) => {
  const api = openApi(store, { FERRYHOOK_DELIVER: 'false' })

  test('keeps what no worker has done', async () => {
    const event = await api.layer.events.create(eventInput({ plan: 'free' }))
    api.clock.advance({ hours: 23 })
    await api.another({})
    await vi.waitFor(async () => {
      const current = required(await api.layer.events.getCurrent(event.eventId))
      expect(current.expiresAt).toBeGreaterThan(event.expiresAt)
    })
  })
})

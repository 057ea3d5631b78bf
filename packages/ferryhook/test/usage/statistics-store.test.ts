import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Stores } from '../../src/stores.ts'
import { latencyPercentile } from '../../src/usage/event-counts.ts'
import type { Plan } from '../../src/plans.ts'
import {
  allDue,
  attemptResult,
  deliveryTasksOf,
  eventInput,
  storesOn,
  openWorkbench,
  required,
  routeTaskOf,
  serviceWorlds,
  times,
  type Workbench,
} from '../support/test-stores.ts'

const HOUR = 3_600_000

describe.each(serviceWorlds())('hourly and daily statistics on $name', (world) => {
  let bench: Workbench
  let stores: Stores
  let people = 0

  beforeAll(async () => {
    bench = await openWorkbench(world)
    stores = bench.stores
  })
  afterAll(() => bench.close())

  async function newSource() {
    const email = `stats-${++people}@example.com`
    const { userId } = await stores.users.create({ email, name: 'Ada', plan: 'team' })
    toNextHour()
    return stores.sources.create({ userId, name: 'Shop', provider: 'custom' })
  }

  function toNextHour() {
    bench.clock.advance({ ms: HOUR - (bench.clock.now() % HOUR) })
  }

  type Named = { sourceId: string; userId: string }

  async function receive({ sourceId, userId }: Named, plan: Plan = 'team') {
    return stores.events.create(eventInput({ sourceId, userId, plan }))
  }

  async function end(eventId: string, state: 'delivered' | 'failed') {
    await stores.routing.route(await routeTaskOf(stores, eventId), [
      { connectionId: newId('conn') },
    ])
    await attempt(eventId, state)
  }

  async function attempt(eventId: string, state: 'delivered' | 'failed') {
    for (const task of await deliveryTasksOf(stores, eventId)) {
      const leased = required(await stores.queue.claim(task, bench.clock.now() + 25_000))
      const made = { attempt: attemptResult(bench.clock), reason: 'exhausted' }
      await stores.settlement.settle(leased, { state, ...made })
    }
  }

  const hours = (sourceId: string) =>
    stores.statistics.list(sourceId, 'hour', { from: 0, until: bench.clock.now() })
  const days = (sourceId: string) =>
    stores.statistics.list(sourceId, 'day', { from: 0, until: bench.clock.now() })

  /** Runs the metering tasks that are due, as a worker does. */
  async function countDue({ sourceId }: Named) {
    for (const task of await allDue(stores)) {
      if (task.kind === 'count' && task.sourceId === sourceId) await stores.metering.roll(task)
    }
  }

  test('an hour is counted when it is over and all its events are stored', async () => {
    const source = await newSource()
    await end((await receive(source)).eventId, 'delivered')
    await end((await receive(source)).eventId, 'failed')
    await receive(source)
    const startsAt = bench.clock.now()
    expect(await stores.statistics.refresh(source.sourceId)).toBe(startsAt + HOUR + 120_000)
    toNextHour()
    await stores.statistics.refresh(source.sourceId)
    expect(await hours(source.sourceId)).toEqual([])
    bench.clock.advance({ minutes: 2 })
    expect(await stores.statistics.refresh(source.sourceId)).toBe(startsAt + 3 * HOUR)
    expect(await hours(source.sourceId)).toMatchObject([
      {
        startsAt,
        events: { delivered: 1, failed: 1, received: 1, retrying: 0 },
        deliveries: { delivered: 1, failed: 1, runnable: 0 },
      },
    ])
    expect(await stores.statistics.countedUntil(source.sourceId)).toBe(startsAt + HOUR)
  })

  test('a worker counts a source without a request, and once if it stops receiving events', async () => {
    const source = await newSource()
    await end((await receive(source)).eventId, 'delivered')
    await stores.metering.plan(source)
    for (let minutes = 0; minutes < 120; minutes += 20) {
      await countDue(source)
      bench.clock.advance({ minutes: 20 })
    }
    expect(await hours(source.sourceId)).toMatchObject([{ events: { delivered: 1 } }])
    expect(await stores.users.getById(source.userId)).toMatchObject({ usageThisMonth: 1 })
    bench.clock.advance({ days: 30 })
    const left = (await allDue(stores)).filter(
      (task) => task.kind === 'count' && task.sourceId === source.sourceId,
    )
    expect(left).toEqual([])
  })

  test('an hour is counted again while its events are pending, and after a replay', async () => {
    const source = await newSource()
    const { eventId, receivedAt } = await receive(source)
    await stores.routing.route(await routeTaskOf(stores, eventId), [
      { connectionId: newId('conn') },
    ])
    bench.clock.advance({ hours: 1, minutes: 5 })
    await stores.metering.plan(source)
    bench.clock.advance({ minutes: 10 })
    await countDue(source)
    const counted = async () => (await hours(source.sourceId))[0]?.events
    expect(await counted()).toMatchObject({ processing: 1 })
    await attempt(eventId, 'failed')
    await countDue(source)
    expect(await counted()).toMatchObject({ processing: 1 })
    bench.clock.advance({ hours: 2 })
    await countDue(source)
    expect(await counted()).toMatchObject({ processing: 0, failed: 1 })

    const [delivery] = await stores.deliveries.listByEvent(eventId)
    await stores.statistics.scheduleRecount({ ...source, receivedAt })
    await stores.deliveries.replay(eventId, required(delivery).connectionId)
    await attempt(eventId, 'delivered')
    bench.clock.advance({ minutes: 15 })
    await countDue(source)
    expect(await counted()).toMatchObject({ failed: 0, delivered: 1 })
    expect(await days(source.sourceId)).toMatchObject([{ events: { failed: 0, delivered: 1 } }])
    // The replay was late on purpose, so it has no latency.
    expect((await hours(source.sourceId))[0]?.latencies).toEqual({})
  })

  test('counts remain after the events expire', async () => {
    const source = await newSource()
    const short = await receive(source, 'free')
    const open = await receive(source, 'team')
    await end(short.eventId, 'delivered')
    bench.clock.advance({ hours: 1, minutes: 3 })
    await stores.statistics.refresh(source.sourceId)
    const before = await hours(source.sourceId)
    expect(before).toMatchObject([{ events: { delivered: 1, received: 1 } }])
    bench.clock.advance({ days: 2 })
    await bench.db.deleteItem({
      TableName: 'ferryhook-events',
      Key: { PK: short.PK, SK: short.SK },
    })
    await stores.statistics.scheduleRecount(open)
    bench.clock.advance({ hours: 1 })
    expect(await stores.statistics.refresh(source.sourceId)).toBeUndefined()
    expect(await hours(source.sourceId)).toEqual(before)
  })

  test('concurrent and repeated counting gives the same result', async () => {
    const source = await newSource()
    for (let hour = 0; hour < 3; hour++) {
      for (let n = 0; n <= hour; n++) await end((await receive(source)).eventId, 'delivered')
      toNextHour()
    }
    bench.clock.advance({ minutes: 2 })
    const others = times(4, () => storesOn(bench.db, bench.clock, world.hostility))
    await Promise.all(others.map((each) => each.statistics.refresh(source.sourceId)))
    const counted = (await hours(source.sourceId)).map(({ events }) => events.delivered)
    expect(counted).toEqual([1, 2, 3])
    const total = (await days(source.sourceId)).map(({ events }) => events.delivered ?? 0)
    expect(total.reduce((sum, each) => sum + each, 0)).toBe(6)
    const mark = await stores.statistics.countedUntil(source.sourceId)
    await stores.statistics.refresh(source.sourceId)
    expect(await stores.statistics.countedUntil(source.sourceId)).toBe(mark)
  })

  test('latencies are accurate to 5 %', async () => {
    const source = await newSource()
    for (const latency of [5, 10, 20, 40, 1_000]) {
      const { eventId } = await receive(source)
      await stores.routing.route(await routeTaskOf(stores, eventId), [
        { connectionId: newId('conn') },
      ])
      bench.clock.advance({ ms: latency })
      await attempt(eventId, 'delivered')
    }
    const until = bench.clock.now() + 1
    const { statistics } = await stores.eventCounts.count({
      sourceId: source.sourceId,
      from: 0,
      until,
    })
    const near = (part: number) => required(latencyPercentile(part, statistics))
    expect(Math.abs(near(0.5) - 20) / 20).toBeLessThanOrEqual(0.05)
    expect(Math.abs(near(0.99) - 1_000) / 1_000).toBeLessThanOrEqual(0.05)
  })

  test('events received after a clock that is ahead counted their hour are counted at its end', async () => {
    const source = await newSource()
    const { sourceId } = source
    const ahead = storesOn(bench.db, { ...bench.clock, now: () => bench.clock.now() + HOUR })
    bench.clock.advance({ minutes: 10 })
    await receive(source)
    await ahead.statistics.refresh(sourceId)
    expect(await ahead.statistics.countedUntil(sourceId)).toBeGreaterThan(bench.clock.now())
    await receive(source)
    bench.clock.advance({ minutes: 5 })
    await stores.statistics.refresh(sourceId)
    await receive(source)
    toNextHour()
    bench.clock.advance({ minutes: 3 })
    await receive(source)
    await stores.statistics.refresh(sourceId)
    expect(await hours(sourceId)).toMatchObject([{ events: { received: 3 } }])
    toNextHour()
    bench.clock.advance({ minutes: 3 })
    await stores.statistics.refresh(sourceId)
    const counted = (await hours(sourceId)).map(({ events }) => events.received)
    expect(counted).toEqual([3, 1])
  })

  test('an hour counted by a clock that is ahead is counted again, even without requests before its end', async () => {
    const source = await newSource()
    const { sourceId } = source
    const ahead = storesOn(bench.db, { ...bench.clock, now: () => bench.clock.now() + 2 * HOUR })
    await receive(source)
    await ahead.events.create(eventInput({ sourceId, userId: source.userId, plan: 'team' }))
    const further = storesOn(bench.db, { ...bench.clock, now: () => bench.clock.now() + 4 * HOUR })
    await further.statistics.refresh(sourceId)
    bench.clock.advance({ minutes: 58 })
    await receive(source)
    bench.clock.advance({ minutes: 7 })
    await stores.statistics.refresh(sourceId)
    expect(await hours(sourceId)).toMatchObject([{ events: { received: 2 } }])
  })

  test('an hour that a clock ahead counted as empty is counted when it is over', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const aheadBy = (ms: number) =>
      storesOn(bench.db, { ...bench.clock, now: () => bench.clock.now() + ms })
    await aheadBy(2 * HOUR).events.create(eventInput({ sourceId, userId, plan: 'team' }))
    const ahead = aheadBy(4 * HOUR)
    await ahead.statistics.refresh(sourceId)
    bench.clock.advance({ minutes: 1 })
    await stores.statistics.refresh(sourceId)
    await ahead.statistics.refresh(sourceId)
    await receive(source)
    await stores.statistics.refresh(sourceId)
    toNextHour()
    bench.clock.advance({ minutes: 3 })
    await stores.statistics.refresh(sourceId)
    const counted = (await hours(sourceId)).map(({ events }) => events.received)
    expect(counted.at(-1)).toBe(1)
  })
})

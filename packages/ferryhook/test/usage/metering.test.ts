import { ItemMismatch } from '@strongroom/kit/db-errors'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Stores } from '../../src/stores.ts'
import { nextMonthStart } from '../../src/storage/time.ts'
import type { Source } from '../../src/sources/item.ts'
import type { MeteringTask } from '../../src/queue/tasks.ts'
import {
  allDue,
  eventInput,
  storesOn,
  openWorkbench,
  required,
  serviceWorlds,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(serviceWorlds())('usage on $name', (world) => {
  let bench: Workbench
  let stores: Workbench['stores']
  let people = 0

  beforeAll(async () => {
    bench = await openWorkbench(world)
    stores = bench.stores
  })
  afterAll(() => bench.close())

  async function newSource() {
    const email = `usage-${++people}@example.com`
    const { userId } = await stores.users.create({ email, name: 'Ada', plan: 'team' })
    return stores.sources.create({ userId, name: 'Shop', provider: 'shopify' })
  }

  test('one of many concurrent counts of the same events succeeds, for source and user together', async () => {
    const source = await newSource()
    const until = bench.clock.now() + 1
    const lastEventAt = new Date(bench.clock.now()).toISOString()
    const counted = { until, events: 7, lastEventAt }
    const ends = await Promise.all(times(10, () => stores.metering.advance(source, counted)))
    expect(ends.filter((end) => end === 'counted')).toHaveLength(1)
    const after = required(await stores.sources.getOwned(source.sourceId, source.userId))
    expect(after).toMatchObject({ eventCount: 7, countedUntil: until, lastEventAt })
    expect(await stores.users.getById(source.userId)).toMatchObject({ usageThisMonth: 7 })
    expect(await stores.metering.advance(after, { until: until + 5, events: 2 })).toBe('counted')
    expect(await stores.users.getById(source.userId)).toMatchObject({ usageThisMonth: 9 })
  })

  test('two sources of a user are counted concurrently without losing events', async () => {
    const first = await newSource()
    const { userId } = first
    const second = await stores.sources.create({ userId, name: 'Other', provider: 'custom' })
    const until = bench.clock.now() + 1
    await Promise.all(
      [first, second].map((source) => stores.metering.advance(source, { until, events: 3 })),
    )
    expect(await stores.users.getById(userId)).toMatchObject({ usageThisMonth: 6 })
  })

  test('events of a new month start a new period, and late events of the old month are not added to it', async () => {
    const source = await newSource()
    const other = await stores.sources.create({
      userId: source.userId,
      name: 'B',
      provider: 'custom',
    })
    const january = bench.clock.now() + 1
    bench.clock.advance({ days: 31 })
    await stores.metering.advance(source, { until: bench.clock.now() + 1, events: 4 })
    const february = { usageThisMonth: 4, usagePeriodStart: '2100-02-01' }
    expect(await stores.users.getById(source.userId)).toMatchObject(february)
    await stores.metering.advance(other, { until: january, events: 9 })
    expect(await stores.users.getById(source.userId)).toMatchObject(february)
    expect(await stores.sources.getOwned(other.sourceId, other.userId)).toMatchObject({
      eventCount: 9,
    })
  })

  test('events of a deleted user are not counted', async () => {
    const source = await newSource()
    await stores.users.delete(source.userId)
    const counted = { until: bench.clock.now() + 1, events: 1 }
    expect(await stores.metering.advance(source, counted)).toBe('user_missing')
  })

  test('an invalid count or time is rejected and nothing is counted', async () => {
    const source = await newSource()
    const until = bench.clock.now() + 1
    for (const wrong of [
      { until, events: -1 },
      { until, events: 0.5 },
      { until: 7, events: 1 },
      { until, events: 1, lastEventAt: 'today' },
    ]) {
      await expect(stores.metering.advance(source, wrong)).rejects.toThrow(ItemMismatch)
    }
    expect(await stores.sources.getOwned(source.sourceId, source.userId)).toEqual(source)
    expect(await stores.users.getById(source.userId)).toMatchObject({ usageThisMonth: 0 })
  })

  /** The metering tasks that are due. */
  async function countingTasks(): Promise<MeteringTask[]> {
    return (await allDue(stores)).filter((task) => task.kind === 'count')
  }

  test('the events of a source are counted once, two minutes after their receipt, by any worker', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const received = () => stores.events.create(eventInput({ sourceId, userId }))
    await received()
    const last = await received()
    await stores.events.create(eventInput({ sourceId, userId, status: 'signature_failed' }))
    const dueAt = await stores.metering.plan(source)
    expect(await stores.metering.plan(source)).toBe(dueAt)
    expect(dueAt - bench.clock.now()).toBeGreaterThanOrEqual(120_000)
    bench.clock.advance({ ms: dueAt - bench.clock.now() - 1 })
    expect(await countingTasks()).toEqual([])
    bench.clock.advance({ ms: 1 })
    const late = await received()
    const [task, ...others] = await countingTasks()
    expect(others).toEqual([])
    await Promise.all(times(5, () => stores.metering.roll(required(task))))
    expect(await stores.sources.getOwned(sourceId, userId)).toMatchObject({
      eventCount: 2,
      lastEventAt: new Date(last.receivedAt).toISOString(),
      countedUntil: last.receivedAt + 1,
    })
    expect(await stores.users.getById(userId)).toMatchObject({ usageThisMonth: 2 })
    expect(await countingTasks()).toEqual([])

    bench.clock.advance({ ms: (await stores.metering.plan(source)) - bench.clock.now() })
    await stores.metering.roll(required((await countingTasks())[0]))
    expect(await stores.sources.getOwned(sourceId, userId)).toMatchObject({
      eventCount: 3,
      lastEventAt: new Date(late.receivedAt).toISOString(),
    })
  })

  test('events of two months that are counted together count for their own month', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const received = () => stores.events.create(eventInput({ sourceId, userId, plan: 'team' }))
    await received()
    await received()
    bench.clock.advance({ days: 32 })
    await received()
    bench.clock.advance({ ms: (await stores.metering.plan(source)) - bench.clock.now() })
    for (const task of await countingTasks()) await stores.metering.roll(task)
    expect(await stores.sources.getOwned(sourceId, userId)).toMatchObject({ eventCount: 3 })
    const month = `${new Date(bench.clock.now()).toISOString().slice(0, 7)}-01`
    expect(await stores.users.getById(userId)).toMatchObject({
      usageThisMonth: 1,
      usagePeriodStart: month,
    })
  })

  /** As on a machine whose clock is this far ahead or behind. */
  const skewed = (minutes: number) =>
    storesOn(bench.db, { ...bench.clock, now: () => bench.clock.now() + minutes * 60_000 })

  async function figures({ sourceId, userId }: Pick<Source, 'sourceId' | 'userId'>) {
    const source = required(await stores.sources.getOwned(sourceId, userId))
    const { usageThisMonth } = required(await stores.users.getById(userId))
    const { events: pending } = await stores.metering.pending(source, { isOfMonth: true })
    return { eventCount: source.eventCount, usageThisMonth, pending }
  }

  test('events received after a count by a clock that is ahead are counted once', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const receive = () => stores.events.create(eventInput({ sourceId, userId, plan: 'team' }))
    const ahead = skewed(45)
    await Promise.all(times(2, receive))
    await ahead.metering.catchUp(source)
    expect(await figures(source)).toEqual({ eventCount: 2, usageThisMonth: 2, pending: 0 })
    // At the same millisecond as those, and later.
    await receive()
    bench.clock.advance({ minutes: 4 })
    await receive()
    expect(await figures(source)).toEqual({ eventCount: 2, usageThisMonth: 2, pending: 2 })
    await Promise.all(times(3, () => ahead.metering.catchUp(source)))
    expect(await figures(source)).toEqual({ eventCount: 4, usageThisMonth: 4, pending: 0 })
    bench.clock.advance({ hours: 1 })
    await Promise.all(times(3, () => stores.metering.catchUp(source)))
    expect(await figures(source)).toEqual({ eventCount: 4, usageThisMonth: 4, pending: 0 })
  })

  test('events received after the clock was set back are counted once', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    bench.clock.advance({ hours: 1 })
    const receive = (by: Stores) => by.events.create(eventInput({ sourceId, userId, plan: 'team' }))
    for (let minute = 0; minute < 12; minute++) {
      await receive(stores)
      bench.clock.advance({ minutes: 1 })
    }
    bench.clock.advance({ minutes: 2 })
    await stores.metering.catchUp(source)
    expect(await figures(source)).toEqual({ eventCount: 12, usageThisMonth: 12, pending: 0 })
    const behind = skewed(-10)
    await Promise.all(times(3, () => receive(behind)))
    const now = required(await stores.sources.getOwned(sourceId, userId))
    expect(await behind.metering.pending(now)).toMatchObject({ events: 3 })
    await Promise.all(times(3, () => behind.metering.catchUp(source)))
    expect(await figures(source)).toEqual({ eventCount: 15, usageThisMonth: 15, pending: 0 })
    await receive(behind)
    bench.clock.advance({ minutes: 13 })
    await Promise.all(times(3, () => behind.metering.catchUp(source)))
    await stores.metering.catchUp(source)
    expect(await figures(source)).toEqual({ eventCount: 16, usageThisMonth: 16, pending: 0 })
  })

  test('events that are stored late at the end of a month are not added to the next', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const [now, next] = [bench.clock.now(), nextMonthStart(bench.clock.now())]
    bench.clock.advance({ ms: next - now - 60_000 })
    const late = bench.clock.now()
    const receive = (at: number) => {
      const by = storesOn(bench.db, { ...bench.clock, now: () => at })
      return by.events.create(eventInput({ sourceId, userId, plan: 'team' }))
    }
    await receive(late)
    await receive(next - 1)
    bench.clock.advance({ minutes: 4 })
    await stores.metering.catchUp(source)
    await receive(next + 60_000)
    bench.clock.advance({ minutes: 4 })
    await stores.metering.catchUp(source)
    await receive(late)
    await stores.metering.catchUp(source)
    expect(await figures(source)).toMatchObject({ usageThisMonth: 1, pending: 0 })
  })

  test('counting a source without new events takes two queries', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const calm = storesOn(bench.db, bench.clock)
    const queries = vi.spyOn(bench.db, 'query')
    const queriesOf = async (count: () => Promise<unknown>) => {
      queries.mockClear()
      await count()
      return queries.mock.calls.length
    }
    for (let step = 0; step < 6; step++) {
      await stores.events.create(eventInput({ sourceId, userId, plan: 'team' }))
      bench.clock.advance({ minutes: 3 })
      // Late events, the first and the last event, their count, and whether there are more.
      expect(await queriesOf(() => calm.metering.catchUp(source))).toBeLessThanOrEqual(5)
      expect(await queriesOf(() => calm.metering.catchUp(source))).toBe(2)
    }
    queries.mockRestore()
    expect(await figures(source)).toMatchObject({ eventCount: 6, pending: 0 })
  })

  test('events that failed verification do not change the time of the last event', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const status = 'signature_failed'
    await stores.events.create(eventInput({ sourceId, userId, plan: 'team', status }))
    bench.clock.advance({ minutes: 5 })
    await stores.metering.catchUp(source)
    const counted = required(await stores.sources.getOwned(sourceId, userId))
    expect([counted.eventCount, counted.lastEventAt]).toEqual([0, undefined])
  })

  test('metering of a deleted account ends', async () => {
    const source = await newSource()
    await stores.events.create(eventInput({ sourceId: source.sourceId, userId: source.userId }))
    await stores.users.delete(source.userId)
    bench.clock.advance({ ms: (await stores.metering.plan(source)) - bench.clock.now() })
    for (const task of await countingTasks()) await stores.metering.roll(task)
    expect(await countingTasks()).toEqual([])
  })
})

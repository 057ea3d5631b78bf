import { ItemMismatch } from '@strongroom/kit/item-mismatch'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { DataLayer } from '../src/db/data-layer.ts'
import { monthAfter } from '../src/db/times.ts'
import type { Source } from '../src/items/source.ts'
import type { CountTask } from '../src/items/task.ts'
import {
  allDue,
  eventInput,
  layerOn,
  openWorkbench,
  outcomes,
  required,
  serviceWorlds,
  times,
  type Workbench,
} from './workbench.ts'

describe.each(serviceWorlds())('usage on $name', (world) => {
  let bench: Workbench
  let layer: Workbench['layer']
  let people = 0

  beforeAll(async () => {
    bench = await openWorkbench(world)
    layer = bench.layer
  })
  afterAll(() => bench.close())

  async function newSource() {
    const email = `usage-${++people}@example.com`
    const { userId } = await layer.users.create({ email, name: 'Ada', plan: 'team' })
    return layer.sources.create({ userId, name: 'Shop', provider: 'shopify' })
  }

  test('of many who count the same events at once one does, for the source and the user together', async () => {
    const source = await newSource()
    const until = bench.clock.now() + 1
    const lastEventAt = new Date(bench.clock.now()).toISOString()
    const counted = { until, events: 7, lastEventAt }
    const ends = await Promise.all(times(10, () => layer.usage.advance(source, counted)))
    expect(ends.filter(Boolean)).toHaveLength(1)
    const after = required(await layer.sources.getOwned(source.sourceId, source.userId))
    expect(after).toMatchObject({ eventCount: 7, countedUntil: until, lastEventAt })
    expect(await layer.users.getById(source.userId)).toMatchObject({ usageThisMonth: 7 })
    expect(await layer.usage.advance(after, { until: until + 5, events: 2 })).toBe(true)
    expect(await layer.users.getById(source.userId)).toMatchObject({ usageThisMonth: 9 })
  })

  test('two sources of a user are counted at once and nothing is lost', async () => {
    const first = await newSource()
    const { userId } = first
    const second = await layer.sources.create({ userId, name: 'Other', provider: 'custom' })
    const until = bench.clock.now() + 1
    await Promise.all(
      [first, second].map((source) => layer.usage.advance(source, { until, events: 3 })),
    )
    expect(await layer.users.getById(userId)).toMatchObject({ usageThisMonth: 6 })
  })

  test('events of a new month begin a new period, and late ones of the old month do not enter it', async () => {
    const source = await newSource()
    const other = await layer.sources.create({
      userId: source.userId,
      name: 'B',
      provider: 'custom',
    })
    const january = bench.clock.now() + 1
    bench.clock.advance({ days: 31 })
    await layer.usage.advance(source, { until: bench.clock.now() + 1, events: 4 })
    const february = { usageThisMonth: 4, usagePeriodStart: '2100-02-01' }
    expect(await layer.users.getById(source.userId)).toMatchObject(february)
    await layer.usage.advance(other, { until: january, events: 9 })
    expect(await layer.users.getById(source.userId)).toMatchObject(february)
    expect(await layer.sources.getOwned(other.sourceId, other.userId)).toMatchObject({
      eventCount: 9,
    })
  })

  test('events of a user that is gone are not counted', async () => {
    const source = await newSource()
    await layer.users.delete(source.userId)
    const counted = { until: bench.clock.now() + 1, events: 1 }
    expect(await outcomes([layer.usage.advance(source, counted)])).toEqual(['not_found'])
  })

  test('what is no count or no time is refused and nothing is counted', async () => {
    const source = await newSource()
    const until = bench.clock.now() + 1
    for (const wrong of [
      { until, events: -1 },
      { until, events: 0.5 },
      { until: 7, events: 1 },
      { until, events: 1, lastEventAt: 'today' },
    ]) {
      await expect(layer.usage.advance(source, wrong)).rejects.toThrow(ItemMismatch)
    }
    expect(await layer.sources.getOwned(source.sourceId, source.userId)).toEqual(source)
    expect(await layer.users.getById(source.userId)).toMatchObject({ usageThisMonth: 0 })
  })

  /** The counting tasks that are due. */
  async function countingTasks(): Promise<CountTask[]> {
    return (await allDue(layer)).filter((task) => task.kind === 'count')
  }

  test('the events of a source are counted two minutes after they came, each once, whoever counts them', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const received = () => layer.events.create(eventInput({ sourceId, userId }))
    await received()
    const last = await received()
    await layer.events.create(eventInput({ sourceId, userId, status: 'signature_failed' }))
    const dueAt = await layer.usage.plan(source)
    expect(await layer.usage.plan(source)).toBe(dueAt)
    expect(dueAt - bench.clock.now()).toBeGreaterThanOrEqual(120_000)
    bench.clock.advance({ ms: dueAt - bench.clock.now() - 1 })
    expect(await countingTasks()).toEqual([])
    bench.clock.advance({ ms: 1 })
    const late = await received()
    const [task, ...others] = await countingTasks()
    expect(others).toEqual([])
    await Promise.all(times(5, () => layer.usage.roll(required(task))))
    expect(await layer.sources.getOwned(sourceId, userId)).toMatchObject({
      eventCount: 2,
      lastEventAt: new Date(last.receivedAt).toISOString(),
      countedUntil: last.receivedAt + 1,
    })
    expect(await layer.users.getById(userId)).toMatchObject({ usageThisMonth: 2 })
    expect(await countingTasks()).toEqual([])

    bench.clock.advance({ ms: (await layer.usage.plan(source)) - bench.clock.now() })
    await layer.usage.roll(required((await countingTasks())[0]))
    expect(await layer.sources.getOwned(sourceId, userId)).toMatchObject({
      eventCount: 3,
      lastEventAt: new Date(late.receivedAt).toISOString(),
    })
  })

  test('events of two months that are counted together count in their own month', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const received = () => layer.events.create(eventInput({ sourceId, userId, plan: 'team' }))
    await received()
    await received()
    bench.clock.advance({ days: 32 })
    await received()
    bench.clock.advance({ ms: (await layer.usage.plan(source)) - bench.clock.now() })
    for (const task of await countingTasks()) await layer.usage.roll(task)
    expect(await layer.sources.getOwned(sourceId, userId)).toMatchObject({ eventCount: 3 })
    const month = `${new Date(bench.clock.now()).toISOString().slice(0, 7)}-01`
    expect(await layer.users.getById(userId)).toMatchObject({
      usageThisMonth: 1,
      usagePeriodStart: month,
    })
  })

  /** As a machine has it whose clock is so far ahead, or behind. */
  const skewed = (minutes: number) =>
    layerOn(bench.db, { ...bench.clock, now: () => bench.clock.now() + minutes * 60_000 })

  async function figures({ sourceId, userId }: Pick<Source, 'sourceId' | 'userId'>) {
    const source = required(await layer.sources.getOwned(sourceId, userId))
    const { usageThisMonth } = required(await layer.users.getById(userId))
    const pending = await layer.usage.pending(source)
    return { eventCount: source.eventCount, usageThisMonth, pending }
  }

  test('events are counted, each once, that come after a clock that is ahead has counted', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const receive = () => layer.events.create(eventInput({ sourceId, userId, plan: 'team' }))
    const ahead = skewed(45)
    await Promise.all(times(2, receive))
    await ahead.usage.catchUp(source)
    expect(await figures(source)).toEqual({ eventCount: 2, usageThisMonth: 2, pending: 0 })
    // At the same moment as those, and later.
    await receive()
    bench.clock.advance({ minutes: 4 })
    await receive()
    expect(await figures(source)).toEqual({ eventCount: 2, usageThisMonth: 2, pending: 2 })
    await Promise.all(times(3, () => ahead.usage.catchUp(source)))
    expect(await figures(source)).toEqual({ eventCount: 4, usageThisMonth: 4, pending: 0 })
    bench.clock.advance({ hours: 1 })
    await Promise.all(times(3, () => layer.usage.catchUp(source)))
    expect(await figures(source)).toEqual({ eventCount: 4, usageThisMonth: 4, pending: 0 })
  })

  test('events are counted, each once, that come after the clock was set back', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    bench.clock.advance({ hours: 1 })
    const receive = (by: DataLayer) =>
      by.events.create(eventInput({ sourceId, userId, plan: 'team' }))
    for (let minute = 0; minute < 12; minute++) {
      await receive(layer)
      bench.clock.advance({ minutes: 1 })
    }
    bench.clock.advance({ minutes: 2 })
    await layer.usage.catchUp(source)
    expect(await figures(source)).toEqual({ eventCount: 12, usageThisMonth: 12, pending: 0 })
    const behind = skewed(-10)
    await Promise.all(times(3, () => receive(behind)))
    const now = required(await layer.sources.getOwned(sourceId, userId))
    expect(await behind.usage.pending(now)).toBe(3)
    await Promise.all(times(3, () => behind.usage.catchUp(source)))
    expect(await figures(source)).toEqual({ eventCount: 15, usageThisMonth: 15, pending: 0 })
    await receive(behind)
    bench.clock.advance({ minutes: 13 })
    await Promise.all(times(3, () => behind.usage.catchUp(source)))
    await layer.usage.catchUp(source)
    expect(await figures(source)).toEqual({ eventCount: 16, usageThisMonth: 16, pending: 0 })
  })

  test('what comes late to the last moments of a month does not enter the next', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const [now, next] = [bench.clock.now(), monthAfter(bench.clock.now())]
    bench.clock.advance({ ms: next - now - 60_000 })
    const late = bench.clock.now()
    const receive = (at: number) => {
      const by = layerOn(bench.db, { ...bench.clock, now: () => at })
      return by.events.create(eventInput({ sourceId, userId, plan: 'team' }))
    }
    await receive(late)
    await receive(next - 1)
    bench.clock.advance({ minutes: 4 })
    await layer.usage.catchUp(source)
    await receive(next + 60_000)
    bench.clock.advance({ minutes: 4 })
    await layer.usage.catchUp(source)
    await receive(late)
    await layer.usage.catchUp(source)
    expect(await figures(source)).toMatchObject({ usageThisMonth: 1, pending: 0 })
  })

  test('a source to which nothing came is counted with two queries, however often it was before', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const calm = layerOn(bench.db, bench.clock)
    const queries = vi.spyOn(bench.db, 'query')
    const queriesOf = async (count: () => Promise<unknown>) => {
      queries.mockClear()
      await count()
      return queries.mock.calls.length
    }
    for (let step = 0; step < 6; step++) {
      await layer.events.create(eventInput({ sourceId, userId, plan: 'team' }))
      bench.clock.advance({ minutes: 3 })
      // Whether some are late, the first and the last, how many, and whether there are more.
      expect(await queriesOf(() => calm.usage.catchUp(source))).toBeLessThanOrEqual(5)
      expect(await queriesOf(() => calm.usage.catchUp(source))).toBe(2)
    }
    queries.mockRestore()
    expect(await figures(source)).toMatchObject({ eventCount: 6, pending: 0 })
  })

  test('what failed verification alone is no last event', async () => {
    const source = await newSource()
    const { sourceId, userId } = source
    const status = 'signature_failed'
    await layer.events.create(eventInput({ sourceId, userId, plan: 'team', status }))
    bench.clock.advance({ minutes: 5 })
    await layer.usage.catchUp(source)
    const counted = required(await layer.sources.getOwned(sourceId, userId))
    expect([counted.eventCount, counted.lastEventAt]).toEqual([0, undefined])
  })

  test('the counting of an account that was deleted ends', async () => {
    const source = await newSource()
    await layer.events.create(eventInput({ sourceId: source.sourceId, userId: source.userId }))
    await layer.users.delete(source.userId)
    bench.clock.advance({ ms: (await layer.usage.plan(source)) - bench.clock.now() })
    for (const task of await countingTasks()) await layer.usage.roll(task)
    expect(await countingTasks()).toEqual([])
  })
})

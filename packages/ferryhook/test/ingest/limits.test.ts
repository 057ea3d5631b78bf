import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventLimits } from '../../src/ingest/limits.ts'
import { times } from '../support/test-stores.ts'
import { few, type IngestBench, openIngestBench, type Receiver } from '../support/test-ingest.ts'

describe.each(serviceStores())('plan limits of ingest on $name', (store) => {
  let bench: IngestBench

  beforeAll(async () => {
    bench = await openIngestBench(store)
  })
  afterAll(() => bench.close())

  const inOrder = (numbers: number[]) => numbers.toSorted((a, b) => a - b)
  /** Ten in parallel, in the order of their responses. */
  const statuses = async (receiver: Receiver, sourceId: string, count: number, sent = {}) => {
    const seen: number[] = []
    while (seen.length < count) {
      const wave = times(Math.min(10, count - seen.length), () => receiver.send(sourceId, sent))
      seen.push(...(await Promise.all(wave)).map(({ status }) => status))
    }
    return inOrder(seen)
  }
  const countOf = async (sourceId: string) => {
    const { events } = bench.stores
    const { items, cursor } = await events.listBySource(sourceId, { limit: 100 })
    const rest = cursor === null ? [] : (await events.listBySource(sourceId, { cursor })).items
    return items.length + rest.length
  }
  const many = (status: number, count: number) => times(count, () => status)
  const refused = async (receiver: Receiver, sourceId: string) => {
    await receiver.ingest.flush()
    return bench.stores.ingestCounters.listBySource(sourceId, 0)
  }

  test('a source accepts exactly as many events per minute as its plan allows', async () => {
    const source = await bench.source({ plan: 'free' })
    expect(await statuses(bench, source.sourceId, 102)).toEqual([...many(200, 100), 429, 429])
    const other = await bench.source({ plan: 'free' })
    expect((await bench.send(other.sourceId)).status).toBe(200)
    expect(await countOf(source.sourceId)).toBe(100)
    expect(await refused(bench, source.sourceId)).toMatchObject([{ minute: 2 }])
  })

  test('a rejected request says when to retry, and is accepted then', async () => {
    const receiver = await bench.another(few('pro', { eventsPerMinute: 2 }))
    const source = await bench.source({ plan: 'pro' })
    expect(await statuses(receiver, source.sourceId, 2)).toEqual([200, 200])
    const { status, headers, body } = await receiver.send(source.sourceId)
    expect([status, body.error?.code]).toEqual([429, 'request.rate_limited'])
    const seconds = Number(headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    bench.clock.advance({ seconds: seconds - 1 })
    expect((await receiver.send(source.sourceId)).status).toBe(429)
    bench.clock.advance({ seconds: 1 })
    expect((await receiver.send(source.sourceId)).status).toBe(200)
  })

  test('duplicates, handshakes and failed signatures do not use the limit per minute', async () => {
    const receiver = await bench.another(few('pro', { eventsPerMinute: 2 }))
    const source = await bench.source({ plan: 'pro', provider: 'github' })
    const headers = { 'x-github-delivery': 'one' }
    for (let sent = 0; sent < 4; sent++) {
      expect((await receiver.send(source.sourceId, { headers })).status).toBe(200)
    }
    expect((await receiver.send(source.sourceId)).status).toBe(200)
    expect((await receiver.send(source.sourceId)).status).toBe(429)
    const verifying = await bench.source({ plan: 'pro', provider: 'stripe', secret: 'whsec_1' })
    expect(await statuses(receiver, verifying.sourceId, 4)).toEqual(many(401, 4))
  })

  test('the free plan rejects events beyond the month, across all sources and processes', async () => {
    const limits = few('free', { eventsPerMonth: 5 })
    const [one, other] = [await bench.another(limits), await bench.another(limits)]
    const source = await bench.source({ plan: 'free' })
    const { userId } = source
    const second = await bench.stores.sources.create({ userId, name: 'B', provider: 'custom' })
    const all = await Promise.all([
      statuses(one, source.sourceId, 4),
      statuses(other, second.sourceId, 4),
    ])
    expect(inOrder(all.flat())).toEqual([...many(200, 5), ...many(429, 3)])
    const { status, body, headers } = await one.send(source.sourceId)
    expect([status, body.error?.code]).toEqual([429, 'ferryhook.month_limit'])
    const left = Date.UTC(2100, 1) - bench.clock.now()
    expect(headers.get('retry-after')).toBe(String(Math.ceil(left / 1000)))
    const stored = [...(await bench.eventsOf(source)), ...(await bench.eventsOf(second))]
    expect(stored).toHaveLength(5)
    const tallies = [
      ...(await refused(one, source.sourceId)),
      ...(await refused(other, second.sourceId)),
    ]
    expect(tallies.reduce((sum, { month }) => sum + month, 0)).toBe(4)
    expect(one.alerts.filter(({ kind }) => kind === 'limit.reached')).toHaveLength(1)
  })

  test('the free plan also rejects events if the month was used up before the plan changed', async () => {
    const source = await bench.source({ plan: 'free' })
    await bench.stores.users.incrementUsage(source.userId, 5_000)
    expect((await bench.send(source.sourceId)).status).toBe(429)
    expect(await bench.eventsOf(source)).toEqual([])
  })

  test('a paid plan accepts events beyond the month and reports them', async () => {
    const receiver = await bench.another(few('starter', { eventsPerMonth: 3 }))
    const source = await bench.source({ plan: 'starter' })
    await bench.stores.users.incrementUsage(source.userId, 3)
    expect(await statuses(receiver, source.sourceId, 2)).toEqual([200, 200])
    expect(await bench.eventsOf(source)).toHaveLength(2)
    expect(await refused(receiver, source.sourceId)).toMatchObject([{ beyondMonth: 2, month: 0 }])
    expect(receiver.alerts).toEqual([
      {
        kind: 'limit.reached',
        userId: source.userId,
        sourceId: source.sourceId,
        limit: 'starter month',
      },
    ])
  })

  test('limits can be turned off', async () => {
    const limits = eventLimits({ FERRYHOOK_EVENT_LIMITS: false })
    const receiver = await bench.another({ limits })
    const source = await bench.source({ plan: 'free' })
    await bench.stores.users.incrementUsage(source.userId, 5_000)
    expect(await statuses(receiver, source.sourceId, 3)).toEqual([200, 200, 200])
    expect(limits.free.eventsPerMinute).toBe(Number.POSITIVE_INFINITY)
  })

  test('a new month and a new hour start over', async () => {
    const receiver = await bench.another(few('free', { eventsPerMonth: 1 }))
    const source = await bench.source({ plan: 'free' })
    expect(await statuses(receiver, source.sourceId, 2)).toEqual([200, 429])
    bench.clock.advance({ days: 32 })
    expect(await statuses(receiver, source.sourceId, 2)).toEqual([200, 429])
    const hours = await refused(receiver, source.sourceId)
    expect(hours.map(({ month }) => month)).toEqual([1])
  })

  test('counts of rejected requests are stored later if the store fails', async () => {
    let isDown = true
    const on = {
      ...bench.db,
      putItem: (input: Parameters<typeof bench.db.putItem>[0]) =>
        isDown ? Promise.reject(new Error('Not now')) : bench.db.putItem(input),
    }
    const flushes: (() => void)[] = []
    const receiver = await bench.another({
      ...few('pro', { eventsPerMinute: 0 }),
      on,
      startTimer(ms, run) {
        if (ms === 5_000) flushes.push(run)
        return () => {}
      },
    })
    const sources = [await bench.source({ plan: 'pro' }), await bench.source({ plan: 'pro' })]
    for (const { sourceId } of sources) await receiver.send(sourceId)
    expect(flushes).toHaveLength(1)
    flushes[0]?.()
    await expect.poll(() => flushes.length).toBe(2)
    expect(receiver.lines.join('')).toContain('storing ingest counters failed')
    isDown = false
    await receiver.ingest.flush()
    for (const { sourceId } of sources) {
      expect(await bench.stores.ingestCounters.listBySource(sourceId, 0)).toMatchObject([
        { minute: 1 },
      ])
    }
  })
})

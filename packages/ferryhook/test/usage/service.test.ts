import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test, vi } from 'vitest'
import { openApi } from '../support/test-api.ts'
import { deliver, type Owner, ownerOf } from '../support/people.ts'
import { times } from '../support/test-stores.ts'

describe.each(serviceStores())('statistics over HTTP, on $name', (store) => {
  const api = openApi(store)

  /** With a key, because a session ends after an hour. */
  async function ownerWithKey() {
    const owner = await ownerOf(api)
    const connectionId: string = (await api.connection(owner.person, owner.sourceId)).body.id
    const token = await api.key(owner.person, 'read')
    const overview = async (query = '') =>
      (await owner.ask('GET', `/analytics/overview?${query}`, { token })).body
    return { owner, connectionId, token, overview }
  }

  test('include recent events immediately, and are the same after hours and days', async () => {
    const { owner, connectionId, overview } = await ownerWithKey()
    for (const outcome of ['delivered', 'delivered', 'delivered', 'failed'] as const) {
      const event = await owner.receive()
      api.clock.advance({ ms: 100 })
      await deliver(api, event, [connectionId], outcome)
    }
    await owner.receive({ status: 'signature_failed' })
    const expected = {
      events: { total: 5, byStatus: { delivered: 3, failed: 1, signature_failed: 1, held: 0 } },
      deliveries: { delivered: 3, failed: 1 },
      successRate: 0.75,
      isComplete: true,
    }
    expect(await overview()).toMatchObject({ period: '24h', ...expected })
    const { latencyMs } = await overview()
    expect(latencyMs.p50).toBeGreaterThan(94)
    expect(latencyMs.p50).toBeLessThan(106)
    api.clock.advance({ hours: 20 })
    expect(await overview()).toMatchObject({ ...expected, latencyMs })
    api.clock.advance({ hours: 5, minutes: 1 })
    expect(await overview()).toMatchObject({ events: { total: 0 }, successRate: null })
    expect(await overview('period=7d')).toMatchObject({ ...expected, latencyMs })
    api.clock.advance({ days: 8 })
    expect(await overview('period=7d')).toMatchObject({
      events: { total: 0 },
      latencyMs: { p50: null, p99: null },
    })
    expect(await overview('period=30d')).toMatchObject({ ...expected, latencyMs })
  })

  test('cover all sources, or one', async () => {
    const { owner, overview } = await ownerWithKey()
    const other = await api.source(owner.person)
    await owner.receive()
    await owner.receive()
    await owner.receive({ sourceId: other })
    expect(await overview()).toMatchObject({ events: { total: 3 } })
    expect(await overview(`sourceId=${other}`)).toMatchObject({ events: { total: 1 } })
  })

  test('include rejected requests', async () => {
    const { owner, overview } = await ownerWithKey()
    const hour = Math.floor(api.clock.now() / 3_600_000) * 3_600_000
    for (const writerId of ['wrt_AAAAAAAAAAAAAAAA', 'wrt_BBBBBBBBBBBBBBBB']) {
      await api.stores.ingestCounters.put({
        sourceId: owner.sourceId,
        userId: owner.person.id,
        hour,
        writerId,
        minute: 3,
        month: 0,
        unverified: 2,
        beyondMonth: 1,
      })
    }
    expect(await overview()).toMatchObject({
      refused: { minuteLimit: 6, monthLimit: 0, unverified: 4 },
      beyondMonth: 2,
    })
  })

  test('are rejected for an unknown period', async () => {
    const { owner } = await ownerWithKey()
    const { status, body } = await owner.ask('GET', '/analytics/overview?period=1y')
    expect([status, body.error.details[0].path]).toEqual([400, 'query.period'])
  })

  test('usage is accurate to five seconds, after metering, without a worker, and in a new month', async () => {
    const { owner, token } = await ownerWithKey()
    const usage = async () => (await owner.ask('GET', '/usage', { token })).body
    for (let n = 0; n < 3; n++) await owner.receive()
    await owner.receive({ status: 'signature_failed' })
    api.clock.advance({ seconds: 5 })
    const month = new Date(api.clock.now()).toISOString().slice(0, 7)
    const expected = {
      plan: 'team',
      periodStart: `${month}-01`,
      events: { used: 3, limit: 5_000_000, remaining: 4_999_997, isExceeded: false },
      sources: { used: 1, limit: 200 },
    }
    expect(await usage()).toMatchObject(expected)
    api.clock.advance({ minutes: 3 })
    const { sourceId } = owner
    await api.stores.metering.catchUp({ sourceId, userId: owner.person.id })
    expect(await api.stores.users.getById(owner.person.id)).toMatchObject({ usageThisMonth: 3 })
    expect(await usage()).toMatchObject(expected)
    await owner.receive()
    api.clock.advance({ hours: 2 })
    expect(await usage()).toMatchObject({ events: { used: 4 } })
    expect(await api.stores.users.getById(owner.person.id)).toMatchObject({ usageThisMonth: 4 })
    api.clock.advance({ days: 32 })
    expect(await usage()).toMatchObject({ events: { used: 0 } })
  })

  const figuresOf = async (owner: Owner) => {
    const source = (await owner.ask('GET', `/sources/${owner.sourceId}`)).body
    const [listed] = (await owner.ask('GET', '/sources')).body.items
    const user = (await owner.ask('GET', '/account')).body
    expect(listed).toEqual(source)
    return {
      eventCount: source.eventCount,
      eventCountIsLowerBound: source.eventCountIsLowerBound,
      lastEventAt: source.lastEventAt,
      usageThisMonth: user.usageThisMonth,
      usageIsLowerBound: user.usageIsLowerBound,
    }
  }

  test('sources and accounts show their events at most five seconds after the receipt', async () => {
    const owner = await ownerOf(api)
    const none = { eventCountIsLowerBound: false, usageIsLowerBound: false }
    expect(await figuresOf(owner)).toEqual({
      ...none,
      eventCount: 0,
      lastEventAt: null,
      usageThisMonth: 0,
    })
    await owner.receive()
    const { receivedAt } = await owner.receive()
    await owner.receive({ status: 'signature_failed' })
    api.clock.advance({ seconds: 5 })
    const lastEventAt = new Date(receivedAt).toISOString()
    const two = { ...none, eventCount: 2, lastEventAt, usageThisMonth: 2 }
    expect(await figuresOf(owner)).toEqual(two)
    // The stored figures are behind by two minutes, and counting them changes nothing that is shown.
    const { sourceId, person } = owner
    const stored = () => api.stores.sources.getOwned(sourceId, person.id)
    expect(await stored()).toMatchObject({ eventCount: 0 })
    api.clock.advance({ minutes: 3 })
    await api.stores.metering.catchUp({ sourceId, userId: person.id })
    expect(await stored()).toMatchObject({ eventCount: 2, lastEventAt })
    expect(await figuresOf(owner)).toEqual(two)
  })

  test('more than 1,000 events since the stored count are a lower bound', async () => {
    const owner = await ownerOf(api)
    const { sourceId, person } = owner
    await owner.receive()
    api.clock.advance({ minutes: 3 })
    await api.stores.metering.catchUp({ sourceId, userId: person.id })
    for (let n = 0; n < 1_000; n += 50) await Promise.all(times(50, () => owner.receive()))
    expect(await figuresOf(owner)).toMatchObject({
      eventCount: 1_001,
      eventCountIsLowerBound: false,
      usageThisMonth: 1_001,
      usageIsLowerBound: false,
    })
    await owner.receive()
    const { receivedAt } = await owner.receive()
    api.clock.advance({ seconds: 5 })
    expect(await figuresOf(owner)).toEqual({
      eventCount: 1_001,
      eventCountIsLowerBound: true,
      lastEventAt: new Date(receivedAt).toISOString(),
      usageThisMonth: 1_001,
      usageIsLowerBound: true,
    })
    expect((await owner.ask('GET', '/usage')).body.events).toMatchObject({
      used: 1_001,
      isLowerBound: true,
    })
  })

  test('figures are read once in five seconds, however often they are asked for', async () => {
    const owner = await ownerOf(api)
    await owner.receive()
    await figuresOf(owner)
    const queries = vi.spyOn(api.db, 'query')
    for (let n = 0; n < 10; n++) await owner.ask('GET', `/sources/${owner.sourceId}`)
    const counts = queries.mock.calls.filter(([{ Select }]) => Select === 'COUNT')
    queries.mockRestore()
    expect(counts).toEqual([])
  })
})

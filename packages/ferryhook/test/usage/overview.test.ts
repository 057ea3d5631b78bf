import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { deliver, type Owner, ownerOf } from '../support/people.ts'
import { openApi } from '../support/test-api.ts'

const HOUR_MS = 3_600_000

describe.each(serviceStores())('statistics over time, on $name', (store) => {
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

  async function receive(
    owner: Owner,
    connectionId: string,
    outcome: 'delivered' | 'failed' | 'retrying',
    latencyMs = 100,
  ) {
    const event = await owner.receive()
    api.clock.advance({ ms: latencyMs })
    await deliver(api, event, [connectionId], outcome)
    return event
  }

  const iso = (ms: number) => new Date(ms).toISOString()
  const hourOf = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS

  test('have one bucket for each hour, of which stored and recent hours look the same', async () => {
    const { owner, connectionId, overview } = await ownerWithKey()
    const first = hourOf(api.clock.now())
    await receive(owner, connectionId, 'delivered', 100)
    await receive(owner, connectionId, 'failed')
    api.clock.advance({ hours: 3 })
    await receive(owner, connectionId, 'delivered', 1_000)
    const body = await overview()
    expect(body.bucketSeconds).toBe(3_600)
    expect(body.buckets).toHaveLength(25)
    const startsAt = body.buckets.map((bucket: { startsAt: string }) => bucket.startsAt)
    expect(startsAt[0]).toBe(body.from)
    expect(startsAt.at(-1)).toBe(iso(hourOf(api.clock.now())))
    const found = body.buckets.filter(
      ({ events }: { events: { total: number } }) => events.total > 0,
    )
    expect(found).toMatchObject([
      {
        startsAt: iso(first),
        events: { total: 2, byStatus: { delivered: 1, failed: 1, held: 0 } },
        deliveries: { delivered: 1, failed: 1 },
        successRate: 0.5,
        refused: 0,
      },
      { startsAt: iso(first + 3 * HOUR_MS), events: { total: 1 }, successRate: 1 },
    ])
    expect(found[0].latencyMs.p95).toBeGreaterThan(94)
    expect(found[0].latencyMs.p95).toBeLessThan(106)
    expect(found[1].latencyMs.p50).toBeGreaterThan(940)
    expect(body.latencyMs.p95).toBe(found[1].latencyMs.p50)
    const empty = body.buckets[1]
    expect(empty).toMatchObject({
      events: { total: 0 },
      successRate: null,
      latencyMs: { p50: null, p95: null, p99: null },
    })
    api.clock.advance({ hours: 2 })
    const later = (await overview()).buckets
    expect(later.filter(({ events }: typeof empty) => events.total > 0)).toEqual(found)
  })

  test('have buckets of six hours for a week and of days for a month, with the same sums', async () => {
    const { owner, connectionId, overview } = await ownerWithKey()
    await receive(owner, connectionId, 'delivered')
    api.clock.advance({ days: 3 })
    await receive(owner, connectionId, 'delivered')
    await receive(owner, connectionId, 'retrying')
    for (const [period, seconds, length] of [
      ['7d', 6 * 3_600, 29],
      ['30d', 86_400, 31],
    ] as const) {
      const body = await overview(`period=${period}`)
      const totals = body.buckets.map(({ events }: { events: { total: number } }) => events.total)
      expect([body.bucketSeconds, totals.length]).toEqual([seconds, length])
      expect(totals.filter((count: number) => count > 0)).toEqual([1, 2])
      expect(totals.at(-1)).toBe(2)
      expect(body.events).toMatchObject({ total: 3, byStatus: { delivered: 2, retrying: 1 } })
    }
  })

  test('compare with the time before, which is as long as the whole buckets', async () => {
    const { owner, connectionId, overview } = await ownerWithKey()
    await receive(owner, connectionId, 'delivered')
    await receive(owner, connectionId, 'failed')
    expect((await overview()).previous).toMatchObject({ events: { total: 0 }, successRate: null })
    api.clock.advance({ hours: 26 })
    await receive(owner, connectionId, 'delivered')
    const body = await overview()
    expect(body).toMatchObject({
      events: { total: 1 },
      successRate: 1,
      previous: { events: { total: 2 }, successRate: 0.5, to: body.from },
    })
    expect(Date.parse(body.from) - Date.parse(body.previous.from)).toBe(24 * HOUR_MS)
    expect((await overview('period=7d')).previous).toMatchObject({ events: { total: 0 } })
    expect((await overview('period=30d')).previous).toBeNull()
  })

  test('name each source with its own figures, deleted ones only with events', async () => {
    const { owner, connectionId, overview } = await ownerWithKey()
    const [quiet, gone, goneQuiet] = [
      await api.source(owner.person, { name: 'Quiet' }),
      await api.source(owner.person, { name: 'Gone' }),
      await api.source(owner.person, { name: 'Gone and quiet' }),
    ]
    await receive(owner, connectionId, 'delivered')
    const { receivedAt } = await receive(owner, connectionId, 'failed')
    await owner.receive({ sourceId: gone })
    for (const id of [gone, goneQuiet]) await owner.ask('DELETE', `/sources/${id}`)
    const body = await overview()
    const byId = new Map(body.sources.map((source: { id: string }) => [source.id, source]))
    expect(new Set(byId.keys())).toEqual(new Set([owner.sourceId, quiet, gone]))
    expect(byId.get(owner.sourceId)).toMatchObject({
      status: 'active',
      events: { total: 2 },
      successRate: 0.5,
      lastEventAt: iso(receivedAt),
    })
    expect(byId.get(quiet)).toMatchObject({
      name: 'Quiet',
      events: { total: 0 },
      lastEventAt: null,
    })
    expect(byId.get(gone)).toMatchObject({ status: 'deleted', events: { total: 1 } })
    const { buckets } = byId.get(owner.sourceId) as { buckets: number[] }
    expect(buckets).toHaveLength(25)
    expect(buckets.at(-1)).toBe(2)
    const one = await overview(`sourceId=${quiet}`)
    expect(one.sources.map(({ id }: { id: string }) => id)).toEqual([quiet])
  })

  test('list failing and paused connections, the longest failing first', async () => {
    const { owner, connectionId, overview } = await ownerWithKey()
    const connect = async (name: string) =>
      (await api.connection(owner.person, owner.sourceId, { name })).body.id as string
    const [paused, stopped, recent] = [
      await connect('Paused'),
      await connect('Stopped'),
      await connect('Recent'),
    ]
    const { sourceId } = owner
    const fail = (id: string, attempts: number) =>
      api.stores.connectionHealth.add(
        { connectionId: id, sourceId },
        { succeeded: false, failedAttempts: attempts, firstFailureAt: api.clock.now() },
      )
    const failingSince = iso(api.clock.now())
    await fail(connectionId, 3)
    api.clock.advance({ minutes: 1 })
    await fail(recent, 1)
    await owner.ask('POST', `/connections/${paused}/pause`)
    const { rev } = (await owner.ask('GET', `/connections/${stopped}`)).body
    await api.stores.connectionHealth.pause({ connectionId: stopped, sourceId, rev }, 'gone')
    const { connections } = await overview()
    expect(connections).toMatchObject({ total: 4, failing: 2, paused: 2 })
    expect(connections.attention).toMatchObject([
      { id: connectionId, status: 'failing', failingSince, failedAttempts: 3, sourceId },
      { id: recent, status: 'failing', failedAttempts: 1, circuit: { state: 'closed' } },
      { status: 'paused' },
      { status: 'paused' },
    ])
    const reasons = new Map(
      connections.attention.map((each: { id: string; statusReason: string | null }) => [
        each.id,
        each.statusReason,
      ]),
    )
    expect([reasons.get(paused), reasons.get(stopped)]).toEqual([null, 'gone'])
    const other = await api.source(owner.person)
    expect((await overview(`sourceId=${other}`)).connections).toMatchObject({
      total: 0,
      attention: [],
    })
  })

  test('show rejected requests in the bucket of their hour', async () => {
    const { owner, overview } = await ownerWithKey()
    const hour = hourOf(api.clock.now())
    await api.stores.ingestCounters.put({
      sourceId: owner.sourceId,
      userId: owner.person.id,
      hour: hour - 2 * HOUR_MS,
      writerId: 'wrt_AAAAAAAAAAAAAAAA',
      minute: 3,
      month: 1,
      unverified: 2,
      beyondMonth: 9,
    })
    const { buckets } = await overview()
    expect(buckets.at(-3)).toMatchObject({ startsAt: iso(hour - 2 * HOUR_MS), refused: 6 })
    expect(buckets.at(-1).refused).toBe(0)
  })

  test('of the plan have the events of each day of the month so far', async () => {
    const { owner, token } = await ownerWithKey()
    const usage = async () => (await owner.ask('GET', '/usage', { token })).body
    const deleted = await api.source(owner.person)
    const admin = await api.key(owner.person, 'admin')
    const now = api.clock.now()
    const next = new Date(now)
    api.clock.advance({ ms: Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1) - now })
    const month = iso(api.clock.now()).slice(0, 7)
    expect((await usage()).days).toEqual([{ date: `${month}-01`, events: 0 }])
    await owner.receive()
    await owner.receive({ status: 'signature_failed' })
    api.clock.advance({ days: 2, hours: 1 })
    for (let n = 0; n < 3; n++) await owner.receive({ sourceId: deleted })
    await owner.ask('DELETE', `/sources/${deleted}`, { token: admin })
    const body = await usage()
    expect(body.days).toEqual([
      { date: `${month}-01`, events: 1 },
      { date: `${month}-02`, events: 0 },
      { date: `${month}-03`, events: 3 },
    ])
    expect(body).toMatchObject({ isDailyComplete: true, events: { used: 4 } })
  })
})

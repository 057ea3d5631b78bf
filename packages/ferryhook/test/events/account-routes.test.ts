import { newId } from '@strongroom/kit/ids'
import type { Item } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test, vi } from 'vitest'
import { type Event, eventById, eventKey } from '../../src/events/item.ts'
import { deliver, type Owner, ownerOf } from '../support/people.ts'
import { openApi } from '../support/test-api.ts'
import { eventInput, times } from '../support/test-stores.ts'

describe.each(serviceStores())('the events of all sources, on $name', (store) => {
  const api = openApi(store)

  /** All pages, each as a list of ids. */
  async function pages(owner: Owner, query: string, meanwhile = async () => {}) {
    const listed: string[][] = []
    let cursor = ''
    do {
      const next = cursor === '' ? '' : `&cursor=${cursor}`
      const { status, text, body } = await owner.ask('GET', `/events?${query}${next}`)
      expect(status, text).toBe(200)
      listed.push(body.items.map(({ id }: { id: string }) => id))
      cursor = body.cursor ?? ''
      await meanwhile()
    } while (cursor !== '')
    return listed
  }

  const receive = (owner: Owner, sourceId: string, given: object = {}) =>
    api.stores.events.create(eventInput({ sourceId, userId: owner.person.id, ...given }))

  async function sourcesOf(owner: Owner, count: number) {
    const more: string[] = []
    while (more.length < count - 1) more.push(await api.source(owner.person))
    return [owner.sourceId, ...more]
  }

  /** Copies of one event with few calls; the time of each is its index in milliseconds. */
  async function copies(
    owner: Owner,
    count: number,
    place: (index: number) => { sourceId: string; ms?: number } & Partial<Event>,
  ) {
    const { receivedAt, ...original } = await owner.receive()
    const made = times(count, (index): Event => {
      const { sourceId, ms = index, ...more } = place(index)
      const at = { eventId: newId('evt'), sourceId, receivedAt: receivedAt + 1 + ms }
      return { ...original, ...at, ...eventKey.of(at), ...eventById.of(at), ...more }
    })
    for (let from = 0; from < count; from += 25) {
      const some = made.slice(from, from + 25)
      await api.db.batchWriteItem({
        RequestItems: {
          'ferryhook-events': some.map((event) => ({ PutRequest: { Item: event as Item } })),
        },
      })
    }
    return { first: receivedAt, made }
  }

  const newestFirst = (events: readonly Event[]) =>
    events.toSorted((a, b) => (a.SK < b.SK ? 1 : -1)).map(({ eventId }) => eventId)

  test('are merged by time, with the name of their source', async () => {
    const owner = await ownerOf(api, { name: 'Shop' })
    const other = await api.source(owner.person, { name: 'Other' })
    const made: string[] = []
    for (const sourceId of [owner.sourceId, other, owner.sourceId, other]) {
      api.clock.advance({ ms: 1 })
      made.unshift((await receive(owner, sourceId)).eventId)
    }
    const { body } = await owner.ask('GET', '/events')
    expect(body).toMatchObject({ cursor: null, omittedSources: 0 })
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(made)
    expect(body.items[0]).toMatchObject({ sourceId: other, sourceName: 'Other', type: null })
    expect(body.items[1]).toMatchObject({ sourceName: 'Shop' })
    expect(await pages(owner, 'limit=3')).toEqual([made.slice(0, 3), made.slice(3)])
    expect(await pages(owner, `source=${other}`)).toEqual([[made[0], made[2]]])
  })

  test('of the same millisecond are neither skipped nor repeated, whatever the page size', async () => {
    const owner = await ownerOf(api)
    const sources = await sourcesOf(owner, 4)
    const { first, made } = await copies(owner, 60, (index) => ({
      sourceId: String(sources[index % 4]),
      ms: Math.floor(index / 20),
    }))
    const from = new Date(first + 1).toISOString()
    for (const limit of [1, 7, 100]) {
      const listed = await pages(owner, `from=${from}&limit=${limit}`)
      expect(listed.flat()).toEqual(newestFirst(made))
    }
  })

  test('are listed completely while events arrive with each page', async () => {
    const owner = await ownerOf(api)
    const sources = await sourcesOf(owner, 3)
    const { first, made } = await copies(owner, 100, (index) => ({
      sourceId: String(sources[index % 3]),
    }))
    api.clock.advance({ seconds: 10 })
    const from = new Date(first + 1).toISOString()
    const listed = await pages(owner, `from=${from}&limit=9`, async () => {
      for (const sourceId of sources) await receive(owner, sourceId)
    })
    expect(listed.flat()).toEqual(newestFirst(made))
  })

  test('are found by status, type, text and connection', async () => {
    const owner = await ownerOf(api)
    const [first = '', second = ''] = await sourcesOf(owner, 2)
    const connectionId: string = (await api.connection(owner.person, second)).body.id
    const since = new Date(api.clock.now()).toISOString()
    const paid = await receive(owner, first, { eventType: 'invoice.paid' })
    api.clock.advance({ ms: 1 })
    const failed = await receive(owner, second, { eventType: 'invoice.failed' })
    await deliver(api, failed, [connectionId])
    api.clock.advance({ ms: 1 })
    const text = await receive(owner, second, { body: Buffer.from('a red one') })
    const found = async (query: string) => (await pages(owner, query)).flat()
    expect(await found('type=invoice.*')).toEqual([failed.eventId, paid.eventId])
    expect(await found('type=invoice.paid')).toEqual([paid.eventId])
    expect(await found('status=delivered')).toEqual([failed.eventId])
    const at = new Date(failed.receivedAt).toISOString()
    expect(await found(`from=${at}`)).toEqual([text.eventId, failed.eventId])
    expect(await found(`from=${since}&to=${at}`)).toEqual([failed.eventId, paid.eventId])
    expect(await found(`connection=${connectionId}`)).toEqual([failed.eventId])
    expect(await found(`connection=${connectionId}&source=${first}`)).toEqual([])
    expect(await found(`from=${since}&body=RED`)).toEqual([text.eventId])
    expect(await found(`from=${since}&header=content-type&type=invoice.paid`)).toEqual([
      paid.eventId,
    ])
    await owner.ask('DELETE', `/connections/${connectionId}`)
    expect(await found(`connection=${connectionId}`)).toEqual([failed.eventId])
    await owner.ask('DELETE', `/sources/${second}`)
    expect(await found('type=invoice.*')).toEqual([failed.eventId, paid.eventId])
  })

  test('are found by several statuses and several sources, with the attempt that explains each status', async () => {
    const owner = await ownerOf(api)
    const [first = '', second = '', third = ''] = await sourcesOf(owner, 3)
    const connectionId: string = (await api.connection(owner.person, first)).body.id
    const from = new Date(api.clock.now()).toISOString()
    const made: Event[] = []
    for (const sourceId of [first, first, second, third]) {
      api.clock.advance({ ms: 1 })
      made.unshift(await receive(owner, sourceId))
    }
    const [, untouched, retrying, failed] = made.map(({ eventId }) => eventId)
    await deliver(api, { eventId: String(failed) }, [connectionId], 'failed')
    await deliver(api, { eventId: String(retrying) }, [connectionId], 'retrying')
    const found = async (query: string) => (await pages(owner, query)).flat()
    expect(await found('status=failed,retrying')).toEqual([retrying, failed])
    expect(await found(`status=received&source=${second},${first}`)).toEqual([untouched])
    const counts = await owner.ask('GET', `/events/counts?from=${from}&status=failed,received`)
    expect(counts.body.byStatus).toMatchObject({ failed: 1, received: 2, retrying: 0 })
    const { items } = (await owner.ask('GET', '/events?status=retrying,received')).body
    expect(items[0].lastAttempt).toBeNull()
    expect(items[2].lastAttempt).toEqual({
      connectionId,
      number: 1,
      maxAttempts: 8,
      statusCode: 500,
      latencyMs: 12,
      outcome: 'http_error',
      attemptedAt: expect.any(String),
    })
    const single = await owner.ask('GET', `/sources/${first}/events?status=failed,retrying`)
    expect(single.body.items.map(({ id }: { id: string }) => id)).toEqual([retrying, failed])
  })

  test('of a rare kind are found behind thousands of others, a bounded part at a time', async () => {
    const owner = await ownerOf(api)
    const sources = await sourcesOf(owner, 2)
    const isLarge = store.name === 'the embedded engine'
    const { made } = await copies(owner, isLarge ? 7_000 : 300, (index) => ({
      sourceId: String(sources[index % 2]),
      ...(index === 0 && { eventType: 'rare' }),
    }))
    const listed = await pages(owner, 'type=rare')
    expect(listed.flat()).toEqual([made[0]?.eventId])
    expect(listed).toHaveLength(isLarge ? 2 : 1)
  })

  test('are counted by status and time, for the same filter', async () => {
    const owner = await ownerOf(api)
    const [first = '', second = ''] = await sourcesOf(owner, 2)
    api.clock.advance({ ms: 60_000 - (api.clock.now() % 60_000) })
    const start = api.clock.now()
    const from = new Date(start).toISOString()
    await receive(owner, first, { eventType: 'sale' })
    await receive(owner, second, { status: 'signature_failed' })
    api.clock.advance({ ms: 60_000 })
    await receive(owner, second, { eventType: 'sale' })
    const { status, body } = await owner.ask('GET', `/events/counts?from=${from}&bucket=minute`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      from,
      to: new Date(api.clock.now()).toISOString(),
      byStatus: { received: 2, signature_failed: 1, failed: 0 },
      isComplete: true,
      completeSince: from,
      buckets: [
        { startsAt: from, byStatus: { received: 1, signature_failed: 1 } },
        {
          startsAt: new Date(start + 60_000).toISOString(),
          byStatus: { received: 1, signature_failed: 0 },
        },
      ],
    })
    const sales = await owner.ask('GET', `/events/counts?from=${from}&type=sale&bucket=day`)
    expect(sales.body).toMatchObject({ byStatus: { received: 2, signature_failed: 0 } })
    expect(sales.body.buckets).toHaveLength(1)
    const to = new Date(start + 86_399_999).toISOString()
    const day = await owner.ask('GET', `/events/counts?from=${from}&to=${to}&bucket=15m`)
    expect([96, 97]).toContain(day.body.buckets.length)
  })

  test.runIf(store.name === 'the embedded engine')(
    'beyond ten thousand are a lower bound, exact since a time',
    async () => {
      const owner = await ownerOf(api)
      const place = { sourceId: owner.sourceId, status: 'unrouted' } as const
      const { first, made } = await copies(owner, 12_000, () => place)
      api.clock.advance({ seconds: 60 })
      const from = new Date(first).toISOString()
      const { body } = await owner.ask('GET', `/events/counts?from=${from}&bucket=minute`)
      expect(body.isComplete).toBe(false)
      const since = Date.parse(body.completeSince)
      const exact = made.filter(({ receivedAt }) => receivedAt >= since).length
      expect(body.byStatus.unrouted).toBe(exact)
      expect(exact).toBeGreaterThanOrEqual(10_000)
    },
  )

  test('of more than 200 sources are read from the existing and the newest ones', async () => {
    const owner = await ownerOf(api)
    const { person, sourceId: oldest } = owner
    const make = () =>
      api.stores.sources.create({ userId: person.id, name: 'Many', provider: 'custom' })
    const gone: string[] = []
    for (let n = 0; n < 3; n++) {
      api.clock.advance({ ms: 1 })
      const { sourceId } = await make()
      await receive(owner, sourceId)
      await owner.ask('DELETE', `/sources/${sourceId}`)
      gone.push(sourceId)
    }
    api.clock.advance({ ms: 1 })
    const from = new Date(api.clock.now()).toISOString()
    await Promise.all(times(198, make))
    await receive(owner, oldest)
    const queries = vi.spyOn(api.db, 'query')
    const { body } = await owner.ask('GET', '/events')
    const read = queries.mock.calls
      .filter(([{ TableName }]) => TableName === 'ferryhook-events')
      .map(([{ ExpressionAttributeValues = {} }]) => Object.values(ExpressionAttributeValues)[0])
    queries.mockRestore()
    expect(body.omittedSources).toBe(2)
    expect(new Set(read).size).toBe(200)
    expect(body.items).toMatchObject([{ sourceId: oldest }, { sourceId: gone[2] }])
    const counted = (await owner.ask('GET', `/events/counts?from=${from}`)).body
    expect(counted).toMatchObject({ byStatus: { received: 1 }, isComplete: false })
  })

  test('are refused with an explanation if the request is invalid', async () => {
    const owner = await ownerOf(api)
    const stranger = await ownerOf(api)
    const from = '2026-01-31T12:00:00Z'
    const wrong: [string, string][] = [
      ['/events?body=red', 'request.invalid'],
      [`/events?from=${from}&to=2026-01-30T12:00:00Z`, 'request.invalid'],
      ['/events?status=lost', 'request.invalid'],
      ['/events?status=failed,', 'request.invalid'],
      [`/events?source=${owner.sourceId},${stranger.sourceId}`, 'ferryhook.source_not_found'],
      ['/events?limit=101', 'request.invalid'],
      ['/events?cursor=abc', 'request.invalid_cursor'],
      [`/events?source=${stranger.sourceId}`, 'ferryhook.source_not_found'],
      ['/events?connection=conn_AAAAAAAAAAAAAAAA', 'ferryhook.connection_not_found'],
      ['/events/counts', 'request.invalid'],
      [`/events/counts?from=${from}&to=2026-02-28T12:00:00Z&bucket=minute`, 'request.invalid'],
    ]
    for (const [path, code] of wrong) {
      expect((await owner.ask('GET', path)).body.error?.code, path).toBe(code)
    }
  })

  test('of another user are not listed, and a cursor is of one user and one filter', async () => {
    const [owner, stranger] = [await ownerOf(api), await ownerOf(api)]
    for (const _ of [1, 2]) await owner.receive()
    expect((await stranger.ask('GET', '/events')).body.items).toEqual([])
    const { cursor } = (await owner.ask('GET', '/events?limit=1')).body
    expect(cursor).toEqual(expect.any(String))
    for (const [asking, query] of [
      [stranger, 'limit=1'],
      [owner, 'limit=1&type=sale'],
    ] as const) {
      const { body } = await asking.ask('GET', `/events?${query}&cursor=${cursor}`)
      expect(body.error.code).toBe('request.invalid_cursor')
    }
  })
})

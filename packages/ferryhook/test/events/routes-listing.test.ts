import type { Item } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { type Event, eventById, eventKey } from '../../src/events/item.ts'
import { openApi } from '../support/test-api.ts'
import { eventInput, storesOn, required, times } from '../support/test-stores.ts'
import { deliver, type Owner, ownerOf } from '../support/people.ts'

describe.each(serviceStores())('listing events over HTTP, on $name', (store) => {
  const api = openApi(store)
  // DynamoDB Local is slow.
  const atOnce = store.name === 'the embedded engine' ? 100 : 10

  /** All pages, each as a list of ids. */
  async function pages(owner: Owner, query: string, meanwhile = async () => {}) {
    const listed: string[][] = []
    let cursor = ''
    do {
      const next = cursor === '' ? '' : `&cursor=${cursor}`
      const path = `/sources/${owner.sourceId}/events?${query}${next}`
      const { status, text, body } = await owner.ask('GET', path)
      expect(status, text).toBe(200)
      listed.push(body.items.map(({ id }: { id: string }) => id))
      cursor = body.cursor ?? ''
      await meanwhile()
    } while (cursor !== '')
    return listed
  }

  /** Many events with few calls: copies of one, a millisecond apart, oldest first. */
  async function copies(owner: Owner, count: number, change: (index: number) => object) {
    const { receivedAt, ...original } = await owner.receive()
    const made = times(count, (index): Event => {
      const place = {
        eventId: newId('evt'),
        sourceId: owner.sourceId,
        receivedAt: receivedAt + 1 + index,
      }
      return {
        ...original,
        ...place,
        ...eventKey.of(place),
        ...eventById.of(place),
        ...change(index),
      }
    })
    for (let from = 0; from < count; from += 25) {
      const some = made.slice(from, from + 25)
      await api.db.batchWriteItem({
        RequestItems: {
          'ferryhook-events': some.map((event) => ({ PutRequest: { Item: event as Item } })),
        },
      })
    }
    return made.map(({ eventId }) => eventId)
  }

  test('events are found by their type, also by its beginning', async () => {
    const owner = await ownerOf(api)
    const types = ['invoice.paid', 'invoice.failed', 'user.created', undefined]
    const made: string[] = []
    for (const eventType of types) {
      api.clock.advance({ ms: 1 })
      made.unshift((await owner.receive({ eventType })).eventId)
    }
    const [none, user, failed, paid] = made
    expect(await pages(owner, 'type=invoice.paid')).toEqual([[paid]])
    expect(await pages(owner, 'type=invoice.*')).toEqual([[failed, paid]])
    expect(await pages(owner, 'type=*')).toEqual([[user, failed, paid]])
    expect(await pages(owner, `id=${failed}&type=invoice.paid`)).toEqual([[]])
    expect(await pages(owner, `id=${failed}&type=invoice.*`)).toEqual([[failed]])
    const { items } = (await owner.ask('GET', `/sources/${owner.sourceId}/events`)).body
    expect(items.map(({ type }: { type: string | null }) => type)).toEqual([
      null,
      'user.created',
      'invoice.failed',
      'invoice.paid',
    ])
    expect((await owner.ask('GET', `/events/${none}`)).body.type).toBeNull()
  })

  test('no event is skipped or repeated while a hundred events arrive with each page', async () => {
    const owner = await ownerOf(api)
    const before: string[] = []
    for (let n = 0; n < 30; n++) {
      api.clock.advance({ ms: n % 3 })
      before.push((await owner.receive()).eventId)
    }
    const others = times(4, () => storesOn(api.db, api.clock))
    const { sourceId, person } = owner
    const input = eventInput({ sourceId, userId: person.id, plan: 'team' })
    const arriving: Promise<Event>[] = []
    // Not awaited: they are stored while the next pages are read.
    const arrive = async () => {
      for (let n = 0; n < atOnce; n++) {
        api.clock.advance({ ms: n % 2 })
        arriving.push(required(others[n % others.length]).events.create(input))
      }
      await arriving[arriving.length - atOnce]
    }
    const listed = await pages(owner, 'limit=3', arrive)
    const arrived = (await Promise.all(arriving)).map(({ eventId }) => eventId)
    expect(arrived.length).toBeGreaterThanOrEqual(10 * atOnce)
    expect(listed.flat().toSorted()).toEqual(before.toSorted())
    expect(listed.slice(0, 10).map((page) => page.length)).toEqual(times(10, () => 3))
    const all = (await pages(owner, 'limit=100')).flat()
    expect(all.toSorted()).toEqual([...before, ...arrived].toSorted())
  })

  test('a rare status is found among thousands of others, and no page ends the listing early', async () => {
    const owner = await ownerOf(api)
    const rare = [1, 250, 449]
    const made = await copies(owner, 450, (index) => ({
      status: rare.includes(index) ? 'failed' : 'delivered',
    }))
    const listed = await pages(owner, 'status=failed&limit=2')
    expect(listed.flat()).toEqual(rare.toReversed().map((index) => made[index]))
    expect(listed[0]).toHaveLength(2)
  })

  test('a search that reached its limit continues with its cursor, even from an empty page', async () => {
    const owner = await ownerOf(api)
    const from = new Date(api.clock.now()).toISOString()
    const made = await copies(owner, 2_100, (index) => ({
      headers: index === 5 ? '{"x-shop":"Berlin"}' : '{"x-shop":"Rome"}',
    }))
    const listed = await pages(owner, `header=x-shop:%20BERLIN&from=${from}`)
    expect(listed).toEqual([[], [made[5]]])
  })

  test('text is found in headers and in bodies of any length, within a time range', async () => {
    const owner = await ownerOf(api)
    const from = new Date(api.clock.now()).toISOString()
    const long = `${'x'.repeat(9_000)}Needle${'x'.repeat(9_000)}`
    const bodies = ['{"customer":"Ada"}', long, 'nothing', Buffer.from([0xff, 0x41, 0x64, 0x61])]
    const made: string[] = []
    for (const body of bodies) {
      api.clock.advance({ seconds: 1 })
      made.push((await owner.receive({ body: Buffer.from(body) })).eventId)
    }
    const found = async (query: string) => (await pages(owner, `from=${from}&${query}`)).flat()
    expect(await found('body=needle')).toEqual([made[1]])
    expect(await found('body=ADA')).toEqual([made[3], made[0]])
    expect(await found('body=ada&header=application/json')).toEqual([made[3], made[0]])
    expect(await found('body=ada&header=text/plain')).toEqual([])
    const until = new Date(api.clock.now() - 1_000).toISOString()
    expect(await found(`body=ada&to=${until}`)).toEqual([made[0]])
  })

  test('an event is found by its id if it belongs to the source and matches the query', async () => {
    const owner = await ownerOf(api)
    const { eventId } = await owner.receive()
    const other = await ownerOf(api)
    const { eventId: foreign } = await other.receive()
    expect(await pages(owner, `id=${eventId}`)).toEqual([[eventId]])
    expect(await pages(owner, `id=${eventId}&status=received`)).toEqual([[eventId]])
    expect(await pages(owner, `id=${eventId}&status=failed`)).toEqual([[]])
    expect(await pages(owner, `id=${foreign}`)).toEqual([[]])
    expect(await pages(owner, 'id=nonsense')).toEqual([[]])
  })

  test('a cursor is valid for its own listing only, and an invalid query is explained', async () => {
    const owner = await ownerOf(api)
    await owner.receive()
    await owner.receive()
    const path = `/sources/${owner.sourceId}/events`
    const { cursor } = (await owner.ask('GET', `${path}?limit=1`)).body
    expect((await owner.ask('GET', `${path}?limit=1&cursor=${cursor}`)).status).toBe(200)
    for (const query of [`cursor=${cursor}&status=failed`, 'cursor=nonsense']) {
      const { status, body } = await owner.ask('GET', `${path}?${query}`)
      expect([status, body.error.code]).toEqual([400, 'request.invalid_cursor'])
    }
    const wrong: Record<string, string> = {
      'body=x': 'query.from',
      'from=yesterday': 'query.from',
      'from=2100-01-02T00:00:00Z&to=2100-01-01T00:00:00Z': 'query.to',
      'status=lost': 'query.status[0]',
      'limit=0': 'query.limit',
    }
    for (const [query, field] of Object.entries(wrong)) {
      const { status, body } = await owner.ask('GET', `${path}?${query}`)
      expect([status, body.error.details[0].path], query).toEqual([400, field])
    }
  })

  test('the events of a deleted source can still be read', async () => {
    const owner = await ownerOf(api)
    const { eventId } = await owner.receive()
    const { body } = await api.connection(owner.person, owner.sourceId)
    await deliver(api, { eventId }, [body.id])
    await owner.ask('DELETE', `/sources/${owner.sourceId}`)
    expect(await pages(owner, '')).toEqual([[eventId]])
    expect((await owner.ask('GET', `/events/${eventId}`)).status).toBe(200)
  })
})

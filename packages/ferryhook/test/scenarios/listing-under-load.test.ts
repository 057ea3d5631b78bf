import type { Item } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { type Event, eventById, eventKey } from '../../src/events/item.ts'
import { openApi } from '../support/test-api.ts'
import { eventInput, storesOn, required, times } from '../support/test-stores.ts'
import { type Owner, ownerOf } from '../support/people.ts'

/**
 * One event in each millisecond of the clock: a thousand a second, all the time. How many seconds came
 * before, and how much of the clock passes while a page of each listing is read.
 */
const LITTLE = { secondsBefore: 1, stepMs: 100 }
const MUCH = { secondsBefore: 5, stepMs: 250 }

/** Each filter matches a different half of the events. */
const kinds = times(8, (n) => ({
  status: n & 1 ? ('signature_failed' as const) : ('received' as const),
  headers: JSON.stringify({ 'x-shop': n & 2 ? 'Berlin' : 'Rome' }),
  body: n & 4 ? '{"kind":"paid"}' : '{"kind":"open"}',
}))
const filters = [
  { query: 'status=signature_failed', bit: 1 },
  { query: 'header=x-shop:%20berlin', bit: 2 },
  { query: 'body=paid', bit: 4 },
  { query: 'status=received,processing&header=rome', bit: 0, both: 3 },
]
const isWanted = ({ bit, both }: (typeof filters)[number], kind: number) =>
  both === undefined ? (kind & bit) > 0 : (kind & both) === 0

const [embedded, ...others] = serviceStores()
const stores = [
  { store: required(embedded), ...(process.env.SLOW ? MUCH : LITTLE) },
  // DynamoDB Local is a hundred times slower.
  ...others.map((store) => ({ store, ...LITTLE })),
]

describe.each(stores)('with 1,000 events per second of the clock, on $store.name', (each) => {
  const { store, secondsBefore, stepMs } = each
  const api = openApi(store)

  /** The events of the seconds before, written with few calls. */
  async function past(owner: Owner): Promise<{ eventId: string; kind: number }[]> {
    const original = await owner.receive()
    const { sourceId, receivedAt } = original
    await api.db.deleteItem({
      TableName: 'ferryhook-events',
      Key: { PK: original.PK, SK: original.SK },
    })
    const made = times(secondsBefore * 1_000, (n) => {
      const place = { eventId: newId('evt'), sourceId, receivedAt: receivedAt + n }
      const keys = { ...eventKey.of(place), ...eventById.of(place) }
      return { ...original, ...place, ...keys, ...kinds[n % 8] }
    })
    for (let from = 0; from < made.length; from += 25) {
      const some = made
        .slice(from, from + 25)
        .map((event) => ({ PutRequest: { Item: event as Item } }))
      await api.db.batchWriteItem({ RequestItems: { 'ferryhook-events': some } })
    }
    api.clock.advance({ ms: made.length })
    return made.map(({ eventId }, n) => ({ eventId, kind: n % 8 }))
  }

  test('filtered listings skip no event and return none twice', async () => {
    const owner = await ownerOf(api)
    const { sourceId, person } = owner
    const from = new Date(api.clock.now()).toISOString()
    const before = await past(owner)
    const writers = times(4, () => storesOn(api.db, api.clock))
    const arrived: { eventId: string; kind: number }[] = []
    const beganAt = api.clock.now()

    async function arrive(): Promise<void> {
      const storing: Promise<Event>[] = []
      for (let n = 0; n < stepMs; n++) {
        api.clock.advance({ ms: 1 })
        const { body, ...kind } = required(kinds[n % 8])
        const given = { sourceId, userId: person.id, ...kind, body: Buffer.from(body) }
        storing.push(required(writers[n % 4]).events.create(eventInput(given)))
      }
      for (const [n, { eventId }] of (await Promise.all(storing)).entries()) {
        arrived.push({ eventId, kind: n % 8 })
      }
    }

    const listings = filters.map((filter) => ({
      filter,
      ids: [] as string[],
      cursor: undefined as string | null | undefined,
    }))
    async function readPage(listing: (typeof listings)[number], limit: number): Promise<void> {
      if (listing.cursor === null) return
      const next = listing.cursor === undefined ? '' : `&cursor=${listing.cursor}`
      const query = `${listing.filter.query}&from=${from}&limit=${limit}${next}`
      const { status, body, text } = await owner.ask('GET', `/sources/${sourceId}/events?${query}`)
      expect(status, text).toBe(200)
      listing.ids.push(...body.items.map(({ id }: { id: string }) => id))
      listing.cursor = body.cursor
    }
    const wantedOf = (events: typeof before, filter: (typeof filters)[number]) =>
      events.filter(({ kind }) => isWanted(filter, kind)).map(({ eventId }) => eventId)

    // The first pages are read before events arrive, the others concurrently.
    await Promise.all(listings.map((listing) => readPage(listing, 50)))
    while (listings.some(({ cursor }) => cursor !== null)) {
      await Promise.all([arrive(), ...listings.map((listing) => readPage(listing, 50))])
    }
    expect(arrived).toHaveLength(api.clock.now() - beganAt)
    expect(arrived.length).toBeGreaterThanOrEqual(5 * stepMs)
    for (const { ids, filter } of listings) {
      expect(ids, filter.query).toEqual(wantedOf(before, filter).toReversed())
    }

    // Every event that arrived is listed once.
    for (const listing of listings) Object.assign(listing, { ids: [], cursor: undefined })
    while (listings.some(({ cursor }) => cursor !== null)) {
      await Promise.all(listings.map((listing) => readPage(listing, 100)))
    }
    for (const { ids, filter } of listings) {
      const all = wantedOf([...before, ...arrived], filter)
      expect(ids.toSorted(), filter.query).toEqual(all.toSorted())
    }
  }, 120_000)
})

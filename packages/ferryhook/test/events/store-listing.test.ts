import type { Item } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListOpts } from '../../src/events/store.ts'
import { type Event, eventById, eventKey } from '../../src/events/item.ts'
import {
  eventInput,
  openWorkbench,
  storesOn,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(serviceStores())('listing events on $name', (store) => {
  let bench: Workbench
  let events: Workbench['stores']['events']

  beforeAll(async () => {
    bench = await openWorkbench({ store })
    events = bench.stores.events
  })
  afterAll(() => bench.close())

  async function fill(count: number, given: Parameters<typeof eventInput>[0] = {}) {
    const { sourceId, userId } = eventInput(given)
    const made: string[] = []
    for (let n = 0; n < count; n++) {
      if (n % 3 > 0) bench.clock.advance({ ms: 1 })
      made.push((await events.create(eventInput({ ...given, sourceId, userId }))).eventId)
    }
    return { sourceId, made }
  }

  /** Many events with few calls: copies of one, a millisecond apart, oldest first. */
  async function copies(count: number, change: (index: number) => object = () => ({})) {
    const { sourceId, receivedAt, ...original } = await events.create(eventInput())
    const made = times(count, (index): Event => {
      const address = { eventId: newId('evt'), sourceId, receivedAt: receivedAt + 1 + index }
      return {
        ...original,
        ...address,
        ...eventKey.of(address),
        ...eventById.of(address),
        ...change(index),
      }
    })
    for (let from = 0; from < count; from += 25) {
      const some = made
        .slice(from, from + 25)
        .map((event) => ({ PutRequest: { Item: event as Item } }))
      await bench.db.batchWriteItem({ RequestItems: { 'ferryhook-events': some } })
    }
    return { sourceId, made: made.map(({ eventId }) => eventId) }
  }

  async function pages(sourceId: string, opts: ListOpts, meanwhile = async () => {}) {
    const listed: string[][] = []
    let cursor: string | null | undefined
    do {
      const page = await events.listBySource(sourceId, { ...opts, cursor: cursor ?? undefined })
      listed.push(page.items.map(({ eventId }) => eventId))
      cursor = page.cursor
      await meanwhile()
    } while (cursor)
    return listed
  }

  test('returns the newest first, with none skipped or repeated while new events arrive', async () => {
    const { sourceId, made } = await fill(11)
    const listed = await pages(sourceId, { limit: 3 }, async () => {
      bench.clock.advance({ ms: 5 })
      await events.create(eventInput({ sourceId }))
    })
    expect(listed.flat().toSorted()).toEqual(made.toSorted())
    expect(listed.slice(0, 3).map((page) => page.length)).toEqual([3, 3, 3])
    const received = (await events.listBySource(sourceId)).items.map(({ receivedAt }) => receivedAt)
    expect(received).toEqual(received.toSorted((a, b) => b - a))
  })

  test('is not ended early by a filter', async () => {
    const indexes = [2, 110, 228]
    const { sourceId, made } = await copies(230, (index) => ({
      status: indexes.includes(index) ? 'unrouted' : 'received',
    }))
    const rare = indexes.map((index) => made[index])
    const listed = await pages(sourceId, { limit: 2, status: ['unrouted'] })
    expect(listed.flat()).toEqual(rare.toReversed())
    expect(listed[0]).toHaveLength(2)
  })

  test('fills its pages although there are expired events in between', async () => {
    const { sourceId, userId } = eventInput()
    const kept: string[] = []
    for (const plan of ['pro', 'free', 'free', 'pro', 'free', 'pro'] as const) {
      bench.clock.advance({ ms: 1 })
      const { eventId } = await events.create(eventInput({ sourceId, userId, plan }))
      if (plan === 'pro') kept.unshift(eventId)
    }
    bench.clock.advance({ days: 2 })
    const listed = await pages(sourceId, { limit: 2 })
    expect(listed.flat()).toEqual(kept)
    expect(listed[0]).toHaveLength(2)
  })

  test('can be limited to a time range, both ends included', async () => {
    const { sourceId, userId } = eventInput()
    const made: Event[] = []
    for (let n = 0; n < 5; n++) {
      bench.clock.advance({ ms: 10 })
      made.push(await events.create(eventInput({ sourceId, userId })))
    }
    const [from, to] = [made[1]?.receivedAt, made[3]?.receivedAt]
    const listed = async (opts: ListOpts) => (await pages(sourceId, { limit: 2, ...opts })).flat()
    const of = (...indexes: number[]) => indexes.map((index) => made[index]?.eventId)
    expect(await listed({ from, to })).toEqual(of(3, 2, 1))
    expect(await listed({ from })).toEqual(of(4, 3, 2, 1))
    expect(await listed({ to })).toEqual(of(3, 2, 1, 0))
    // Times with another number of digits than the keys, and in the wrong order.
    expect(await listed({ from: 5 })).toEqual(of(4, 3, 2, 1, 0))
    expect(await listed({ from: 0, to: 5 })).toEqual([])
    expect(await listed({ to: 5e15 })).toEqual(of(4, 3, 2, 1, 0))
    expect(await listed({ from: to, to: from })).toEqual([])
  })

  test('returns opaque cursors that are valid for the same listing only', async () => {
    const { sourceId } = await fill(3)
    const { cursor } = await events.listBySource(sourceId, { limit: 1 })
    expect(cursor).not.toBeNull()
    expect(Buffer.from(String(cursor), 'base64url').toString('latin1')).not.toContain(sourceId)
    const tampered = `${cursor?.slice(0, -2)}AA`
    const wrong: [string, ListOpts][] = [
      [sourceId, { cursor: tampered }],
      [newId('src'), { cursor: String(cursor) }],
      [sourceId, { cursor: String(cursor), status: ['failed'] }],
      [sourceId, { cursor: 'nonsense' }],
    ]
    for (const [source, opts] of wrong) {
      await expect(events.listBySource(source, opts)).rejects.toMatchObject({
        code: 'request.invalid_cursor',
      })
    }
  })

  test('returns 50 events by default and at most 100', async () => {
    const { sourceId } = await copies(101)
    expect((await events.listBySource(sourceId)).items).toHaveLength(50)
    expect((await events.listBySource(sourceId, { limit: 500 })).items).toHaveLength(100)
  })
  /** The same stores, with the numbers of the keys that each call looks up. */
  function lookingUp() {
    const lookups: number[] = []
    const db: typeof bench.db = {
      ...bench.db,
      getItem(input) {
        if (input.Key['PK'] !== 'CONFIG') lookups.push(1)
        return bench.db.getItem(input)
      },
      batchGetItem(input) {
        lookups.push(input.RequestItems['ferryhook-events']?.Keys.length ?? 0)
        return bench.db.batchGetItem(input)
      },
    }
    return { lookups, stores: storesOn(db, bench.clock) }
  }

  test('looks up in batches which new events are claimed, and only if the filter selects new events', async () => {
    const { sourceId } = await copies(99)
    const { lookups, stores } = lookingUp()
    const all = { limit: 100, maxExamined: 1_000, maxLookups: 1_000 }
    const list = async (status?: Event['status'][]) => {
      lookups.length = 0
      const listed = await stores.events.listBySource(sourceId, { ...all, status })
      const merged = await stores.mergeEvents({ sourceIds: [sourceId], status }, all)
      expect(merged.items.map(({ eventId }) => eventId)).toEqual(
        listed.items.map(({ eventId }) => eventId),
      )
      return { found: listed.items.length, lookups: [...lookups] }
    }
    // All but one have no task in the queue, as if a worker had claimed it.
    expect(await list()).toEqual({ found: 100, lookups: [100, 100] })
    expect(await list(['processing'])).toEqual({ found: 99, lookups: [100, 100] })
    expect(await list(['received'])).toEqual({ found: 1, lookups: [100, 100] })
    expect(await list(['failed', 'delivered'])).toEqual({ found: 0, lookups: [] })
  })

  test('ends a page after 1,000 lookups of claims, and its cursor continues', async () => {
    const { sourceId } = await copies(1_100)
    const { lookups, stores } = lookingUp()
    const sum = () => lookups.reduce((total, keys) => total + keys, 0)
    const opts = { status: ['received'], limit: 100 } satisfies ListOpts
    const first = await stores.events.listBySource(sourceId, opts)
    expect(first).toEqual({ items: [], cursor: expect.any(String) })
    expect(sum()).toBe(1_000)
    const rest = await stores.events.listBySource(sourceId, { ...opts, cursor: first.cursor ?? '' })
    expect(rest).toMatchObject({ items: [{ status: 'received' }], cursor: null })
    lookups.length = 0
    const limits = { limit: 100, maxExamined: 5_000, maxLookups: 1_000 }
    const query = { sourceIds: [sourceId], status: opts.status }
    const { items, position } = await stores.mergeEvents(query, limits)
    expect(items).toEqual([])
    expect(sum()).toBeLessThan(1_101)
    const merged = await stores.mergeEvents(query, { ...limits, after: position })
    expect(merged).toMatchObject({ items: [{ status: 'received' }], position: undefined })
  })
})

import type { Item } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListOpts } from '../../src/events/store.ts'
import { type Event, eventById, eventKey } from '../../src/events/item.ts'
import { eventInput, openWorkbench, times, type Workbench } from '../support/test-stores.ts'

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
})

import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { queryPage } from '@strongroom/kit/paging'
import type { TaskQueue } from '../queue/store.ts'
import { indexKey } from '../storage/conditions.ts'
import {
  type EventBody,
  EventBodyItem,
  eventBodyKey,
  type Event,
  eventById,
  EventItem,
  eventKey,
} from './item.ts'
import { eventsTable } from '../tables.ts'
import type { StoreDeps, PaginatedResult } from '../stores.ts'
import { unpackBody } from './body.ts'
import { createCurrentStatus } from './current-status.ts'
import { type EventFilter, eventFilter, eventRange, sortable } from './event-filter.ts'
import { createEventInsert } from './event-insert.ts'
import { createEventUpdate } from './event-update.ts'
import { readPage, type PageOpts, type Search } from '../storage/paging.ts'
import { isUnexpired, unlessExpired } from '../storage/time.ts'

export interface ListOpts extends PageOpts, EventFilter {
  /** Receipt times in milliseconds, inclusive. */
  from?: number | undefined
  to?: number | undefined
  search?: Search<Event> | undefined
}

/** A position between events: before all events of a time, or after one event. */
export type EventPosition = Pick<Event, 'receivedAt'> & { eventId?: string | undefined }

interface Key {
  PK: string
  SK: string
}

/** Limits the reads for one page of a filter that few events match: about 20,000 events. */
const MAX_READS = 100

export function createEventStore({
  db,
  clock,
  cursors,
  queue,
}: StoreDeps & { queue: Pick<TaskQueue, 'routePart' | 'listClaimed'> }) {
  const events = entity(db, eventsTable, EventItem)
  const bodies = entity(db, eventsTable, EventBodyItem)
  const currentStatus = createCurrentStatus(queue)

  /** The key of an event in the index, which may not contain a new event yet. */
  async function findIndexed(eventId: string): Promise<Key | undefined> {
    const { items } = await queryPage(
      db,
      eventsTable,
      { index: 'GSI1', key: indexKey(eventById.of({ eventId })), limit: 1 },
      ({ PK, SK }) => ({ PK, SK }) as Key,
    )
    return items[0]
  }

  /** The key of an event in its body, which is read consistently. */
  async function findByBody(eventId: string): Promise<Key | undefined> {
    const { sourceId, receivedAt } = (await bodies.get(eventBodyKey.of({ eventId }))) ?? {}
    if (sourceId === undefined || receivedAt === undefined) return undefined
    return eventKey.of({ sourceId, receivedAt, eventId })
  }

  async function bodyOf(
    event: Pick<Event, 'eventId' | 'body'>,
    accepted: (stored: EventBody | undefined) => EventBody | undefined,
  ): Promise<Uint8Array | null> {
    if (event.body !== undefined) return new TextEncoder().encode(event.body)
    const stored = accepted(await bodies.get(eventBodyKey.of(event)))
    return stored ? unpackBody(stored) : null
  }

  return {
    create: createEventInsert({ db, clock, queue }),
    ...createEventUpdate({ db, clock }),

    /** The index only locates the event; the item itself is read, so it is the current one. */
    async getById(eventId: string): Promise<Event | null> {
      const key = (await findIndexed(eventId)) ?? (await findByBody(eventId))
      const event = unlessExpired(clock, key && (await events.get(key)))
      const [current] = event ? await currentStatus.withStatus([event]) : []
      return current ?? null
    },

    /** The bytes as received; null if the event was deleted or has expired. */
    getBody: (event: Pick<Event, 'eventId' | 'body'>): Promise<Uint8Array | null> =>
      bodyOf(event, (stored) => unlessExpired(clock, stored)),

    /** The body of a task's event, even if it has expired. */
    getBodyForTask: (event: Pick<Event, 'eventId' | 'body'>): Promise<Uint8Array | null> =>
      bodyOf(event, (stored) => stored),

    /**
     * Newest first. A page may be short or empty if few events match; there are more as long as it
     * has a cursor.
     */
    async listBySource(sourceId: string, opts: ListOpts = {}): Promise<PaginatedResult<Event>> {
      const { status, type, from, to, search } = opts
      if (from !== undefined && to !== undefined && from > to) return { items: [], cursor: null }
      const listed = JSON.stringify([status, type, from, to, search?.id])
      const filter = eventFilter({ status, type })
      const scope = ['ferryhook.events', sourceId, listed] as const
      const selection = currentStatus.selection(status)
      const limits = { maxReads: MAX_READS, isSpent: selection.isSpent }
      const page = await readPage(
        { clock, cursors },
        scope,
        { ...opts, ...limits },
        async (part) => {
          const { items, next } = await events.query({
            key: rangeOf(sourceId, from, to),
            ...(filter && { filter }),
            newestFirst: true,
            maxReads: 1,
            ...part,
          })
          return { items: status ? await selection.select(items) : items, next }
        },
      )
      return status ? page : { ...page, items: await currentStatus.withStatus(page.items) }
    },

    /** Oldest first, from a position to a time, inclusive. `next` is set if there may be more. */
    async listForward(
      sourceId: string,
      { receivedAt, eventId }: EventPosition,
      { to, limit }: { to?: number; limit: number },
    ): Promise<{ items: Event[]; next: EventPosition | undefined }> {
      const { PK } = eventKey.of({ sourceId, receivedAt: '', eventId: '' })
      // The next possible key: ids have no character below the space.
      const first = `EVT#${sortable(receivedAt)}${eventId === undefined ? '' : `#${eventId} `}`
      const last = to === undefined ? 'EVT#~' : `EVT#${sortable(to)}#~`
      if (first > last) return { items: [], next: undefined }
      const sort = events.attr('SK')
      const page = await events.query({
        key: expr`${events.attr('PK')} = ${PK} AND ${sort} BETWEEN ${first} AND ${last}`,
        limit,
      })
      const items = page.items.filter((event) => isUnexpired(clock, event))
      return { items: await currentStatus.withStatus(items), next: page.next && page.items.at(-1) }
    },
  }

  function rangeOf(sourceId: string, from?: number, to?: number) {
    const { PK } = eventKey.of({ sourceId, receivedAt: '', eventId: '' })
    const sort = events.attr('SK')
    const partition = expr`${events.attr('PK')} = ${PK}`
    if (from === undefined && to === undefined) {
      return expr`${partition} AND begins_with(${sort}, ${'EVT#'})`
    }
    const { first, last } = eventRange({ from, to })
    return expr`${partition} AND ${sort} BETWEEN ${first} AND ${last}`
  }
}

export type EventStore = ReturnType<typeof createEventStore>

import { entity } from '@strongroom/kit/entity'
import { transact } from '@strongroom/kit/transact'
import { expr } from '@strongroom/kit/expression'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { queryPage } from '@strongroom/kit/paging'
import { derivedStatus } from '../deliveries/state.ts'
import {
  type EventBody,
  EventBodyItem,
  eventBodyKey,
  type Event,
  type EventLocator,
  eventById,
  EventItem,
  eventKey,
  EventRefItem,
  eventRefKey,
  type EventStatus,
} from './item.ts'
import { eventsTable } from '../tables.ts'
import type { StoreDeps, PaginatedResult } from '../stores.ts'
import { unpackBody } from './body.ts'
import type { EventInsert } from './event-insert.ts'
import type { EventUpdate } from './event-update.ts'
import { readPage, type PageOpts, type Search } from '../storage/paging.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import { isUnexpired, unlessExpired } from '../storage/time.ts'

export interface ListOpts extends PageOpts {
  status?: EventStatus | undefined
  /** Receipt times in milliseconds, inclusive. */
  from?: number | undefined
  to?: number | undefined
  search?: Search<Event> | undefined
}

/** A position between events: before all events of a time, or after one event. */
export type EventPosition = Pick<Event, 'receivedAt'> & { eventId?: string | undefined }

/** Limits the reads for one page of a filter that few events match: about 20,000 events. */
const MAX_READS = 100

export function createEventStore({
  db,
  clock,
  cursors,
  eventInsert,
  eventUpdate,
}: StoreDeps & { eventInsert: EventInsert; eventUpdate: EventUpdate }) {
  const events = entity(db, eventsTable, EventItem)
  const refs = entity(db, eventsTable, EventRefItem)
  const bodies = entity(db, eventsTable, EventBodyItem)

  /** By id, with consistent reads. */
  async function getConsistent(eventId: string): Promise<Event | null> {
    const ref = unlessExpired(clock, await refs.get(eventRefKey.of({ eventId })))
    return (ref && (await eventUpdate.get(ref))) ?? null
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
    create: eventInsert.create,
    createUnchecked: eventInsert.createUnchecked,

    /**
     * Through the index, which may not contain a new event yet. A caller that may have just written
     * the event uses `getConsistent`.
     */
    async getById(eventId: string): Promise<Event | null> {
      const { GSI1PK, GSI1SK } = eventById.of({ eventId })
      const key = expr`${events.attr('GSI1PK')} = ${GSI1PK} AND ${events.attr('GSI1SK')} = ${GSI1SK}`
      const { items } = await queryPage(
        db,
        eventsTable,
        { index: 'GSI1', key, limit: 1 },
        ({ PK, SK }) => ({ PK, SK }) as { PK: string; SK: string },
      )
      const found = items[0] && (await events.get(items[0]))
      return unlessExpired(clock, found) ?? null
    },

    getConsistent,

    /** The event of a task, even if it has expired; null if it was deleted. */
    getForTask: async (locator: EventLocator): Promise<Event | null> =>
      (await eventUpdate.getForTask(locator)) ?? null,

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
      const { status, from, to, search } = opts
      if (from !== undefined && to !== undefined && from > to) return { items: [], cursor: null }
      const listed = JSON.stringify([status, from, to, search?.id])
      const scope = ['ferryhook.events', sourceId, listed] as const
      return readPage({ clock, cursors }, scope, { ...opts, maxReads: MAX_READS }, (part) =>
        events.query({
          key: rangeOf(sourceId, from, to),
          ...(status && { filter: expr`${events.attr('status')} = ${status}` }),
          newestFirst: true,
          maxReads: 1,
          ...part,
        }),
      )
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
      return { items, next: page.next && page.items.at(-1) }
    },

    /**
     * Sets a status that does not follow from deliveries, such as `unrouted`. Rejected with
     * `status_derived` if deliveries decide another status.
     */
    async updateStatus(eventId: string, status: EventStatus): Promise<void> {
      await retryOnConflict(async () => {
        const event = await getConsistent(eventId)
        if (!event) throw new WriteRejected('not_found')
        const derived = derivedStatus(event.counts)
        if (derived !== undefined && derived !== status) throw new WriteRejected('status_derived')
        await transact(db, eventUpdate.prepare(event, { status }).parts)
      })
    },
  }

  function rangeOf(sourceId: string, from?: number, to?: number) {
    const { PK } = eventKey.of({ sourceId, receivedAt: '', eventId: '' })
    const sort = events.attr('SK')
    const partition = expr`${events.attr('PK')} = ${PK}`
    if (from === undefined && to === undefined) {
      return expr`${partition} AND begins_with(${sort}, ${'EVT#'})`
    }
    // Ids have no character above the tilde.
    const first = `EVT#${from === undefined ? '' : sortable(from)}`
    const last = to === undefined ? 'EVT#~' : `EVT#${sortable(to)}#~`
    return expr`${partition} AND ${sort} BETWEEN ${first} AND ${last}`
  }
}

/** Thirteen digits, like the keys, for any time. */
function sortable(ms: number): string {
  const within = Math.min(Math.max(Math.trunc(ms), 0), 9_999_999_999_999)
  return String(within).padStart(13, '0')
}

export type EventStore = ReturnType<typeof createEventStore>

import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { queryPage } from '@strongroom/kit/query-page'
import { derivedStatus } from '../items/delivery-state.ts'
import {
  type EventBody,
  EventBodyItem,
  eventBodyKey,
  type Event,
  type EventAddress,
  eventById,
  EventItem,
  eventKey,
  EventRefItem,
  eventRefKey,
  type EventStatus,
} from '../items/event.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps, PaginatedResult } from './deps.ts'
import { unpackBody } from './event-body.ts'
import type { EventIntake } from './event-intake.ts'
import type { EventWriter } from './event-writer.ts'
import { livePage, type PageOpts, type Search } from './live-page.ts'
import { Refused } from './refused.ts'
import { isLive, live } from './times.ts'
import { optimistically } from './transaction.ts'

export interface ListOpts extends PageOpts {
  status?: EventStatus | undefined
  /** Receipt times in milliseconds, both included. */
  from?: number | undefined
  to?: number | undefined
  search?: Search<Event> | undefined
}

/** A place between events: before all of a time, or after one of them. */
export type EventPosition = Pick<Event, 'receivedAt'> & { eventId?: string | undefined }

/** Of a filter that nearly nothing passes, so many reads are one page: some 20,000 events. */
const MOST_READS = 100

export function createEvents({
  db,
  clock,
  cursors,
  intake,
  writer,
}: DataLayerDeps & { intake: EventIntake; writer: EventWriter }) {
  const events = entity(db, eventsTable, EventItem)
  const refs = entity(db, eventsTable, EventRefItem)
  const bodies = entity(db, eventsTable, EventBodyItem)

  /** By id, and never behind: for whoever may have written it. */
  async function getCurrent(eventId: string): Promise<Event | null> {
    const ref = live(clock, await refs.get(eventRefKey.of({ eventId })))
    return (ref && (await writer.read(ref))) ?? null
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
    create: intake.create,
    receive: intake.receive,

    /**
     * For those who know nothing but the id. The index says where the event is, and may be a moment
     * behind: whoever may have written the event asks `getCurrent`.
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
      return live(clock, found) ?? null
    },

    getCurrent,

    /** For whoever has a task about it, as it was last written; null if it is gone. */
    getNeeded: async (address: EventAddress): Promise<Event | null> =>
      (await writer.needed(address)) ?? null,

    /** The bytes as they came; null if the event is gone. */
    getBody: (event: Pick<Event, 'eventId' | 'body'>): Promise<Uint8Array | null> =>
      bodyOf(event, (stored) => live(clock, stored)),

    /** The same for whoever has a task about it. */
    getNeededBody: (event: Pick<Event, 'eventId' | 'body'>): Promise<Uint8Array | null> =>
      bodyOf(event, (stored) => stored),

    /**
     * Newest first. A page may be short, even empty, if few events have the status or match the
     * search; there are more as long as it has a cursor.
     */
    async listBySource(sourceId: string, opts: ListOpts = {}): Promise<PaginatedResult<Event>> {
      const { status, from, to, search } = opts
      if (from !== undefined && to !== undefined && from > to) return { items: [], cursor: null }
      const listed = JSON.stringify([status, from, to, search?.id])
      const scope = ['ferryhook.events', sourceId, listed] as const
      return livePage({ clock, cursors }, scope, { ...opts, mostReads: MOST_READS }, (part) =>
        events.query({
          key: rangeOf(sourceId, from, to),
          ...(status && { filter: expr`${events.attr('status')} = ${status}` }),
          newestFirst: true,
          mostReads: 1,
          ...part,
        }),
      )
    },

    /** Oldest first, from a position up to a time, which is included; `next` is where there may be more. */
    async listFrom(
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
      const items = page.items.filter((event) => isLive(clock, event))
      return { items, next: page.next && page.items.at(-1) }
    },

    /**
     * Sets a status that no delivery decides, such as `unrouted`. Refused with `status_derived` once
     * there are deliveries, unless it is theirs anyway.
     */
    async updateStatus(eventId: string, status: EventStatus): Promise<void> {
      await optimistically(async () => {
        const event = await getCurrent(eventId)
        if (!event) throw new Refused('not_found')
        const derived = derivedStatus(event.counts)
        if (derived !== undefined && derived !== status) throw new Refused('status_derived')
        await transact(db, writer.change(event, { status }).parts)
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

/** Thirteen digits, as the keys have them, whatever time was asked for. */
function sortable(ms: number): string {
  const within = Math.min(Math.max(Math.trunc(ms), 0), 9_999_999_999_999)
  return String(within).padStart(13, '0')
}

export type Events = ReturnType<typeof createEvents>

import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { queryPage } from '@strongroom/kit/query-page'
import { derivedStatus } from '../items/delivery-state.ts'
import {
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
import { livePage, type PageOpts } from './live-page.ts'
import { Refused } from './refused.ts'
import { live } from './times.ts'
import { optimistically } from './transaction.ts'

export interface ListOpts extends PageOpts {
  status?: EventStatus | undefined
  /** Receipt times in milliseconds, both included. */
  from?: number | undefined
  to?: number | undefined
}

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

  return {
    create: intake.create,

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

    /** As it was last written, for those who know where it is; null if it is gone. */
    get: async (address: EventAddress): Promise<Event | null> =>
      (await writer.read(address)) ?? null,

    /** The bytes as they came; null if the event is gone. */
    async getBody(event: Pick<Event, 'eventId' | 'body'>): Promise<Uint8Array | null> {
      if (event.body !== undefined) return new TextEncoder().encode(event.body)
      const stored = live(clock, await bodies.get(eventBodyKey.of(event)))
      return stored ? unpackBody(stored) : null
    },

    /** Newest first. */
    async listBySource(sourceId: string, opts: ListOpts = {}): Promise<PaginatedResult<Event>> {
      const { status, from, to } = opts
      if (from !== undefined && to !== undefined && from > to) return { items: [], cursor: null }
      const scope = ['ferryhook.events', sourceId, JSON.stringify([status, from, to])] as const
      return livePage({ clock, cursors }, scope, opts, (part) =>
        events.query({
          key: rangeOf(sourceId, from, to),
          ...(status && { filter: expr`${events.attr('status')} = ${status}` }),
          newestFirst: true,
          ...part,
        }),
      )
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

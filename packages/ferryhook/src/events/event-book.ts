/** The events of a user's sources, also of those that were deleted: their history stays. */
import type { Principal } from '../auth/principal.ts'
import type { DataLayer } from '../db/data-layer.ts'
import type { PaginatedResult } from '../db/deps.ts'
import { ferryhookError } from '../errors.ts'
import type { Attempt, Delivery } from '../items/delivery.ts'
import type { Event, EventStatus } from '../items/event.ts'
import type { Source } from '../items/source.ts'
import { type SearchedText, searchFor } from './search.ts'

export interface EventQuery extends SearchedText {
  id?: string | undefined
  status?: EventStatus | undefined
  /** Times of receipt in milliseconds, both included. */
  from?: number | undefined
  to?: number | undefined
  limit: number
  cursor?: string | undefined
}

export function createEventBook({
  layer,
}: {
  layer: Pick<DataLayer, 'events' | 'deliveries' | 'attempts' | 'sources'>
}) {
  const { events } = layer

  /** Those of others are as unknown as those that are not there. */
  async function get({ user }: Principal, eventId: string): Promise<Event> {
    const event = await events.getCurrent(eventId)
    if (event?.userId !== user.userId) throw ferryhookError('event_not_found')
    return event
  }

  async function sourceOf({ user }: Principal, sourceId: string): Promise<Source> {
    const source = await layer.sources.getOwned(sourceId, user.userId, { includeDeleted: true })
    if (!source) throw ferryhookError('source_not_found')
    return source
  }

  async function bodyOf(event: Event): Promise<Uint8Array> {
    const body = await events.getBody(event)
    // It expires with its event.
    if (!body) throw ferryhookError('event_not_found')
    return body
  }

  /** The one with the id, if it is what else is asked for. */
  async function findOne(sourceId: string, id: string, query: EventQuery): Promise<Event[]> {
    const event = await events.getCurrent(id)
    if (event?.sourceId !== sourceId) return []
    const { status, from = event.receivedAt, to = event.receivedAt } = query
    const isInTime = from <= event.receivedAt && event.receivedAt <= to
    if (!isInTime || (status !== undefined && event.status !== status)) return []
    const search = searchFor(query, events)
    return !search || (await search.matches(event)) ? [event] : []
  }

  return {
    get,
    sourceOf,

    /** Newest first. */
    async list(
      principal: Principal,
      sourceId: string,
      query: EventQuery,
    ): Promise<PaginatedResult<Event>> {
      await sourceOf(principal, sourceId)
      const { id, status, from, to, limit, cursor } = query
      if (id !== undefined) return { items: await findOne(sourceId, id, query), cursor: null }
      const search = searchFor(query, events)
      return events.listBySource(sourceId, { status, from, to, limit, cursor, search })
    },

    async details(
      principal: Principal,
      eventId: string,
    ): Promise<{ event: Event; body: Uint8Array; deliveries: Delivery[]; attempts: Attempt[] }> {
      const event = await get(principal, eventId)
      const [body, deliveries, attempts] = await Promise.all([
        bodyOf(event),
        layer.deliveries.listByEvent(eventId),
        layer.attempts.listByEvent(eventId),
      ])
      return { event, body, deliveries, attempts }
    },

    /** The bytes as they came. */
    async body(principal: Principal, eventId: string): Promise<Uint8Array> {
      return bodyOf(await get(principal, eventId))
    },
  }
}

export type EventBook = ReturnType<typeof createEventBook>

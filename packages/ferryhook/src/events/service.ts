/** The events of a user's sources, including deleted sources. */
import type { Principal } from '../accounts/authentication.ts'
import type { Attempt, Delivery } from '../deliveries/item.ts'
import { ferryhookError } from '../errors.ts'
import type { Source } from '../sources/item.ts'
import type { PaginatedResult, Stores } from '../stores.ts'
import type { Event, EventStatus } from './item.ts'
import { type TextQuery, createTextSearch } from './search.ts'

export interface EventQuery extends TextQuery {
  id?: string | undefined
  status?: EventStatus | undefined
  /** Receipt times in milliseconds, inclusive. */
  from?: number | undefined
  to?: number | undefined
  limit: number
  cursor?: string | undefined
}

export function createEventService({
  stores,
}: {
  stores: Pick<Stores, 'events' | 'deliveries' | 'attempts' | 'sources'>
}) {
  const { events } = stores

  /** An event of another user is not found either. */
  async function get({ user }: Principal, eventId: string): Promise<Event> {
    const event = await events.getConsistent(eventId)
    if (event?.userId !== user.userId) throw ferryhookError('event_not_found')
    return event
  }

  async function getSource({ user }: Principal, sourceId: string): Promise<Source> {
    const source = await stores.sources.getOwned(sourceId, user.userId, { includeDeleted: true })
    if (!source) throw ferryhookError('source_not_found')
    return source
  }

  async function bodyOf(event: Event): Promise<Uint8Array> {
    const getBody = await events.getBody(event)
    // The body expires with its event.
    if (!getBody) throw ferryhookError('event_not_found')
    return getBody
  }

  /** The event with this id, if it matches the query. */
  async function findOne(sourceId: string, id: string, query: EventQuery): Promise<Event[]> {
    const event = await events.getConsistent(id)
    if (event?.sourceId !== sourceId) return []
    const { status, from = event.receivedAt, to = event.receivedAt } = query
    const isInTime = from <= event.receivedAt && event.receivedAt <= to
    if (!isInTime || (status !== undefined && event.status !== status)) return []
    const search = createTextSearch(query, events)
    return !search || (await search.matches(event)) ? [event] : []
  }

  return {
    get,
    getSource,

    /** Newest first. */
    async list(
      principal: Principal,
      sourceId: string,
      query: EventQuery,
    ): Promise<PaginatedResult<Event>> {
      await getSource(principal, sourceId)
      const { id, status, from, to, limit, cursor } = query
      if (id !== undefined) return { items: await findOne(sourceId, id, query), cursor: null }
      const search = createTextSearch(query, events)
      return events.listBySource(sourceId, { status, from, to, limit, cursor, search })
    },

    async getDetails(
      principal: Principal,
      eventId: string,
    ): Promise<{ event: Event; body: Uint8Array; deliveries: Delivery[]; attempts: Attempt[] }> {
      const event = await get(principal, eventId)
      const [body, deliveries, attempts] = await Promise.all([
        bodyOf(event),
        stores.deliveries.listByEvent(eventId),
        stores.attempts.listByEvent(eventId),
      ])
      return { event, body, deliveries, attempts }
    },

    /** The bytes as received. */
    async getBody(principal: Principal, eventId: string): Promise<Uint8Array> {
      return bodyOf(await get(principal, eventId))
    },
  }
}

export type EventService = ReturnType<typeof createEventService>

/** The events of a user's sources, including deleted sources. */
import type { Principal } from '../accounts/authentication.ts'
import type { Connection } from '../connections/item.ts'
import type { CircuitState } from '../connections/activity-store.ts'
import type { Attempt, Delivery } from '../deliveries/item.ts'
import { isPending } from '../deliveries/state.ts'
import { newDelivery } from '../deliveries/transition.ts'
import { ferryhookError } from '../errors.ts'
import type { Source } from '../sources/item.ts'
import type { PaginatedResult, Stores } from '../stores.ts'
import { isFirstAttempted, isFirstTarget } from './current-status.ts'
import { hasEventType } from './event-type.ts'
import type { EventFilter } from './event-filter.ts'
import type { Event } from './item.ts'
import { type TextQuery, createTextSearch } from './search.ts'

export interface EventQuery extends TextQuery, EventFilter {
  id?: string | undefined
  /** Receipt times in milliseconds, inclusive. */
  from?: number | undefined
  to?: number | undefined
  limit: number
  cursor?: string | undefined
}

export interface EventDetails {
  event: Event
  body: Uint8Array
  deliveries: Delivery[]
  attempts: Attempt[]
  source: Source
  /** All connections of the source, including deleted ones. */
  connections: Connection[]
  /** By connection: the open circuit breakers that deliveries wait for. */
  circuits: ReadonlyMap<string, CircuitState>
}

export function createEventService({
  stores,
}: {
  stores: Pick<
    Stores,
    'events' | 'deliveries' | 'attempts' | 'sources' | 'connections' | 'connectionActivity'
  >
}) {
  const { events } = stores

  /** An event of another user is not found either. */
  async function get({ user }: Principal, eventId: string): Promise<Event> {
    const event = await events.getById(eventId)
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

  async function circuitsOf(deliveries: readonly Delivery[]): Promise<Map<string, CircuitState>> {
    const waiting = deliveries.filter(
      ({ state, reason }) => isPending(state) && reason === 'circuit',
    )
    const circuits = await Promise.all(
      waiting.map(({ connectionId }) => stores.connectionActivity.circuitOf(connectionId)),
    )
    return new Map(
      waiting.flatMap(({ connectionId }, index) => {
        const circuit = circuits[index]
        return circuit ? [[connectionId, circuit] as const] : []
      }),
    )
  }

  /** The event with this id, if it matches the query. */
  async function findOne(sourceId: string, id: string, query: EventQuery): Promise<Event[]> {
    const event = await events.getById(id)
    if (event?.sourceId !== sourceId) return []
    const { status, type, from = event.receivedAt, to = event.receivedAt } = query
    const isInTime = from <= event.receivedAt && event.receivedAt <= to
    if (!isInTime || status?.includes(event.status) === false) return []
    if (type !== undefined && !hasEventType(event, type)) return []
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
      const { id, status, type, from, to, limit, cursor } = query
      if (id !== undefined) return { items: await findOne(sourceId, id, query), cursor: null }
      const search = createTextSearch(query, events)
      return events.listBySource(sourceId, { status, type, from, to, limit, cursor, search })
    },

    async getDetails(principal: Principal, eventId: string): Promise<EventDetails> {
      const event = await get(principal, eventId)
      const { sourceId } = event
      const [body, deliveries, attempts, source, connections] = await Promise.all([
        bodyOf(event),
        stores.deliveries.listByEvent(eventId),
        stores.attempts.listByEvent(eventId),
        getSource(principal, sourceId),
        stores.connections.listBySource(sourceId, { includeDeleted: true }),
      ])
      const circuits = await circuitsOf(deliveries)
      const found = { event, body, attempts, source, connections, circuits }
      const isStored = deliveries.length > 0 || !isFirstAttempted(event)
      return { ...found, deliveries: isStored ? deliveries : firstDeliveries(event, connections) }
    },

    /** The bytes as received. */
    async getBody(principal: Principal, eventId: string): Promise<Uint8Array> {
      return bodyOf(await get(principal, eventId))
    },
  }
}

/** The deliveries of first attempts, before they are stored. */
function firstDeliveries(event: Event, connections: readonly Connection[]): Delivery[] {
  const { eventId, sourceId, userId, receivedAt, expiresAt: keptUntil } = event
  const about = { eventId, sourceId, userId, receivedAt, keptUntil, run: 1, attemptNumber: 1 }
  return connections
    .filter((connection) => isFirstTarget(connection, event))
    .map(({ connectionId }) => newDelivery({ ...about, connectionId }, receivedAt))
}

export type EventService = ReturnType<typeof createEventService>

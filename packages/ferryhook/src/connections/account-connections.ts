/** The connections of all sources of a user, as one listing, and the deliveries of one of them. */
import pLimit from 'p-limit'
import type { Principal } from '../accounts/authentication.ts'
import type { Attempt, Delivery } from '../deliveries/item.ts'
import type { AccountEvents } from '../events/account-events.ts'
import type { ListedEvent } from '../events/merged-listing.ts'
import type { Source } from '../sources/item.ts'
import type { PaginatedResult, StoreDeps, Stores } from '../stores.ts'
import type { CurrentConnection } from './activity-store.ts'
import type { Connection } from './item.ts'

/** `failing`: active, with failed attempts since the last success. Each connection has one of them. */
export const healthStates = ['active', 'failing', 'paused'] as const
export type HealthState = (typeof healthStates)[number]

export function toHealthState({
  status,
  failingSince,
}: Pick<Connection, 'status' | 'failingSince'>): HealthState {
  if (status !== 'active') return 'paused'
  return failingSince === undefined ? 'active' : 'failing'
}

export interface NamedConnection {
  connection: CurrentConnection
  sourceName: string
}

export interface ConnectionDelivery {
  event: ListedEvent
  delivery: Delivery
  /** Undefined before the first one. */
  lastAttempt: Attempt | undefined
}

/** Sources whose connections are read in parallel; filters and transforms may be large. */
const SOURCES_PER_READ = 8
const READ_CONCURRENCY = 10

export type AccountConnections = ReturnType<typeof createAccountConnections>

export function createAccountConnections({
  stores,
  cursors,
  accountEvents,
}: {
  stores: Pick<Stores, 'sources' | 'connections' | 'connectionActivity' | 'deliveries' | 'attempts'>
  cursors: StoreDeps['cursors']
  accountEvents: Pick<AccountEvents, 'list'>
}) {
  /** Those after a position, in the order of their keys. */
  async function read(
    sources: readonly Source[],
    after: string,
    wanted: HealthState | undefined,
  ): Promise<Connection[]> {
    const lists = await Promise.all(
      sources.map(({ sourceId }) => stores.connections.listBySource(sourceId)),
    )
    return lists
      .flat()
      .filter((connection) => positionOf(connection) > after)
      .filter((connection) => wanted === undefined || toHealthState(connection) === wanted)
  }

  return {
    /** In the order of their ids, by source. */
    async list(
      { user: { userId } }: Principal,
      { health }: { health?: HealthState | undefined },
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<PaginatedResult<NamedConnection>> {
      const scope = ['ferryhook.connections', userId, health ?? ''] as const
      const after = cursor === undefined ? '' : (cursors.open(scope, cursor)['SK'] as string)
      const all = await stores.sources.listByUser(userId)
      const sources = all
        .filter(({ sourceId }) => sourceId >= after.slice(0, sourceId.length))
        .toSorted((a, b) => (a.sourceId < b.sourceId ? -1 : 1))
      const found: Connection[] = []
      for (let from = 0; from < sources.length && found.length <= limit; from += SOURCES_PER_READ) {
        found.push(...(await read(sources.slice(from, from + SOURCES_PER_READ), after, health)))
      }
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const hasMore = found.length > page.length && last !== undefined
      const names = new Map(all.map(({ sourceId, name }) => [sourceId, name]))
      const current = await pLimit(READ_CONCURRENCY).map(page, stores.connectionActivity.current)
      return {
        items: current.map((connection) => ({
          connection,
          sourceName: names.get(connection.sourceId) ?? '',
        })),
        cursor: hasMore ? cursors.seal(scope, { SK: positionOf(last) }) : null,
      }
    },

    /** Newest event first, also of a deleted connection. A page may be short; its cursor continues. */
    async deliveries(
      principal: Principal,
      connectionId: string,
      page: { limit: number; cursor?: string | undefined },
    ): Promise<PaginatedResult<ConnectionDelivery>> {
      const events = await accountEvents.list(principal, { connectionId }, page)
      const items = await pLimit(READ_CONCURRENCY).map(events.items, async ({ event }) => {
        const [delivery, attempts] = await Promise.all([
          stores.deliveries.get(event.eventId, connectionId),
          stores.attempts.listByEvent(event.eventId),
        ])
        const lastAttempt = attempts
          .filter((attempt) => attempt.connectionId === connectionId)
          .toSorted((a, b) => a.attemptedAt - b.attemptedAt)
          .at(-1)
        return delivery && { event, delivery, lastAttempt }
      })
      return { items: items.filter((each) => each !== null), cursor: events.cursor }
    },
  }
}

function positionOf({ sourceId, connectionId }: Connection): string {
  return `${sourceId}#${connectionId}`
}

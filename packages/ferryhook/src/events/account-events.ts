/** The events of all sources of a user, as one listing, and their counts. */
import { requestError } from '@strongroom/kit/http/errors'
import type { Clock } from '@strongroom/platform/clock'
import type { Principal } from '../accounts/authentication.ts'
import type { Connection } from '../connections/item.ts'
import { ferryhookError } from '../errors.ts'
import type { Source } from '../sources/item.ts'
import type { StoreDeps, Stores } from '../stores.ts'
import { isFirstAttempted, isFirstTarget, MAX_CLAIM_LOOKUPS } from './current-status.ts'
import type { EventFilter } from './event-filter.ts'
import { type EventStatus } from './item.ts'
import { eventStatuses } from './values.ts'
import type { ListedEvent, MergedQuery } from './merged-listing.ts'
import { createTextSearch, type TextQuery } from './search.ts'

/** A plan has at most 200 sources; deleted ones are listed as far as there is room. */
const MAX_SOURCES = 200
/** Events that are read for one page; its cursor continues. */
const MAX_LISTED_EVENTS = 5_000
/** Events that are read for one count, which is then a lower bound. */
const MAX_COUNTED_EVENTS = 10_000
const MAX_BUCKETS = 1_000

export interface AccountEventQuery extends EventFilter, TextQuery {
  sourceIds?: readonly string[] | undefined
  connectionId?: string | undefined
  /** Receipt times in milliseconds, inclusive. */
  from?: number | undefined
  to?: number | undefined
}

export interface NamedEvent {
  event: ListedEvent
  sourceName: string
}

export interface EventCounts {
  from: number
  to: number
  byStatus: StatusCounts
  buckets: { startsAt: number; byStatus: StatusCounts }[]
  /** False if there are more events than were read; counts before `completeSince` are too low. */
  isComplete: boolean
  completeSince: number
}

export type StatusCounts = Record<EventStatus, number>

export function createAccountEvents({
  stores,
  cursors,
  clock,
}: {
  stores: Pick<Stores, 'sources' | 'connections' | 'deliveries' | 'events' | 'mergeEvents'>
  cursors: StoreDeps['cursors']
  clock: Clock
}) {
  /** The sources to read: all of the user, or those that are asked for. */
  async function selectSources(
    { user }: Principal,
    { sourceIds, connectionId }: AccountEventQuery,
  ): Promise<{ sources: Source[]; omitted: number; connection: Connection | undefined }> {
    const all = await stores.sources.listByUser(user.userId, { includeDeleted: true })
    let wanted = all.filter(({ sourceId }) => sourceIds?.includes(sourceId) ?? true)
    if (sourceIds && wanted.length < sourceIds.length) throw ferryhookError('source_not_found')
    let connection: Connection | undefined
    if (connectionId !== undefined) {
      const options = { includeDeleted: true }
      const owned = await stores.connections.getOwned(connectionId, user.userId, options)
      if (!owned) throw ferryhookError('connection_not_found')
      wanted = wanted.filter((source) => source.sourceId === owned.sourceId)
      connection = owned
    }
    const sources = wanted.toSorted(existingAndNewestFirst).slice(0, MAX_SOURCES)
    return { sources, omitted: wanted.length - sources.length, connection }
  }

  function mergedQuery(
    { sources, connection }: { sources: readonly Source[]; connection: Connection | undefined },
    query: AccountEventQuery,
  ): MergedQuery {
    const { status, type, from, to } = query
    const sourceIds = sources.map(({ sourceId }) => sourceId)
    const search = createTextSearch(query, stores.events)
    const accepts =
      connection &&
      (async (event: ListedEvent) =>
        (isFirstAttempted(event) && isFirstTarget(connection, event)) ||
        (await stores.deliveries.get(event.eventId, connection.connectionId)) !== null)
    return { sourceIds, status, type, from, to, search, accepts }
  }

  return {
    /** Newest first. A page may be short or empty; there are more as long as it has a cursor. */
    async list(
      principal: Principal,
      query: AccountEventQuery,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<{ items: NamedEvent[]; cursor: string | null; omittedSources: number }> {
      const { status, type, sourceIds, connectionId, from, to, header, body } = query
      const listed = [status, type, sourceIds, connectionId, from, to, header, body]
      const scope = [
        'ferryhook.account-events',
        principal.user.userId,
        JSON.stringify(listed),
      ] as const
      const after = cursor === undefined ? undefined : (cursors.open(scope, cursor)['SK'] as string)
      const { sources, omitted, connection } = await selectSources(principal, query)
      const names = new Map(sources.map((source) => [source.sourceId, source.name]))
      const page = await stores.mergeEvents(mergedQuery({ sources, connection }, query), {
        after,
        limit,
        maxExamined: MAX_LISTED_EVENTS,
        maxLookups: MAX_CLAIM_LOOKUPS,
      })
      return {
        items: page.items.map((event) => ({ event, sourceName: names.get(event.sourceId) ?? '' })),
        cursor: page.position === undefined ? null : cursors.seal(scope, { SK: page.position }),
        omittedSources: omitted,
      }
    },

    /** By status, altogether and for each period of `bucketMs`. */
    async count(
      principal: Principal,
      query: AccountEventQuery & { from: number },
      bucketMs: number,
    ): Promise<EventCounts> {
      const to = query.to ?? Math.max(clock.now(), query.from)
      if ((to - query.from) / bucketMs >= MAX_BUCKETS) {
        const message = `Must be less than ${MAX_BUCKETS} buckets before the end. Choose larger buckets.`
        throw requestError('invalid', { details: [{ path: 'query.from', message }] })
      }
      const { sources, omitted, connection } = await selectSources(principal, query)
      const { items, position } = await stores.mergeEvents(
        mergedQuery({ sources, connection }, { ...query, to }),
        {
          limit: Number.POSITIVE_INFINITY,
          maxExamined: MAX_COUNTED_EVENTS,
          // A count is not continued, so it is as complete as possible.
          maxLookups: MAX_COUNTED_EVENTS,
        },
      )
      const first = Math.floor(query.from / bucketMs) * bucketMs
      const buckets: EventCounts['buckets'] = []
      for (let startsAt = first; startsAt <= to; startsAt += bucketMs) {
        buckets.push({ startsAt, byStatus: noEvents() })
      }
      const byStatus = noEvents()
      for (const { status, receivedAt } of items) {
        byStatus[status] += 1
        const bucket = buckets[Math.floor((receivedAt - first) / bucketMs)]
        if (bucket) bucket.byStatus[status] += 1
      }
      const completeSince = position === undefined ? query.from : receiptOf(position)
      const isComplete = position === undefined && omitted === 0
      return { from: query.from, to, byStatus, buckets, isComplete, completeSince }
    },
  }
}

export type AccountEvents = ReturnType<typeof createAccountEvents>

function existingAndNewestFirst(a: Source, b: Source): number {
  const [isGoneA, isGoneB] = [a.status === 'deleted', b.status === 'deleted']
  if (isGoneA !== isGoneB) return isGoneA ? 1 : -1
  return a.createdAt < b.createdAt ? 1 : -1
}

function noEvents(): StatusCounts {
  return Object.fromEntries(eventStatuses.map((status) => [status, 0])) as StatusCounts
}

/** The time in a sort key. Events of the same millisecond may be missing, so the next one counts. */
function receiptOf(position: string): number {
  return Number(position.slice('EVT#'.length, 'EVT#'.length + 13)) + 1
}

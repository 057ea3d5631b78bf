/**
 * The status as readers see it. A worker that claims an event stores nothing else until the first
 * outcome, so an event that is stored as `received` and has been claimed is `processing`.
 */
import type { Connection } from '../connections/item.ts'
import { derivedStatus } from '../deliveries/state.ts'
import type { TaskQueue } from '../queue/store.ts'
import type { Event, EventStatus } from './item.ts'

type Claimable = Pick<Event, 'eventId' | 'sourceId' | 'userId' | 'receivedAt' | 'status'>

/** Events of one page whose claim is looked up to filter them; its cursor continues. */
export const MAX_CLAIM_LOOKUPS = 1_000

export function createCurrentStatus(queue: Pick<TaskQueue, 'listClaimed'>) {
  /** Most events have an outcome, and need no lookup. */
  async function withStatus<T extends Claimable>(events: readonly T[]): Promise<T[]> {
    const claimed = await queue.listClaimed(events.filter(isReceived))
    return events.map((event) =>
      claimed.has(event.eventId) ? { ...event, status: 'processing' } : event,
    )
  }

  return {
    withStatus,

    /** Selects the events of one page that have one of the statuses; all of them without statuses. */
    selection(statuses: readonly EventStatus[] | undefined, maxLookups = MAX_CLAIM_LOOKUPS) {
      let lookups = 0
      return {
        async select<T extends Claimable>(events: readonly T[]): Promise<T[]> {
          lookups += events.filter(isReceived).length
          const current = await withStatus(events)
          return statuses ? current.filter(({ status }) => statuses.includes(status)) : current
        },
        /** Whether it has done enough lookups for one page. */
        isSpent: () => lookups >= maxLookups,
      }
    },
  }
}

export type StatusSelection = ReturnType<ReturnType<typeof createCurrentStatus>['selection']>

function isReceived({ status }: Claimable): boolean {
  return status === 'received'
}

/** The stored statuses of events that may have one of these. */
export function storedStatuses(statuses: readonly EventStatus[]): EventStatus[] {
  return statuses.includes('processing')
    ? [...new Set<EventStatus>([...statuses, 'received'])]
    : [...statuses]
}

/** Whether a worker makes its first attempts, so that its deliveries are not stored yet. */
export function isFirstAttempted({ status, counts }: Pick<Event, 'status' | 'counts'>): boolean {
  return status === 'processing' && !derivedStatus(counts)
}

/** Whether first attempts of the event include the connection: a worker begins them with all that are active. */
export function isFirstTarget(
  { status, createdAt }: Pick<Connection, 'status' | 'createdAt'>,
  { receivedAt }: Pick<Event, 'receivedAt'>,
): boolean {
  return status === 'active' && Date.parse(createdAt) <= receivedAt
}

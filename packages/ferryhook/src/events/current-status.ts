/**
 * The status as readers see it. A worker that claims an event stores nothing else until the first
 * outcome, so an event that is stored as `received` and has been claimed is `processing`.
 */
import { derivedStatus } from '../deliveries/state.ts'
import type { TaskQueue } from '../queue/store.ts'
import type { Event, EventStatus } from './item.ts'

type Claimable = Pick<Event, 'eventId' | 'sourceId' | 'userId' | 'receivedAt' | 'status'>

export function createCurrentStatus(queue: Pick<TaskQueue, 'isBeingRouted'>) {
  async function withStatus<T extends Claimable>(event: T): Promise<T> {
    // Most events have an outcome, and need no read.
    if (event.status !== 'received') return event
    return (await queue.isBeingRouted(event)) ? { ...event, status: 'processing' } : event
  }

  return {
    withStatus,

    /** The events that have one of the statuses; all of them without statuses. */
    async select<T extends Claimable>(
      events: readonly T[],
      statuses?: readonly EventStatus[],
    ): Promise<T[]> {
      const current = await Promise.all(events.map(withStatus))
      return statuses ? current.filter(({ status }) => statuses.includes(status)) : current
    },
  }
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

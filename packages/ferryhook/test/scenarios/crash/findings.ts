/** Checks what killed processes leave behind against the responses and the received requests. */
import { required } from '../../support/test-stores.ts'
import type { Got } from './destinations.ts'
import { laterClock, openRelay, type Relay } from './relay.ts'

const FAR_MS = 10 * 365 * 86_400_000
const ENDED = new Set(['delivered', 'failed', 'filtered'])

/** Tasks that are due at any time, leased or not, and parked ones. */
async function plannedIn({ stores }: Relay, connectionIds: readonly string[]) {
  const planned = new Set<string>()
  const shards = await stores.shards.count()
  for (let shard = 0; shard < shards; shard++) {
    const { tasks } = await stores.queue.listDue(shard, { limit: 1_000_000 })
    for (const task of tasks) {
      if (task.kind === 'route') planned.add(task.eventId)
      if (task.kind === 'deliver') planned.add(`${task.eventId} ${task.connectionId}`)
    }
  }
  for (const connectionId of connectionIds) {
    for (const task of await stores.wakeUps.listParked(connectionId)) {
      planned.add(`${task.eventId} ${connectionId}`)
    }
  }
  return planned
}

export interface Findings {
  faults: string[]
  /** Events without remaining tasks. */
  ended: string[]
}

/** Every acknowledged event is finished for each connection, or has a task. */
export async function inspect(
  directory: string,
  eventIds: Iterable<string>,
  connectionIds: readonly string[],
): Promise<Findings> {
  // A clock that is years ahead, so that every task is due.
  const future = await openRelay(directory, laterClock(FAR_MS))
  const now = await openRelay(directory, laterClock(0))
  try {
    const planned = await plannedIn(future, connectionIds)
    const found: Findings = { faults: [], ended: [] }
    for (const eventId of eventIds) {
      if (!(await now.stores.events.getById(eventId))) found.faults.push('an event is gone')
      if (planned.has(eventId)) continue
      let open = connectionIds.length
      for (const connectionId of connectionIds) {
        const delivery = await now.stores.deliveries.get(eventId, connectionId)
        const isEnded = ENDED.has(delivery?.state ?? 'none')
        const hasTask = planned.has(`${eventId} ${connectionId}`)
        if (isEnded) open -= 1
        if (isEnded === hasTask) {
          found.faults.push(`${delivery?.state}, ${hasTask ? 'with a' : 'no'} task`)
        }
      }
      if (open === 0) found.ended.push(eventId)
    }
    return found
  } finally {
    await now.close()
    await future.close()
  }
}

/** The number of requests by event and path, and of recorded attempts. */
export async function countRequests(
  { stores }: Relay,
  got: readonly Got[],
  pathOf: ReadonlyMap<string, string>,
): Promise<Map<string, { requests: number; recorded: number[] }>> {
  const counts = new Map<string, { requests: number; recorded: number[] }>()
  for (const { eventId, path } of got) {
    const key = `${eventId} ${path}`
    const count = counts.get(key) ?? { requests: 0, recorded: [] }
    counts.set(key, { ...count, requests: count.requests + 1 })
  }
  for (const eventId of new Set(got.map((each) => each.eventId))) {
    for (const attempt of await stores.attempts.listByEvent(eventId)) {
      const path = required(pathOf.get(attempt.connectionId))
      counts.get(`${eventId} ${path}`)?.recorded.push(attempt.attemptNumber)
    }
  }
  return counts
}

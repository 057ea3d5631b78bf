/** Finds out where an event goes, and gives what this worker may deliver at once to it. */
import type { Clock } from '@strongroom/kit/clock'
import type { DataLayer } from '../db/data-layer.ts'
import type { RouteTarget } from '../db/routing.ts'
import type { ReceivedEvent } from '../filters/event.ts'
import type { LeasedTask, RouteTask } from '../items/task.ts'
import type { Destination } from './destination.ts'
import type { Destinations } from './destinations.ts'
import { type EventInHand, eventInHand } from './event-in-hand.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { WorkerSettings } from './settings.ts'

export interface RouteEventDeps {
  db: Pick<DataLayer, 'events' | 'routing' | 'usage'>
  clock: Clock
  destinations: Destinations
  metrics: WorkerMetrics
  settings: Pick<WorkerSettings, 'exchangeMs' | 'leaseGraceMs'>
  /** Takes what is leased. */
  offer(task: LeasedTask, destination: Destination, inHand: EventInHand): void
}

export function createRouteEvent(deps: RouteEventDeps) {
  const { db, clock, destinations, metrics, settings } = deps
  /** Until when the counting of a source is planned already. */
  const planned = new Map<string, number>()

  async function planCounting(task: RouteTask): Promise<void> {
    const { sourceId } = task
    if ((planned.get(sourceId) ?? 0) > clock.now()) return
    // Put before it is done: another event of the source need not wait for it.
    planned.set(sourceId, clock.now() + 1)
    try {
      planned.set(sourceId, await db.usage.plan(task))
    } catch (error) {
      planned.delete(sourceId)
      throw error
    }
  }

  function targetOf(destination: Destination, event: ReceivedEvent): RouteTarget {
    const [delay = 0] = destination.schedule
    return {
      connectionId: destination.connection.connectionId,
      filtered: destination.filteredFor(event),
      ...(delay > 0 && { dueAt: Math.round(event.receivedAt + delay * 1000) }),
    }
  }

  async function route(task: RouteTask): Promise<void> {
    // Counted also if nothing else comes of it; and if this worker dies now, by the next one.
    await planCounting(task)
    const [known, found] = await Promise.all([db.events.get(task), destinations.ofSource(task)])
    const inHand = known && eventInHand(db.events, known)
    const event = await inHand?.received()
    if (!known || !inHand || !event) {
      await db.routing.route(task, [])
      return
    }
    const targets = found.destinations.map((each) => targetOf(each, event))
    const filtered = targets.filter((target) => target.filtered !== undefined).length
    const leaseUntil = clock.now() + settings.exchangeMs + settings.leaseGraceMs
    const unrouted = found.source ? 'no_connections' : 'source_deleted'
    const routed = await db.routing.route(task, targets, { leaseUntil, known, unrouted })
    if (filtered > 0) metrics.ended('filtered', filtered)
    await inHand.change(async () => routed.event)
    for (const leased of routed.tasks) {
      if (leased.leaseId === undefined) continue
      const { connectionId } = leased
      const destination = found.destinations.find(
        (each) => each.connection.connectionId === connectionId,
      )
      if (destination) deps.offer({ ...leased, leaseId: leased.leaseId }, destination, inHand)
    }
  }

  return {
    route,
    sweep() {
      for (const [id, until] of planned) if (until <= clock.now()) planned.delete(id)
    },
  }
}

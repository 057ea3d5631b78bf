/** Finds out where an event goes, and gives what this worker may deliver at once to it. */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import type { DataLayer } from '../db/data-layer.ts'
import type { RouteTarget } from '../db/routing.ts'
import type { ReceivedEvent } from '../filters/event.ts'
import type { Event } from '../items/event.ts'
import type { LeasedTask, RouteTask } from '../items/task.ts'
import type { Destination } from './destination.ts'
import type { Destinations } from './destinations.ts'
import type { Origin } from './dispatch.ts'
import { eventInHand } from './event-in-hand.ts'
import type { GoneEvents } from './gone-events.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { WorkerSettings } from './settings.ts'

export interface RouteEventDeps {
  db: Pick<DataLayer, 'events' | 'routing' | 'usage'>
  clock: Clock
  destinations: Destinations
  metrics: WorkerMetrics
  gone: GoneEvents
  settings: Pick<WorkerSettings, 'exchangeMs' | 'leaseGraceMs'>
  /** Takes what is leased. */
  offer(task: LeasedTask, destination: Destination, origin: Origin): void
}

export function createRouteEvent(deps: RouteEventDeps) {
  const { db, clock, destinations, metrics, gone, settings } = deps
  /** When the counting of a source was planned, and for how long that holds. */
  const planned = new Map<string, { at: number; forMs: number }>()

  async function planCounting(task: RouteTask): Promise<void> {
    const { sourceId } = task
    const known = planned.get(sourceId)
    if (known && isRecent(clock, known.at, known.forMs)) return
    const at = clock.now()
    // Put before it is done: another event of the source need not wait for it.
    planned.set(sourceId, { at, forMs: 1 })
    try {
      planned.set(sourceId, { at, forMs: (await db.usage.plan(task)) - at })
    } catch (error) {
      planned.delete(sourceId)
      throw error
    }
  }

  function targetOf(
    destination: Destination,
    { receivedAt }: Event,
    event: ReceivedEvent | null,
  ): RouteTarget {
    const [delay = 0] = destination.schedule
    return {
      connectionId: destination.connection.connectionId,
      filtered: event ? destination.filteredFor(event) : undefined,
      ...(delay > 0 && { dueAt: Math.round(receivedAt + delay * 1000) }),
    }
  }

  async function route(task: RouteTask): Promise<void> {
    // Counted also if nothing else comes of it; and if this worker dies now, by the next one.
    await planCounting(task)
    const [known, found] = await Promise.all([
      db.events.getNeeded(task),
      destinations.ofSource(task),
    ])
    if (!known) {
      await db.routing.route(task, [])
      gone.met('route')
      return
    }
    const inHand = eventInHand(db.events, known)
    const hasFilter = found.destinations.some(({ connection }) => connection.filters !== undefined)
    // The body of an event may be long, and only filters want it now.
    const event = hasFilter ? await inHand.received() : null
    const targets = found.destinations.map((each) => targetOf(each, known, event))
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
      const origin = { from: task.PK, inHand }
      if (destination) deps.offer({ ...leased, leaseId: leased.leaseId }, destination, origin)
    }
  }

  return {
    route,
    sweep() {
      for (const [id, { at, forMs }] of planned) {
        if (!isRecent(clock, at, forMs)) planned.delete(id)
      }
    },
  }
}

/** Creates the deliveries of an event and returns those that are leased to this worker. */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { RouteTarget } from '../deliveries/routing.ts'
import type { Event } from '../events/item.ts'
import type { ReceivedEvent } from '../filters/received-event.ts'
import { isLeased, type LeasedTask, type RouteTask } from '../queue/tasks.ts'
import type { Stores } from '../stores.ts'
import type { WorkerConfig } from './config.ts'
import type { DestinationCache } from './destination-cache.ts'
import type { TaskOrigin } from './destination-queue.ts'
import type { Destination } from './destination.ts'
import { createLoadedEvent } from './loaded-event.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { MissingEvents } from './missing-events.ts'

export interface RouterDeps {
  stores: Pick<Stores, 'events' | 'routing' | 'metering'>
  clock: Clock
  destinations: DestinationCache
  metrics: WorkerMetrics
  missingEvents: MissingEvents
  config: Pick<WorkerConfig, 'attemptTimeoutMs' | 'leaseGraceMs'>
}

export interface RoutedDelivery {
  leased: LeasedTask
  destination: Destination
  origin: TaskOrigin
}

export type Router = ReturnType<typeof createRouter>

export function createRouter(deps: RouterDeps) {
  const { stores, clock, destinations, metrics, missingEvents, config } = deps
  /** When the metering of a source was scheduled, and for how long that is enough. */
  const scheduled = new Map<string, { at: number; forMs: number }>()

  async function scheduleMetering(task: RouteTask): Promise<void> {
    const { sourceId } = task
    const last = scheduled.get(sourceId)
    if (last && isRecent(clock, last.at, last.forMs)) return
    const at = clock.now()
    // Set before the write, so that other events of the source do not wait for it.
    scheduled.set(sourceId, { at, forMs: 1 })
    try {
      scheduled.set(sourceId, { at, forMs: (await stores.metering.plan(task)) - at })
    } catch (error) {
      scheduled.delete(sourceId)
      throw error
    }
  }

  async function toTarget(
    destination: Destination,
    { receivedAt }: Event,
    received: ReceivedEvent | null,
  ): Promise<RouteTarget> {
    const { connection, schedule } = destination
    const [delay = 0] = schedule
    return {
      connectionId: connection.connectionId,
      filtered:
        received && connection.filters !== undefined
          ? await destination.filteredFor(received)
          : undefined,
      ...(delay > 0 && { dueAt: Math.round(receivedAt + delay * 1000) }),
    }
  }

  return {
    async route(task: RouteTask): Promise<RoutedDelivery[]> {
      // First, so that the event is metered even if this worker crashes or routing fails.
      await scheduleMetering(task)
      const [event, found] = await Promise.all([
        stores.events.getForTask(task),
        destinations.forSource(task),
      ])
      if (!event) {
        await stores.routing.route(task, [])
        missingEvents.report('route')
        return []
      }
      const loaded = createLoadedEvent(stores.events, event)
      const hasFilter = found.destinations.some(
        ({ connection }) => connection.filters !== undefined,
      )
      // Only filters need the body now, and it may be large.
      const received = hasFilter ? await loaded.received() : null
      const targets: RouteTarget[] = []
      for (const each of found.destinations) targets.push(await toTarget(each, event, received))
      const filtered = targets.filter((target) => target.filtered !== undefined).length
      const leaseUntil = clock.now() + config.attemptTimeoutMs + config.leaseGraceMs
      const unrouted = found.source ? 'no_connections' : 'source_deleted'
      const result = await stores.routing.route(task, targets, { leaseUntil, event, unrouted })
      if (filtered > 0) metrics.ended('filtered', filtered)
      await loaded.update(async () => result.event)

      const routed: RoutedDelivery[] = []
      const origin = { partition: task.PK, event: loaded }
      for (const leased of result.tasks) {
        if (!isLeased(leased)) continue
        const destination = found.destinations.find(
          ({ connection }) => connection.connectionId === leased.connectionId,
        )
        if (destination) routed.push({ leased, destination, origin })
      }
      return routed
    },

    evictStale() {
      for (const [id, { at, forMs }] of scheduled) {
        if (!isRecent(clock, at, forMs)) scheduled.delete(id)
      }
    },
  }
}

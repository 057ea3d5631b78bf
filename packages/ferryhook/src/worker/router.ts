/**
 * Finds the connections that an event goes to. If all of them can be attempted now, nothing is written
 * but the claim of the route task, and the deliveries are stored with their outcomes. Otherwise they
 * are created first.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { RouteTarget } from '../deliveries/routing.ts'
import { MAX_OUTCOMES } from '../deliveries/settlement.ts'
import { derivedStatus } from '../deliveries/state.ts'
import { expiryForAttempt } from '../deliveries/transition.ts'
import type { Event } from '../events/item.ts'
import type { ReceivedEvent } from '../filters/received-event.ts'
import {
  type ClaimedRoute,
  isClaimed,
  isLeased,
  type LeasedTask,
  type RouteTask,
} from '../queue/tasks.ts'
import type { Stores } from '../stores.ts'
import type { WorkerConfig } from './config.ts'
import type { DestinationCache } from './destination-cache.ts'
import type { TaskOrigin } from './destination-queue.ts'
import type { Destination } from './destination.ts'
import { createLoadedEvent } from './loaded-event.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { MissingEvents } from './missing-events.ts'

export interface RouterDeps {
  stores: Pick<Stores, 'events' | 'routing' | 'metering' | 'queue' | 'settlement'>
  clock: Clock
  destinations: DestinationCache
  metrics: WorkerMetrics
  missingEvents: MissingEvents
  config: Pick<WorkerConfig, 'attemptTimeoutMs' | 'leaseGraceMs'>
}

/** An event that this process has just stored, with its route task already claimed. */
export interface StoredEvent {
  event: Event
  body: Uint8Array
}

/** Whether an attempt to the destination would start now. */
type CanStart = (destination: Destination) => boolean

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

  async function toTargets(
    found: readonly Destination[],
    { receivedAt }: Event,
    received: ReceivedEvent | null,
  ): Promise<RouteTarget[]> {
    const targets: RouteTarget[] = []
    for (const destination of found) {
      const { connection, schedule } = destination
      const [delay = 0] = schedule
      targets.push({
        connectionId: connection.connectionId,
        filtered:
          received && connection.filters !== undefined
            ? await destination.filteredFor(received)
            : undefined,
        ...(delay > 0 && { dueAt: Math.round(receivedAt + delay * 1000) }),
      })
    }
    return targets
  }

  function isImmediate({ filtered, dueAt = 0 }: RouteTarget): boolean {
    return filtered === undefined && dueAt <= clock.now()
  }

  function leaseUntil(): number {
    return clock.now() + config.attemptTimeoutMs + config.leaseGraceMs
  }

  /** The tasks of first attempts, which are not stored: the claimed route task stands for them. */
  async function unstoredTasks(
    route: ClaimedRoute,
    { expiresAt: keptUntil }: Event,
    targets: readonly RouteTarget[],
  ): Promise<LeasedTask[]> {
    const { eventId, sourceId, userId, receivedAt, leaseId, claimedAt, dueAt } = route
    const event = { eventId, sourceId, userId, receivedAt }
    return Promise.all(
      targets.map(async ({ connectionId }) => {
        const first = { connectionId, run: 1, attemptNumber: 1, keptUntil }
        const lease = { dueAt, leaseId, claimedAt }
        const task = await stores.queue.deliveryTask({ ...event, ...first, ...lease })
        return { ...task, leaseId, route }
      }),
    )
  }

  function toRouted(
    tasks: readonly LeasedTask[],
    found: readonly Destination[],
    origin: TaskOrigin,
  ): RoutedDelivery[] {
    return tasks.flatMap((leased) => {
      const { connectionId } = leased
      const destination = found.find(({ connection }) => connection.connectionId === connectionId)
      return destination ? [{ leased, destination, origin }] : []
    })
  }

  return {
    leaseUntil,

    /** Returns the deliveries that are leased to this worker. */
    async route(
      task: RouteTask,
      canStart: CanStart,
      stored?: StoredEvent,
    ): Promise<RoutedDelivery[]> {
      let claimed: ClaimedRoute | undefined = stored && isClaimed(task) ? task : undefined
      try {
        // First, so that the event is metered even if this worker crashes or routing fails.
        await scheduleMetering(task)
        const found = await destinations.forSource(task)
        const isStartable = canStartAll(found.destinations, canStart)
        const hasFilter = found.destinations.some(
          ({ connection }) => connection.filters !== undefined,
        )
        if (!claimed && isStartable && !hasFilter) {
          claimed = await stores.queue.claimRoute(task, leaseUntil())
          if (!claimed) return []
        }
        // Read after the claim: from then on, no replay starts a run.
        const event = stored?.event ?? (await stores.events.getForTask(task))
        if (!event) {
          await stores.routing.route(claimed ?? task, [])
          missingEvents.report('route')
          return []
        }
        const loaded = createLoadedEvent(stores, event, stored?.body)
        const origin = { partition: task.PK, event: loaded }
        // Only filters need the body now, and it may be large.
        const received = hasFilter ? await loaded.received() : null
        const targets = await toTargets(found.destinations, event, received)
        // Otherwise routing extends the event first, so that it is kept until its retries are stored.
        const isRetained = event.expiresAt >= expiryForAttempt(clock.now())
        if (isStartable && isRetained && isUnrouted(event) && targets.every(isImmediate)) {
          claimed ??= await stores.queue.claimRoute(task, leaseUntil(), event)
          if (!claimed) return []
          const tasks = await unstoredTasks(claimed, event, targets)
          loaded.hold(tasks)
          return toRouted(tasks, found.destinations, origin)
        }
        const result = await stores.routing.route(claimed ?? task, targets, {
          leaseUntil: leaseUntil(),
          event,
          unrouted: found.source ? 'no_connections' : 'source_deleted',
        })
        const filtered = targets.filter((target) => target.filtered !== undefined).length
        if (filtered > 0) metrics.ended('filtered', filtered)
        loaded.changed(result.event)
        return toRouted(result.tasks.filter(isLeased), found.destinations, origin)
      } catch (error) {
        // Otherwise nobody would try again until the lease ends, which it does if this fails too.
        if (claimed) await stores.queue.releaseRoute(claimed).catch(() => {})
        throw error
      }
    },

    evictStale() {
      for (const [id, { at, forMs }] of scheduled) {
        if (!isRecent(clock, at, forMs)) scheduled.delete(id)
      }
    },
  }
}

function canStartAll(found: readonly Destination[], canStart: CanStart): boolean {
  return found.length > 0 && found.length <= MAX_OUTCOMES && found.every(canStart)
}

/** Without deliveries: neither a replay nor an interrupted routing has created any. */
function isUnrouted({ status, counts }: Event): boolean {
  return status === 'received' && !derivedStatus(counts)
}

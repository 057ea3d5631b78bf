/** Runs a task, depending on its kind and the state of its connection. */
import type { Clock } from '@strongroom/platform/clock'
import pLimit from 'p-limit'
import type { ParkReason } from '../deliveries/parking.ts'
import {
  type DeliveryTask,
  type DueTask,
  isLeased,
  type LeasedTask,
  type RouteTask,
  type WakeUpTask,
  type WorkerTask,
} from '../queue/tasks.ts'
import type { Stores } from '../stores.ts'
import type { WorkerConfig } from './config.ts'
import type { HealthTracker } from './connection-health.ts'
import type { DestinationCache } from './destination-cache.ts'
import type { AttemptHandlers, TaskOrigin } from './destination-queue.ts'
import { createDestinationQueues } from './destination-queues.ts'
import type { Deliverer } from './deliverer.ts'
import type { Destination } from './destination.ts'
import type { LoadedEvent } from './loaded-event.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { MissingEvents } from './missing-events.ts'
import type { Router, StoredEvent } from './router.ts'
import type { StartTimer } from '@strongroom/platform/timers'
import type { Waker } from './waker.ts'

export interface DispatcherDeps {
  stores: Pick<Stores, 'queue' | 'parking' | 'metering' | 'accountPurge'>
  clock: Clock
  startTimer: StartTimer
  destinations: DestinationCache
  deliverer: Deliverer
  health: Pick<HealthTracker, 'circuitChanged'>
  router: Router
  waker: Waker
  metrics: WorkerMetrics
  missingEvents: MissingEvents
  config: WorkerConfig
  /** Runs work that the caller does not await, and logs its failure. */
  track(work: Promise<void>): void
  /** An attempt has finished, so there may be room for another. */
  onProgress(): void
  /** Deliveries of this connection are due now. */
  onReleased(connectionId: string): void
}

/** Time for the work before and after the request of an attempt. */
const START_MARGIN_MS = 5_000

/** Tasks of these kinds need no lease, so thousands of them can be due and read at once. */
const MAX_PARALLEL_METERING = 20
const MAX_PARALLEL_WAKE_UPS = 50

export type Dispatcher = ReturnType<typeof createDispatcher>

export function createDispatcher(deps: DispatcherDeps) {
  const { stores, clock, destinations, deliverer, metrics, missingEvents, config, track } = deps
  const handlers: AttemptHandlers = {
    attempt: ({ task, destination, origin }) => deliverer.attempt(task, destination, origin.event),
    park: ({ task, destination, origin }, reason) => park(task, destination, reason, origin),
    release: ({ task, origin }) => release(task, origin),
    circuitChanged: ({ connection }, openUntil) =>
      track(deps.health.circuitChanged(connection, openUntil)),
  }
  const queues = createDestinationQueues({ ...deps, handlers })
  const metering = pLimit(MAX_PARALLEL_METERING)
  const wakeUps = pLimit(MAX_PARALLEL_WAKE_UPS)

  function isDeleted(destination: Destination | null): destination is null {
    return !destination || destination.connection.status === 'deleted'
  }

  function failDeleted(task: WorkerTask, event?: LoadedEvent): Promise<void> {
    const outcome = { state: 'failed', reason: 'connection_deleted' } as const
    return deliverer.conclude(task, outcome, undefined, event)
  }

  async function claim(task: DeliveryTask): Promise<void> {
    const destination = await destinations.get(task)
    if (isDeleted(destination)) return failDeleted(task)
    const origin = { partition: task.PK }
    if (destination.connection.status === 'paused') {
      return park(task, destination, { reason: 'paused' }, origin)
    }
    const postponed = queues.forDestination(destination).postponement()
    if (postponed) return park(task, destination, postponed, origin)
    const leaseUntil = clock.now() + config.attemptTimeoutMs + config.leaseGraceMs
    const leased = await stores.queue.claim(task, leaseUntil)
    if (leased) track(submit(leased, destination, origin))
  }

  /** Takes a task that is leased to this worker. Resolves when the worker is done with it. */
  async function submit(
    task: LeasedTask,
    destination: Destination | null,
    origin: TaskOrigin,
  ): Promise<void> {
    if (isDeleted(destination)) return failDeleted(task, origin.event)
    if (destination.connection.status === 'paused') {
      return park(task, destination, { reason: 'paused' }, origin)
    }
    // Claimed or routed while the worker was closing.
    if (queues.isClosed) return release(task, origin)
    const startBy = task.dueAt - config.attemptTimeoutMs - START_MARGIN_MS
    const queue = queues.forDestination(destination)
    try {
      await queue.enqueue({ task, destination, origin, startBy })
    } finally {
      deps.onProgress()
    }
  }

  /** Returns a leased task to the queue, for any worker. */
  async function release(task: LeasedTask, { event }: TaskOrigin): Promise<void> {
    await event?.store(task)
    await stores.queue.releaseLease(task)
  }

  async function park(
    task: WorkerTask,
    { connection }: Destination,
    reason: ParkReason,
    origin: TaskOrigin,
  ): Promise<void> {
    await origin.event?.store(task)
    const { kind } = await stores.parking.park(task, connection, reason)
    switch (kind) {
      case 'parked':
        return metrics.parked(reason.reason)
      case 'missing':
        return missingEvents.report('deliver')
      case 'lease_lost':
        return metrics.leaseLost()
      case 'run_replaced':
        return metrics.runReplaced()
      case 'connection_changed': {
        // The cached connection was stale, and the current one may accept the delivery.
        destinations.invalidate(connection.sourceId)
        if (!isLeased(task)) return claim(task)
        const destination = await destinations.get(task)
        // Not awaited: the caller may occupy the slot that this attempt needs.
        return track(submit(task, destination, origin))
      }
    }
  }

  function canStart(destination: Destination): boolean {
    const isActive = destination.connection.status === 'active'
    return isActive && queues.forDestination(destination).postponement() === undefined
  }

  async function route(task: RouteTask, stored?: StoredEvent): Promise<void> {
    const routed = await deps.router.route(task, canStart, stored)
    for (const { leased, destination, origin } of routed) {
      track(submit(leased, destination, origin))
    }
  }

  async function wakeUp(task: WakeUpTask): Promise<void> {
    const released = await deps.waker.wakeUp(task, queues)
    if (released > 0) deps.onReleased(task.connectionId)
  }

  return {
    queues,

    /** Also for an event that this process has just stored, whose route task it has claimed. */
    route,

    /** Resolves when the task is not due any more. */
    async handle(task: DueTask): Promise<void> {
      switch (task.kind) {
        case 'route':
          return route(task)
        case 'deliver':
          return claim(task)
        case 'wake':
          return wakeUps(() => wakeUp(task))
        case 'count':
          return metering(() => stores.metering.roll(task))
        case 'purge':
          return void (await stores.accountPurge.finish(task))
      }
    },
  }
}

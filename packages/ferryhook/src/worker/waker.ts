/** Releases parked deliveries of a connection, as many as it can take now. */
import type { Clock } from '@strongroom/platform/clock'
import type { WakeUpOptions } from '../deliveries/wake-up.ts'
import type { WakeUpTask } from '../queue/tasks.ts'
import type { Stores } from '../stores.ts'
import type { HealthTracker } from './connection-health.ts'
import type { DestinationCache } from './destination-cache.ts'
import type { DestinationQueues } from './destination-queues.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { MissingEvents } from './missing-events.ts'

/** Each needs a transaction, and a wake-up must not take longer than the time to the next one. */
const MAX_RELEASED = 500
const NEXT_WAKE_MS = 5_000

export interface WakerDeps {
  stores: Pick<Stores, 'wakeUps'>
  clock: Clock
  destinations: DestinationCache
  health: HealthTracker
  missingEvents: MissingEvents
  metrics: WorkerMetrics
}

export type Waker = ReturnType<typeof createWaker>

export function createWaker(deps: WakerDeps) {
  const { stores, clock, destinations, health, missingEvents, metrics } = deps

  async function release(task: WakeUpTask, options: WakeUpOptions): Promise<number> {
    const { released, missing } = await stores.wakeUps.wakeUp(task, options)
    missingEvents.report('wait', missing)
    return released
  }

  return {
    /** Returns how many deliveries can be attempted now. */
    async wakeUp(
      task: WakeUpTask,
      queues: Pick<DestinationQueues, 'forDestination'>,
    ): Promise<number> {
      const { connectionId } = task
      const all = { limit: MAX_RELEASED, nextWakeAt: clock.now() + NEXT_WAKE_MS }
      const [first] = await stores.wakeUps.listParked(connectionId, 1)
      // Nothing is parked: this completes the task, unless a delivery was parked concurrently.
      if (!first) return release(task, all)

      const destination = await destinations.get(first)
      const expired = await stores.wakeUps.failExpired(connectionId)
      missingEvents.report('wait', expired.missing)
      if (expired.failed > 0) {
        metrics.ended('failed', expired.failed)
        if (destination) health.ended(destination.connection)
      }
      const status = destination?.connection.status ?? 'deleted'
      if (status === 'paused') {
        await release(task, { ...all, isPaused: true })
        return 0
      }
      // Deliveries of a deleted connection are released too, so that they fail.
      if (!destination || status !== 'active') return release(task, all)
      const queue = queues.forDestination(destination)
      return release(task, {
        limit: Math.min(queue.capacity(), MAX_RELEASED),
        nextWakeAt: Math.max(queue.postponement()?.wakeAt ?? 0, all.nextWakeAt),
      })
    },
  }
}

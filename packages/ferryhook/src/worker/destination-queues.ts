/** One queue for each connection, so that no destination delays another. */
import type { Clock } from '@strongroom/platform/clock'
import type { WorkerConfig } from './config.ts'
import type { Destination } from './destination.ts'
import {
  type AttemptHandlers,
  createDestinationQueue,
  type DestinationQueue,
  type InFlight,
  queuedKey,
} from './destination-queue.ts'
import type { StartTimer } from '@strongroom/platform/timers'

export interface DestinationQueues {
  forDestination(destination: Destination): DestinationQueue
  /** How many more tasks of a user to read from a partition: none while those already read only wait. */
  capacity(partition: string, userId: string): number
  /** Releases all attempts that have not started; nothing starts any more. */
  close(): void
  readonly isClosed: boolean
  evictIdle(): void
  readonly inFlight: number
}

/** This many queued attempts of a user in moving queues are enough to continue without a pause. */
const ENOUGH_QUEUED = 32
const PROGRESS_INTERVAL_MS = 250

export function createDestinationQueues({
  clock,
  startTimer,
  config,
  handlers,
}: {
  clock: Clock
  startTimer: StartTimer
  config: Pick<WorkerConfig, 'maxInFlight' | 'destinationBreaker' | 'keyBreaker'>
  handlers: AttemptHandlers
}): DestinationQueues {
  const queues = new Map<string, DestinationQueue>()
  const inFlight: InFlight = { count: 0, max: config.maxInFlight, queued: new Map() }
  let cancelCheck: (() => void) | undefined
  let isClosed = false

  /** Uses timers, not the clock: while the process itself is blocked, no queue can move. */
  function checkProgress(): void {
    for (const queue of queues.values()) queue.checkProgress()
    cancelCheck = inFlight.count > 0 ? startTimer(PROGRESS_INTERVAL_MS, checkProgress) : undefined
  }

  return {
    forDestination({ connection: { connectionId }, limits }) {
      let queue = queues.get(connectionId)
      if (!queue) {
        queue = createDestinationQueue({ clock, startTimer, config, limits, inFlight, handlers })
        queues.set(connectionId, queue)
      }
      queue.setLimits(limits)
      cancelCheck ??= startTimer(PROGRESS_INTERVAL_MS, checkProgress)
      return queue
    },
    capacity: (partition, userId) =>
      Math.min(
        ENOUGH_QUEUED - (inFlight.queued.get(queuedKey(partition, userId)) ?? 0),
        inFlight.max - inFlight.count,
      ),
    close() {
      isClosed = true
      cancelCheck?.()
      for (const queue of queues.values()) queue.releaseAll()
    },
    evictIdle() {
      for (const [id, queue] of queues) if (queue.isIdle) queues.delete(id)
    },
    get isClosed() {
      return isClosed
    },
    get inFlight() {
      return inFlight.count
    },
  }
}

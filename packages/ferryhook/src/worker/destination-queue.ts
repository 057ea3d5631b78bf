/**
 * The attempts to one connection: limited in concurrency and rate, and stopped while a breaker is
 * open. Attempts wait here for a few seconds only. More than that are parked in the store, so that a
 * slow destination cannot fill the memory.
 */
import { createCircuitBreaker } from '@strongroom/kit/circuit-breaker'
import { createTokenBucket } from '@strongroom/kit/token-bucket'
import type { Clock } from '@strongroom/platform/clock'
import type { ParkReason } from '../deliveries/parking.ts'
import type { LeasedTask } from '../queue/tasks.ts'
import type { WorkerConfig } from './config.ts'
import type { Destination } from './destination.ts'
import type { LoadedEvent } from './loaded-event.ts'
import type { StartTimer } from '@strongroom/platform/timers'

/**
 * The result of an attempt, for the breakers. `busy` and `key_unavailable`: no attempt was made,
 * and the delivery has to be parked.
 */
export type AttemptSignal = 'ok' | 'failed' | 'unknown' | 'busy' | 'key_unavailable'

type Postponement = Extract<ParkReason, { wakeAt: number }>

/** Where a leased task comes from. */
export interface TaskOrigin {
  /** The partition of the queue that the task or its event was read from. */
  partition: string
  /** The event, if it is loaded. */
  event?: LoadedEvent
}

export interface QueuedAttempt {
  task: LeasedTask
  destination: Destination
  origin: TaskOrigin
  /** The attempt must start by then to finish within its lease. */
  startBy: number
}

/** What a queue does with its attempts. */
export interface AttemptHandlers {
  attempt(queued: QueuedAttempt): Promise<AttemptSignal>
  park(queued: QueuedAttempt, reason: Postponement): Promise<void>
  /** Returns the task to the queue, for any worker. */
  release(queued: QueuedAttempt): Promise<void>
  /** The breaker of the destination is open until a time, or closed. */
  circuitChanged(destination: Destination, openUntil: number | undefined): void
}

export interface DestinationLimits {
  concurrency: number
  perSecond?: number | undefined
}

export interface DestinationQueue {
  /** Resolves when the attempt has finished, or was parked or released. */
  enqueue(attempt: QueuedAttempt): Promise<void>
  /** Why an attempt would be parked now; undefined if it would be queued. */
  postponement(): Postponement | undefined
  /** How many more attempts can be queued now. */
  capacity(): number
  setLimits(limits: DestinationLimits): void
  /** Called periodically. A queue without a finished attempt between two calls counts as stalled. */
  checkProgress(): void
  /** Releases all attempts that have not started. */
  releaseAll(): void
  /** Whether the queue is empty and its breakers have nothing to remember. */
  readonly isIdle: boolean
}

/** How long an attempt may wait in memory. */
const MAX_QUEUE_MS = 5_000
const MAX_QUEUED = 2_000
/** The assumed duration of an attempt before the first one has finished. */
const INITIAL_ATTEMPT_MS = 200
/** When to retry an attempt that the sandbox, or the rest of its lease, had no room for. */
const BUSY_RETRY_MS = 5_000

export interface DestinationQueueOptions {
  clock: Clock
  startTimer: StartTimer
  config: Pick<WorkerConfig, 'destinationBreaker' | 'keyBreaker'>
  limits: DestinationLimits
  inFlight: InFlight
  handlers: AttemptHandlers
}

/** Attempts in all queues of a worker. */
export interface InFlight {
  count: number
  readonly max: number
  /**
   * Queued attempts by partition and user, without those of stalled queues: more tasks of that user
   * would only wait, but a stalled queue says nothing about the others.
   */
  readonly queued: Map<string, number>
}

/** The key of a user's attempts from a partition. */
export function queuedKey(partition: string, userId: string): string {
  return `${partition} ${userId}`
}

interface Entry {
  attempt: QueuedAttempt
  resolve(): void
  reject(error: unknown): void
}

export function createDestinationQueue(options: DestinationQueueOptions): DestinationQueue {
  const { clock, startTimer, config, inFlight, handlers } = options
  const destinationBreaker = createCircuitBreaker({ clock, ...config.destinationBreaker })
  const keyBreaker = createCircuitBreaker({ clock, ...config.keyBreaker })
  const bucket = createTokenBucket(clock)
  const queued: Entry[] = []
  let { limits } = options
  let running = 0
  let avgAttemptMs = INITIAL_ATTEMPT_MS
  let isMoving = false
  let checksSinceProgress = 0
  let cancelPump: (() => void) | undefined
  let reportedUntil: number | undefined

  /** How many attempts may be queued or running for this destination. */
  function maxDepth(): number {
    const { concurrency, perSecond = Number.POSITIVE_INFINITY } = limits
    // Shrink every queue as the worker fills up, so slow destinations cannot exhaust memory.
    const load = inFlight.count / inFlight.max
    if (load >= 0.75) return 1
    if (load >= 0.5) return concurrency
    const backlog = Math.min((concurrency / avgAttemptMs) * MAX_QUEUE_MS, MAX_QUEUED)
    const rateLimit = Math.max(1, (perSecond * MAX_QUEUE_MS) / 1000)
    return Math.ceil(Math.min(concurrency + backlog, rateLimit))
  }

  function openBreaker(): Postponement | undefined {
    const destinationOpenUntil = destinationBreaker.openUntil()
    if (destinationOpenUntil !== undefined) {
      return { reason: 'circuit', wakeAt: destinationOpenUntil }
    }
    const keyOpenUntil = keyBreaker.openUntil()
    return keyOpenUntil === undefined ? undefined : { reason: 'keys', wakeAt: keyOpenUntil }
  }

  function capacity(): number {
    if (openBreaker()) return 0
    // A half-open breaker lets one probe through.
    const depth = destinationBreaker.isOpen || keyBreaker.isOpen ? 1 : maxDepth()
    return Math.max(0, depth - running - queued.length)
  }

  function postponement(): Postponement | undefined {
    const open = openBreaker()
    if (open || capacity() > 0) return open
    return { reason: 'limit', wakeAt: clock.now() + MAX_QUEUE_MS }
  }

  function countQueued(entries: readonly Entry[], by: 1 | -1): void {
    if (!isMoving) return
    for (const { attempt } of entries) {
      const key = queuedKey(attempt.origin.partition, attempt.task.userId)
      const count = (inFlight.queued.get(key) ?? 0) + by
      if (count > 0) inFlight.queued.set(key, count)
      else inFlight.queued.delete(key)
    }
  }

  function dequeue(count: number): Entry[] {
    const entries = queued.splice(0, count)
    countQueued(entries, -1)
    return entries
  }

  function dequeueAll(): Entry[] {
    inFlight.count -= queued.length
    return dequeue(queued.length)
  }

  function setMoving(moving: boolean): void {
    if (isMoving === moving) return
    if (!moving) countQueued(queued, -1)
    isMoving = moving
    if (moving) countQueued(queued, 1)
  }

  function park({ attempt, resolve, reject }: Entry, reason: Postponement): void {
    handlers.park(attempt, reason).then(resolve, reject)
  }

  function pump(): void {
    cancelPump?.()
    cancelPump = undefined
    while (queued.length > 0) {
      const open = openBreaker()
      if (open) {
        for (const entry of dequeueAll()) park(entry, open)
        return
      }
      if (running >= limits.concurrency) return
      const entry = queued[0] as Entry
      if (clock.now() > entry.attempt.startBy) {
        dequeue(1)
        inFlight.count -= 1
        park(entry, { reason: 'limit', wakeAt: clock.now() })
        continue
      }
      const delayMs = limits.perSecond === undefined ? 0 : bucket.take(limits.perSecond)
      if (delayMs > 0) {
        cancelPump = startTimer(delayMs, pump)
        return
      }
      dequeue(1)
      void run(entry)
    }
  }

  /** Failed attempts that began before the breaker opened do not change until when it is open. */
  function reportCircuit(destination: Destination, signal: AttemptSignal): void {
    const until = destinationBreaker.isOpen ? destinationBreaker.openUntil() : undefined
    const isOpened = until !== undefined && signal === 'failed'
    const isClosed = !destinationBreaker.isOpen && reportedUntil !== undefined
    if (!isClosed && (!isOpened || until === reportedUntil)) return
    reportedUntil = until
    handlers.circuitChanged(destination, until)
  }

  async function run(entry: Entry): Promise<void> {
    const [endDestination, endKeys] = [destinationBreaker.begin(), keyBreaker.begin()]
    const startedAt = clock.now()
    running += 1
    // An unexpected error says nothing about the destination.
    let signal: AttemptSignal = 'unknown'
    let failure: { error: unknown } | undefined
    try {
      signal = await handlers.attempt(entry.attempt)
      // Parked before its slot is freed: the next attempt would find the worker just as busy.
      if (signal === 'busy') {
        const wakeAt = clock.now() + BUSY_RETRY_MS
        await handlers.park(entry.attempt, { reason: 'limit', wakeAt })
      }
    } catch (error) {
      signal = 'unknown'
      failure = { error }
    }
    running -= 1
    inFlight.count -= 1
    avgAttemptMs = Math.max(1, avgAttemptMs * 0.8 + (clock.now() - startedAt) * 0.2)
    checksSinceProgress = 0
    setMoving(true)
    const wasSent = signal === 'ok' || signal === 'failed'
    endDestination(wasSent ? (signal as 'ok' | 'failed') : 'unknown')
    reportCircuit(entry.attempt.destination, signal)
    // Everything that was sent was signed before.
    endKeys(wasSent ? 'ok' : signal === 'key_unavailable' ? 'failed' : 'unknown')
    if (signal === 'key_unavailable') {
      park(entry, { reason: 'keys', wakeAt: keyBreaker.openUntil() ?? clock.now() })
    } else if (failure) entry.reject(failure.error)
    else entry.resolve()
    pump()
  }

  return {
    enqueue(attempt) {
      const postponed = postponement()
      if (postponed) return handlers.park(attempt, postponed)
      return new Promise<void>((resolve, reject) => {
        const entry = { attempt, resolve, reject }
        queued.push(entry)
        countQueued([entry], 1)
        inFlight.count += 1
        pump()
      })
    },
    postponement,
    capacity,
    setLimits: (newLimits) => {
      limits = newLimits
    },
    checkProgress() {
      checksSinceProgress += 1
      if (checksSinceProgress > 1) setMoving(false)
    },
    releaseAll() {
      cancelPump?.()
      for (const { attempt, resolve, reject } of dequeueAll()) {
        handlers.release(attempt).then(resolve, reject)
      }
    },
    get isIdle() {
      return running === 0 && queued.length === 0 && destinationBreaker.isIdle && keyBreaker.isIdle
    },
  }
}

/**
 * Extends the expiry of events whose tasks are overdue. While no worker runs, their expiry comes
 * closer, and an acknowledged event must not expire undelivered because of that.
 */
import type { Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Log } from '@strongroom/kit/log'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import { epochSeconds } from '@strongroom/platform/clock'
import pLimit from 'p-limit'
import type { EventStore } from '../events/store.ts'
import type { Shards } from '../queue/shards.ts'
import type { TaskQueue } from '../queue/store.ts'
import type { DeliveryTask, DueTask, RouteTask } from '../queue/tasks.ts'
import type { StoreDeps, Stores } from '../stores.ts'
import { eventsTable } from '../tables.ts'
import type { StartTimer } from '@strongroom/platform/timers'
import type { AttemptStore } from './attempt-store.ts'
import { type Delivery, DeliveryItem, deliveryKey } from './item.ts'

/** Tasks that are overdue for less are about to run; a retry retains its event for an hour. */
const OVERDUE_MS = 1_200_000
const EXPIRES_SOON_SECONDS = 2 * 3_600
const EXTENSION_SECONDS = 86_400

/** Low, because the process has other work. */
const CONCURRENCY = 4

const CHECK_INTERVAL_MS = 600_000

export interface RetentionResult {
  /** Tasks whose event was about to expire. */
  tasks: number
  /** Failed reads and writes. */
  failures: number
  firstError?: unknown
}

export interface RetentionDeps extends Pick<StoreDeps, 'db' | 'clock'> {
  events: EventStore
  attempts: Pick<AttemptStore, 'extendExpiryParts'>
  shards: Pick<Shards, 'count'>
  queue: Pick<TaskQueue, 'listOverdue'>
}

export function createRetention(deps: RetentionDeps) {
  const { db, clock, events, attempts, shards, queue } = deps
  const deliveries = entity(db, eventsTable, DeliveryItem)

  function deliveryPart(delivery: Delivery, expiresAt: number) {
    const attribute = deliveries.attr('expiresAt')
    const update = expr`SET ${attribute} = ${expiresAt}`
    const exists = expr`attribute_exists(${attribute})`
    return deliveries.part.update(deliveryKey.of(delivery), update, exists)
  }

  /** True if something was about to expire. */
  function extend(task: RouteTask | DeliveryTask): Promise<boolean> {
    return retryOnConflict(async () => {
      const now = epochSeconds(clock)
      const event = await events.getForTask(task)
      if (!event) return false
      const delivery =
        task.kind === 'deliver' ? await deliveries.get(deliveryKey.of(task)) : undefined
      // Another delivery may have extended the event, while this delivery still expires.
      const firstExpiry = Math.min(event.expiresAt, delivery?.expiresAt ?? event.expiresAt)
      if (firstExpiry > now + EXPIRES_SOON_SECONDS) return false
      const expiresAt = Math.max(event.expiresAt, now + EXTENSION_SECONDS)
      await transact(db, [
        ...events.updateStatus(event, { expiresAt }).parts,
        ...(delivery ? [deliveryPart(delivery, expiresAt)] : []),
        ...(task.kind === 'deliver' ? await attempts.extendExpiryParts(task, expiresAt) : []),
      ])
      return true
    })
  }

  async function extendAll(
    tasks: readonly DueTask[],
    result: RetentionResult,
    signal?: AbortSignal,
  ): Promise<void> {
    const limit = pLimit(CONCURRENCY)
    const eventTasks = tasks.filter((task) => task.kind === 'route' || task.kind === 'deliver')
    await Promise.all(
      eventTasks.map((task) =>
        limit(async () => {
          if (signal?.aborted) return
          try {
            if (await extend(task)) result.tasks += 1
          } catch (error) {
            addFailure(result, error)
          }
        }),
      ),
    )
  }

  async function extendShard(
    shard: number,
    result: RetentionResult,
    signal?: AbortSignal,
  ): Promise<void> {
    let next: Item | undefined
    do {
      if (signal?.aborted) return
      const page = await queue.listOverdue(shard, clock.now() - OVERDUE_MS, next)
      await extendAll(page.tasks, result, signal)
      next = page.next
    } while (next)
  }

  return {
    /** Extends what expires soon by a day. A failure does not stop the rest; the signal does. */
    async extendOverdue(signal?: AbortSignal): Promise<RetentionResult> {
      const result: RetentionResult = { tasks: 0, failures: 0 }
      const shardCount = await shards.count()
      for (let shard = 0; shard < shardCount; shard++) {
        await extendShard(shard, result, signal).catch((error: unknown) =>
          addFailure(result, error),
        )
      }
      return result
    },
  }
}

function addFailure(result: RetentionResult, error: unknown): void {
  result.failures += 1
  result.firstError ??= error
}

/**
 * Checks periodically for overdue tasks. Every process runs it, even one that only receives,
 * because the worker may be the process that is down.
 */
export function createRetentionLoop({
  stores,
  startTimer,
  log,
}: {
  stores: Pick<Stores, 'retention'>
  startTimer: StartTimer
  log: Log
}) {
  const closing = new AbortController()
  let cancelTimer = () => {}
  let running = Promise.resolve()

  async function check(): Promise<void> {
    try {
      const { tasks, failures, firstError } = await stores.retention.extendOverdue(closing.signal)
      if (failures > 0) {
        log.error('expiry of overdue events not extended, retrying', {
          tasks,
          failures,
          error: firstError,
        })
      } else if (tasks > 0) {
        log.warn('expiry of overdue events extended. Check that a worker is running.', { tasks })
      }
    } catch (error) {
      log.error('overdue tasks not read, retrying', { error })
    }
  }

  async function checkAndSchedule(): Promise<void> {
    await check()
    // Started only now, because a check can take longer than the interval.
    if (!closing.signal.aborted) cancelTimer = startTimer(CHECK_INTERVAL_MS, start)
  }

  function start(): void {
    running = checkAndSchedule()
  }

  return {
    start,
    /** Checks once. Logs what fails. */
    check,
    /** Stops a running check after the current tasks; the next process continues. */
    async close(): Promise<void> {
      closing.abort()
      cancelTimer()
      await running
    },
  }
}

/** Returns parked deliveries to the queue, and fails those that were parked for too long. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import { epochSeconds } from '@strongroom/platform/clock'
import pLimit from 'p-limit'
import type { EventStore } from '../events/store.ts'
import type { Event } from '../events/item.ts'
import type { TaskQueue } from '../queue/store.ts'
import {
  type ParkedTask,
  ParkedTaskItem,
  parkedTaskKey,
  type WakeUpTask,
  WakeUpTaskItem,
} from '../queue/tasks.ts'
import { exists } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import { eventsTable } from '../tables.ts'
import { EXPIRY_NOTICE_SECONDS } from './parking.ts'
import { pendingState } from './state.ts'
import { MAX_PARKED_SECONDS, type Transitions } from './transition.ts'

/** A connection may have been paused for weeks, so its deliveries are read in batches. */
const READ_BATCH = 100

/** Transactions that run in parallel when deliveries are released. */
const RELEASE_CONCURRENCY = 20

/** The sort keys of deliveries held by their owner begin with it, see `heldTaskKey`. */
const HELD = '~'

/** `not_ours`: another worker released it, or another run replaced its own. */
type UnparkResult = 'unparked' | 'missing' | 'not_ours'

interface UnparkCounts {
  unparked: number
  missing: number
}

export interface WakeUpOptions {
  limit: number
  /** When the next wake-up is due, if deliveries remain parked. */
  nextWakeAt: number
  isPaused?: boolean
}

export interface WakeUpDeps extends Pick<StoreDeps, 'db' | 'clock'> {
  queue: TaskQueue
  events: EventStore
  transitions: Transitions
}

export function createWakeUps(deps: WakeUpDeps) {
  const { db, clock, queue, events, transitions } = deps
  const parkedTasks = entity(db, eventsTable, ParkedTaskItem)
  const wakeUps = entity(db, eventsTable, WakeUpTaskItem)

  async function listParked(connectionId: string, limit?: number): Promise<ParkedTask[]> {
    const { PK } = parkedTaskKey.of({ connectionId, parkedAt: '', eventId: '' })
    const key = expr`${parkedTasks.attr('PK')} = ${PK} AND ${parkedTasks.attr('SK')} < ${HELD}`
    const { items } = await parkedTasks.query({ key, ...(limit !== undefined && { limit }) })
    return items
  }

  /** Deliveries held by their owner, oldest first. */
  async function listHeld(connectionId: string, limit: number): Promise<ParkedTask[]> {
    const { PK } = parkedTaskKey.of({ connectionId, parkedAt: '', eventId: '' })
    const key = expr`${parkedTasks.attr('PK')} = ${PK} AND ${parkedTasks.attr('SK')} >= ${HELD}`
    return (await parkedTasks.query({ key, limit })).items
  }

  async function unpark(
    task: ParkedTask,
    toParts: (event: Event) => Promise<TransactWriteItem[]>,
  ): Promise<UnparkResult> {
    let isReplaced = false
    return retryOnConflict<UnparkResult>(async () => {
      const event = isReplaced ? undefined : await events.getForTask(task)
      const remove = parkedTasks.part.delete({ PK: task.PK, SK: task.SK }, exists)
      try {
        await transact(db, [remove, ...(event ? await toParts(event) : [])])
      } catch (error) {
        if (!(error instanceof TransactionFailed)) throw error
        if (error.conditionFailed(0)) return 'not_ours'
        isReplaced = error.conditionFailed(1)
        throw error
      }
      if (isReplaced) return 'not_ours'
      return event ? 'unparked' : 'missing'
    })
  }

  /** Makes the delivery due now, in the state it had before it was parked. */
  function release(task: ParkedTask): Promise<UnparkResult> {
    return unpark(task, async (event) => {
      const { PK: _pk, SK: _sk, kind: _kind, reason, ...rest } = task
      const due = await queue.deliveryTask({ ...rest, dueAt: clock.now() })
      if (reason !== 'paused') return [queue.deliveryPart(due)]
      const to = pendingState(task.attemptNumber)
      const { parts } = await transitions.prepare(event, { task, from: 'held', to })
      return [...parts, queue.deliveryPart(due)]
    })
  }

  async function releaseAll(tasks: readonly ParkedTask[]): Promise<UnparkCounts> {
    const limit = pLimit(RELEASE_CONCURRENCY)
    return countResults(await Promise.all(tasks.map((task) => limit(() => release(task)))))
  }

  function isExpired({ parkedAt }: ParkedTask): boolean {
    const expiresAt = Math.ceil(parkedAt / 1000) + MAX_PARKED_SECONDS
    return expiresAt - EXPIRY_NOTICE_SECONDS <= epochSeconds(clock)
  }

  function fail(task: ParkedTask): Promise<UnparkResult> {
    const from = isHeld(task) ? 'held' : pendingState(task.attemptNumber)
    const change = { task, from, to: 'failed', reason: 'retention' } as const
    return unpark(task, async (event) => (await transitions.prepare(event, change)).parts)
  }

  async function failAllExpired(
    connectionId: string,
    list: (connectionId: string, limit: number) => Promise<ParkedTask[]>,
  ): Promise<UnparkCounts> {
    const results: UnparkResult[] = []
    // The oldest comes first and has usually not expired, which saves reading the others.
    const [oldest] = await list(connectionId, 1)
    if (!oldest || !isExpired(oldest)) return countResults(results)
    for (;;) {
      const expired = (await list(connectionId, READ_BATCH)).filter(isExpired)
      for (const task of expired) results.push(await fail(task))
      // All of them are removed by now, by this worker or another, so the next read starts after them.
      if (expired.length < READ_BATCH) return countResults(results)
    }
  }

  return {
    /** Parked deliveries of a connection that a wake-up may release, oldest first. */
    listParked,

    /**
     * Returns up to `limit` parked deliveries to the queue, oldest first. A paused connection
     * releases only deliveries parked for another reason; the dispatcher then holds them. Completes
     * the task last, so a crash leaves it due.
     */
    async wakeUp(
      task: WakeUpTask,
      { limit, nextWakeAt, isPaused = false }: WakeUpOptions,
    ): Promise<{ released: number; missing: number; hasMore: boolean }> {
      const { connectionId } = task
      const held = await failAllExpired(connectionId, listHeld)

      async function releasable(max: number): Promise<ParkedTask[]> {
        if (!isPaused) return max > 0 ? listParked(connectionId, max) : []
        // Deliveries parked before the pause sort first, so the first batch contains them.
        const batch = await listParked(connectionId, READ_BATCH)
        return batch.filter((parked) => !isHeld(parked)).slice(0, max)
      }
      const { unparked, missing } = await releaseAll(await releasable(limit))
      const hasMore = (await releasable(1)).length > 0

      const unchanged = expr`${wakeUps.attr('wakeId')} = ${task.wakeId}`
      const complete = wakeUps.part.delete({ PK: task.PK, SK: task.SK }, unchanged)
      // One transaction cannot delete and put the same key, so the next wake-up is later.
      const wakeAt = Math.max(nextWakeAt, task.dueAt + 1)
      const next = hasMore ? [await queue.wakeUpPart(connectionId, wakeAt)] : []
      await transact(db, [complete, ...next]).catch((error: unknown) => {
        // Another worker completed it, or a delivery parked concurrently wrote it again: it is due.
        if (!(error instanceof TransactionFailed && error.conditionFailed(0))) throw error
      })
      return { released: unparked, missing: missing + held.missing, hasMore }
    },

    /** Fails deliveries that were parked for thirty days, with the reason `retention`. */
    async failExpired(connectionId: string): Promise<{ failed: number; missing: number }> {
      const { unparked, missing } = await failAllExpired(connectionId, listParked)
      return { failed: unparked, missing }
    },
  }
}

export type WakeUps = ReturnType<typeof createWakeUps>

function countResults(results: readonly UnparkResult[]): UnparkCounts {
  const count = (wanted: UnparkResult) => results.filter((result) => result === wanted).length
  return { unparked: count('unparked'), missing: count('missing') }
}

function isHeld({ reason }: ParkedTask): boolean {
  return reason === 'paused' || reason === 'hold'
}

/**
 * Deliveries that cannot be attempted now leave the queue, so that they do not block the start of
 * a shard. A wake-up returns them.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import type { Connection } from '../connections/item.ts'
import type { ConnectionStore } from '../connections/store.ts'
import type { EventStore } from '../events/store.ts'
import type { TaskQueue } from '../queue/store.ts'
import { ParkedTaskItem, parkedTaskKey, storedTask, type WorkerTask } from '../queue/tasks.ts'
import type { StoreDeps } from '../stores.ts'
import { eventsTable } from '../tables.ts'
import { pendingState } from './state.ts'
import { MAX_PARKED_SECONDS, type Transitions } from './transition.ts'

/** A delivery that was parked for too long fails this long before its event expires. */
export const EXPIRY_NOTICE_SECONDS = 3_600

/** Held deliveries are checked for expiry at multiples of this time. */
const EXPIRY_STEP_MS = 1_800_000

export type ParkReason =
  /** Held until its owner resumes the connection, which writes a wake-up. */
  | { reason: 'paused' }
  /** A limit, an open breaker or secrets that cannot be decrypted; checked again at `wakeAt`. */
  | { reason: 'limit' | 'circuit' | 'keys'; wakeAt: number }

export interface ParkResult {
  kind:
    | 'parked'
    /** The event was deleted or has expired; the task was deleted. */
    | 'missing'
    /** Another worker has claimed the task. */
    | 'lease_lost'
    /** The connection was changed since it was read, so it may accept the delivery now. */
    | 'connection_changed'
    /** Another run has replaced the one of the task; the task was deleted. */
    | 'run_replaced'
}

export interface ParkingDeps extends Pick<StoreDeps, 'db' | 'clock'> {
  queue: TaskQueue
  events: EventStore
  transitions: Transitions
  connections: Pick<ConnectionStore, 'unchangedPart'>
}

export function createParking(deps: ParkingDeps) {
  const { db, clock, queue, events, transitions, connections } = deps
  const parkedTasks = entity(db, eventsTable, ParkedTaskItem)

  /** Held deliveries need no wake-up until they expire; many of them share one. */
  function expiryWakeUp(connectionId: string, retainUntil: number): Promise<TransactWriteItem> {
    const at = (retainUntil - EXPIRY_NOTICE_SECONDS) * 1000
    return queue.wakeUpPart(connectionId, at, { stepMs: EXPIRY_STEP_MS })
  }

  return {
    expiryWakeUp,

    /** `expected` is the connection as the decision to park saw it. */
    async park(
      task: WorkerTask,
      expected: Pick<Connection, 'connectionId' | 'sourceId' | 'rev'>,
      reason: ParkReason,
    ): Promise<ParkResult> {
      const { connectionId } = task
      const parkedAt = task.parkedAt ?? clock.now()
      const retainUntil = Math.ceil(parkedAt / 1000) + MAX_PARKED_SECONDS
      let isReplaced = false
      return retryOnConflict<ParkResult>(async () => {
        const event = await events.getForTask(task)
        const parts = [queue.completePart(task)]
        const isParked = event !== undefined && !isReplaced
        if (isParked) {
          const from = pendingState(task.attemptNumber)
          const place = parkedTaskKey.of({ ...task, parkedAt })
          const change = await transitions.prepare(event, {
            task,
            from,
            isNew: task.route !== undefined,
            to: reason.reason === 'paused' ? 'held' : from,
            reason: reason.reason,
            retainUntil,
            next: place,
          })
          const { PK: _pk, SK: _sk, dueAt: _due, leaseId: _lease, ...rest } = storedTask(task)
          parts.push(
            connections.unchangedPart(expected),
            ...change.parts,
            parkedTasks.part.put({
              ...rest,
              ...place,
              kind: 'wait',
              keptUntil: change.after.expiresAt,
              parkedAt,
              reason: reason.reason,
            }),
            reason.reason === 'paused'
              ? await expiryWakeUp(connectionId, retainUntil)
              : await queue.wakeUpPart(connectionId, reason.wakeAt),
          )
        }
        try {
          await transact(db, parts)
        } catch (error) {
          if (!(error instanceof TransactionFailed)) throw error
          if (error.conditionFailed(0)) return { kind: 'lease_lost' }
          if (error.conditionFailed(1)) return { kind: 'connection_changed' }
          isReplaced = error.conditionFailed(2)
          throw error
        }
        if (isParked) return { kind: 'parked' }
        return { kind: event ? 'run_replaced' : 'missing' }
      })
    },
  }
}

export type Parking = ReturnType<typeof createParking>

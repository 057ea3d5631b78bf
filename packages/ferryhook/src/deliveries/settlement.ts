/** Writes the outcome of a task and everything that follows from it in one transaction. */
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import type { EventStore } from '../events/store.ts'
import type { Event, LastAttempt } from '../events/item.ts'
import type { TaskQueue } from '../queue/store.ts'
import type { DeliveryTask } from '../queue/tasks.ts'
import type { StoreDeps } from '../stores.ts'
import type { SendOutcome } from '../outbound/exchange.ts'
import type { AttemptResult, AttemptStore } from './attempt-store.ts'
import { pendingState } from './state.ts'
import { expiryForAttempt, type Transitions } from './transition.ts'

export interface SettledAttempt extends AttemptResult {
  end: SendOutcome
  /** Of the retry schedule. */
  maxAttempts: number
}

export type AttemptOutcome =
  | { state: 'delivered'; attempt: SettledAttempt }
  | { state: 'retrying'; attempt: SettledAttempt; nextAt: number; reason?: string }
  | { state: 'failed'; attempt?: SettledAttempt; reason: string }
  | { state: 'filtered'; reason?: string }

export type SettleResult =
  /** `event` is the event after the write. */
  | { kind: 'settled'; event: Event }
  /** The event was deleted or has expired; the task was deleted. */
  | { kind: 'missing' }
  /** Another worker has claimed the task, so this outcome must not count. */
  | { kind: 'lease_lost' }
  /** Another run has replaced the one of the task; the task was deleted. */
  | { kind: 'run_replaced' }

export interface SettlementDeps extends Pick<StoreDeps, 'db'> {
  queue: TaskQueue
  events: EventStore
  transitions: Transitions
  attempts: AttemptStore
}

export function createSettlement(deps: SettlementDeps) {
  const { db, queue, events, transitions, attempts } = deps

  /** The task of the next attempt; its event is retained for at least an hour after that. */
  async function nextTask(task: DeliveryTask, nextAt: number, event: Event) {
    const keptUntil = Math.max(event.expiresAt, expiryForAttempt(nextAt))
    const { leaseId: _lease, claimedAt: _claimed, parkedAt: _parked, ...rest } = task
    const attemptNumber = task.attemptNumber + 1
    const next = await queue.deliveryTask({ ...rest, dueAt: nextAt, attemptNumber, keptUntil })
    // One transaction cannot delete and put the same key, which happens if the lease ends just then.
    if (next.SK !== task.SK || next.PK !== task.PK) return next
    return queue.deliveryTask({ ...rest, dueAt: nextAt + 1, attemptNumber, keptUntil })
  }

  return {
    /** Takes the event if the caller has it, which saves a read. */
    async settle(
      task: DeliveryTask,
      outcome: AttemptOutcome,
      loaded?: Event,
    ): Promise<SettleResult> {
      let cached = loaded
      let isReplaced = false
      return retryOnConflict<SettleResult>(async () => {
        const event = cached ?? (await events.getForTask(task))
        cached = undefined
        const parts = [queue.completePart(task)]
        let after: Event | undefined
        if (event && !isReplaced) {
          const attempt = 'attempt' in outcome ? outcome.attempt : undefined
          const next =
            outcome.state === 'retrying' ? await nextTask(task, outcome.nextAt, event) : undefined
          const change = await transitions.prepare(event, {
            task,
            from: pendingState(task.attemptNumber),
            to: outcome.state,
            reason: 'reason' in outcome ? outcome.reason : undefined,
            attemptsMade: task.attemptNumber - (attempt ? 0 : 1),
            attempt: attempt && summaryOf(attempt, task),
            claimedAt: task.claimedAt,
            ...(next && { retainUntil: next.keptUntil }),
            next,
          })
          after = change.after
          parts.push(...change.parts)
          if (next) parts.push(queue.deliveryPart(next))
          if (attempt) {
            const { connectionId, run } = task
            const input = { ...attempt, connectionId, run, expiresAt: after.expiresAt }
            parts.push(attempts.create(task.eventId, task.attemptNumber, input))
          }
        }
        try {
          await transact(db, parts)
        } catch (error) {
          if (!(error instanceof TransactionFailed)) throw error
          if (error.conditionFailed(0)) return { kind: 'lease_lost' }
          isReplaced = error.conditionFailed(1)
          throw error
        }
        if (after) return { kind: 'settled', event: after }
        return { kind: event ? 'run_replaced' : 'missing' }
      })
    },
  }
}

function summaryOf(attempt: SettledAttempt, task: DeliveryTask): LastAttempt {
  const { statusCode, latencyMs, attemptedAt, maxAttempts, end } = attempt
  const { connectionId, attemptNumber: number } = task
  return { connectionId, number, maxAttempts, statusCode, latencyMs, outcome: end, attemptedAt }
}

export type Settlement = ReturnType<typeof createSettlement>

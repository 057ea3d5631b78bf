/** What became of a task: its end and all that follows from it, in one transaction. */
import { transact } from '@strongroom/kit/entity'
import { stateBefore } from '../items/delivery-state.ts'
import type { Event } from '../items/event.ts'
import type { DeliveryTask } from '../items/task.ts'
import type { AttemptResult, Attempts } from './attempts.ts'
import { type DeliveryWriter, expiryForAttempt } from './delivery-writer.ts'
import type { DataLayerDeps } from './deps.ts'
import type { DueWork } from './due-work.ts'
import type { EventWriter } from './event-writer.ts'
import { Refused } from './refused.ts'
import type { TaskWriter } from './task-writer.ts'
import { optimistically } from './transaction.ts'

export type Outcome =
  | { state: 'delivered'; attempt: AttemptResult }
  | { state: 'retrying'; attempt: AttemptResult; nextAt: number; reason?: string }
  | { state: 'failed'; attempt?: AttemptResult; reason: string }
  | { state: 'filtered'; reason?: string }

export interface SettlingDeps extends Pick<DataLayerDeps, 'db'> {
  tasks: TaskWriter
  dueWork: DueWork
  writer: EventWriter
  deliveryWriter: DeliveryWriter
  attempts: Attempts
}

export function createSettling(deps: SettlingDeps) {
  const { db, tasks, dueWork, writer, deliveryWriter, attempts } = deps

  /** The task for the next attempt, kept at least an hour longer than that. */
  async function nextTask(task: DeliveryTask, nextAt: number, event: Event) {
    const keptUntil = Math.max(event.expiresAt, expiryForAttempt(nextAt))
    const { leaseId: _lease, claimedAt: _claimed, parkedAt: _parked, ...rest } = task
    const attemptNumber = task.attemptNumber + 1
    const next = await tasks.delivery({ ...rest, dueAt: nextAt, attemptNumber, keptUntil })
    // A transaction cannot both delete and put one item: the lease happens to end just then.
    if (next.SK !== task.SK || next.PK !== task.PK) return next
    return tasks.delivery({ ...rest, dueAt: nextAt + 1, attemptNumber, keptUntil })
  }

  return {
    /**
     * Refused with `lease_lost` if the task is somebody else's by now: what this worker did must not
     * count twice; with `run_replaced` if another run has taken the place of the task's, which ends
     * the task. A worker that has the event at hand spares a read, and is given it as it is now;
     * undefined if it is gone.
     */
    async settle(task: DeliveryTask, outcome: Outcome, known?: Event): Promise<Event | undefined> {
      let hint = known
      let isReplaced = false
      return optimistically<Event | undefined>(
        async () => {
          const event = hint ?? (await writer.needed(task))
          hint = undefined
          const end = dueWork.endPart(task)
          // Deleted by its owner, or by TTL after a time in which nothing ran: there is nothing left to write about.
          if (!event) {
            await transact(db, [end])
            return undefined
          }
          if (isReplaced) {
            await transact(db, [end])
            throw new Refused('run_replaced')
          }
          const attempt = 'attempt' in outcome ? outcome.attempt : undefined
          const next =
            outcome.state === 'retrying' ? await nextTask(task, outcome.nextAt, event) : undefined
          const change = await deliveryWriter.change(event, {
            task,
            from: stateBefore(task.attemptNumber),
            to: outcome.state,
            reason: 'reason' in outcome ? outcome.reason : undefined,
            attemptsMade: task.attemptNumber - (attempt ? 0 : 1),
            claimedAt: task.claimedAt,
            ...(next && { neededUntil: next.keptUntil }),
            next,
          })
          const parts = [end, ...change.parts]
          if (next) parts.push(tasks.putDelivery(next))
          if (attempt) parts.push(attempts.putPart(task, attempt, change.after.expiresAt))
          await transact(db, parts)
          return change.after
        },
        (failure) => {
          if (failure.conditionFailed(0)) throw new Refused('lease_lost', { cause: failure })
          isReplaced = failure.conditionFailed(1)
          return undefined
        },
      )
    },
  }
}

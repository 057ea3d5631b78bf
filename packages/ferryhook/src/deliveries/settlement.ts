/** Writes the outcomes of tasks and everything that follows from them in one transaction. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import type { EventStore } from '../events/store.ts'
import type { Event, LastAttempt } from '../events/item.ts'
import type { TaskQueue } from '../queue/store.ts'
import { type LeasedTask, storedTask, type WorkerTask } from '../queue/tasks.ts'
import type { StoreDeps } from '../stores.ts'
import type { SendOutcome } from '../outbound/exchange.ts'
import type { AttemptResult, AttemptStore } from './attempt-store.ts'
import { pendingState } from './state.ts'
import { expiryForAttempt, newDelivery, type Transition, type Transitions } from './transition.ts'

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

/**
 * `missing`: the event was deleted or has expired; the task was deleted.
 * `lease_lost`: another worker has claimed the task, so this outcome must not count.
 * `run_replaced`: another run has replaced the one of the task; the task was deleted.
 */
export type SettleResult = 'settled' | 'missing' | 'lease_lost' | 'run_replaced'

export interface TaskOutcome {
  task: WorkerTask
  outcome: AttemptOutcome
}

export interface SettleOptions {
  /** Saves a read. */
  event?: Event | undefined
  /**
   * Other tasks of the route task that the outcomes complete. They are stored now, leased as before,
   * because nothing stands for them any more.
   */
  siblings?: readonly LeasedTask[]
}

export interface Settled {
  /** In the order of the outcomes. */
  results: SettleResult[]
  /** The event after the write; undefined if it was not written. */
  event: Event | undefined
}

/** An outcome takes at most five parts, and a transaction 100. */
export const MAX_OUTCOMES = 16

export interface SettlementDeps extends Pick<StoreDeps, 'db' | 'clock'> {
  queue: TaskQueue
  events: EventStore
  transitions: Transitions
  attempts: AttemptStore
}

/** What is written for one outcome besides its delivery. */
interface Consequences {
  transition: Transition
  parts: (expiresAt: number) => TransactWriteItem[]
}

export function createSettlement(deps: SettlementDeps) {
  const { db, clock, queue, events, transitions, attempts } = deps

  /** The task of the next attempt; its event is retained for at least an hour after that. */
  async function nextTask(task: WorkerTask, nextAt: number, event: Event) {
    const keptUntil = Math.max(event.expiresAt, expiryForAttempt(nextAt))
    const { leaseId: _lease, claimedAt: _claimed, parkedAt: _parked, ...rest } = storedTask(task)
    const attemptNumber = task.attemptNumber + 1
    const next = await queue.deliveryTask({ ...rest, dueAt: nextAt, attemptNumber, keptUntil })
    // One transaction cannot delete and put the same key, which happens if the lease ends just then.
    if (next.SK !== task.SK || next.PK !== task.PK) return next
    return queue.deliveryTask({ ...rest, dueAt: nextAt + 1, attemptNumber, keptUntil })
  }

  async function consequences({ task, outcome }: TaskOutcome, event: Event): Promise<Consequences> {
    const attempt = 'attempt' in outcome ? outcome.attempt : undefined
    const next =
      outcome.state === 'retrying' ? await nextTask(task, outcome.nextAt, event) : undefined
    return {
      transition: {
        task,
        from: pendingState(task.attemptNumber),
        to: outcome.state,
        isNew: task.route !== undefined,
        reason: 'reason' in outcome ? outcome.reason : undefined,
        attemptsMade: task.attemptNumber - (attempt ? 0 : 1),
        attempt: attempt && summaryOf(attempt, task),
        claimedAt: task.claimedAt,
        ...(next && { retainUntil: next.keptUntil }),
        next,
      },
      parts(expiresAt) {
        const parts: TransactWriteItem[] = []
        if (next) parts.push(queue.deliveryPart(next))
        if (attempt) {
          const { connectionId, run } = task
          const input = { ...attempt, connectionId, run, expiresAt }
          parts.push(attempts.create(task.eventId, task.attemptNumber, input))
        }
        return parts
      },
    }
  }

  /** The parts that write outcomes and store siblings, and the event after them. */
  async function prepare(event: Event, settlings: readonly TaskOutcome[], siblings: LeasedTask[]) {
    const all = await Promise.all(settlings.map((settling) => consequences(settling, event)))
    const { parts, after } = await transitions.prepareAll(
      event,
      all.map(({ transition }) => transition),
      siblings.map((task) => newDelivery(task, clock.now())),
    )
    for (const each of all) parts.push(...each.parts(after.expiresAt))
    for (const task of siblings) parts.push(queue.deliveryPart(storedTask(task)))
    return { parts, after }
  }

  /** All outcomes and siblings are of one event. */
  async function settleAll(
    settlings: readonly TaskOutcome[],
    { event: loaded, siblings = [] }: SettleOptions = {},
  ): Promise<Settled> {
    const tasks: WorkerTask[] = [...settlings.map(({ task }) => task), ...siblings]
    const rejected = new Map<WorkerTask, 'lease_lost' | 'run_replaced'>()
    let cached = loaded
    let after: Event | undefined
    let isMissing = false
    await retryOnConflict(async () => {
      const held = tasks.filter((task) => rejected.get(task) !== 'lease_lost')
      const [first] = held
      if (!first) return
      const event = cached ?? (await events.getForTask(first))
      cached = undefined
      isMissing = event === undefined
      const outcomes = settlings.filter(({ task }) => event && !rejected.has(task))
      const stored = siblings.filter((task) => event && !rejected.has(task))
      const completed = completions(held)
      const parts = completed.map((task) => queue.completePart(task))
      const change =
        event && outcomes.length + stored.length > 0
          ? await prepare(event, outcomes, stored)
          : undefined
      try {
        await transact(db, [...parts, ...(change?.parts ?? [])])
      } catch (error) {
        if (!(error instanceof TransactionFailed)) throw error
        const written = [...outcomes.map(({ task }) => task), ...stored]
        for (const [index, task] of written.entries()) {
          if (error.conditionFailed(parts.length + index)) rejected.set(task, 'run_replaced')
        }
        for (const [index, task] of completed.entries()) {
          if (!error.conditionFailed(index)) continue
          // A route task stands for all of its tasks.
          const lost = task.route ? held.filter(({ route }) => route === task.route) : [task]
          for (const each of lost) rejected.set(each, 'lease_lost')
        }
        throw error
      }
      after = change?.after
    })
    const results = settlings.map(
      ({ task }) => rejected.get(task) ?? (isMissing ? 'missing' : 'settled'),
    )
    return { results, event: after }
  }

  return {
    settleAll,

    /** Takes the event if the caller has it, which saves a read. */
    async settle(task: WorkerTask, outcome: AttemptOutcome, event?: Event): Promise<SettleResult> {
      const { results } = await settleAll([{ task, outcome }], { event })
      return results[0] as SettleResult
    },
  }
}

/** The tasks whose completion a transaction contains: one of those that share a route task. */
function completions(tasks: readonly WorkerTask[]): WorkerTask[] {
  const routed = tasks.find(({ route }) => route)
  return tasks.filter((task) => !task.route || task === routed)
}

function summaryOf(attempt: SettledAttempt, task: WorkerTask): LastAttempt {
  const { statusCode, latencyMs, attemptedAt, maxAttempts, end } = attempt
  const { connectionId, attemptNumber: number } = task
  return { connectionId, number, maxAttempts, statusCode, latencyMs, outcome: end, attemptedAt }
}

export type Settlement = ReturnType<typeof createSettlement>

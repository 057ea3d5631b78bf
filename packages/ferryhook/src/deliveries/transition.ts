/** State changes of a delivery, with the update of its event that follows from them. */
import { epochSeconds } from '@strongroom/platform/clock'
import type { Item, TransactWriteItem } from '@strongroom/kit/db'
import type { ConnectionActivityStore } from '../connections/activity-store.ts'
import { type DeliveryState, moveCount } from './state.ts'
import { type Delivery, DeliveryItem, deliveryKey } from './item.ts'
import type { Event, LastAttempt } from '../events/item.ts'
import type { DeliveryTask } from '../queue/tasks.ts'
import { eventsTable } from '../tables.ts'
import type { AttemptStore } from './attempt-store.ts'
import type { StoreDeps } from '../stores.ts'
import type { EventChanges } from '../events/event-update.ts'
import type { EventStore } from '../events/store.ts'

/** An event is retained for this long after its next attempt. */
const RETENTION_AFTER_ATTEMPT_SECONDS = 3_600

/** After this a parked delivery fails. */
export const MAX_PARKED_SECONDS = 30 * 86_400

/** The earliest expiry of an event that is attempted at this time. */
export function expiryForAttempt(at: number): number {
  return Math.ceil(at / 1000) + RETENTION_AFTER_ATTEMPT_SECONDS
}

const TableName = eventsTable.name
const runAndState = { '#run': 'run', '#state': 'state' }
/** `run` alone does not identify a run: after TTL deleted a delivery, its replay starts at 1 again. */
const asRouted =
  'attribute_not_exists(PK) OR (#run = :run AND #state = :from AND attribute_not_exists(replayId))'
const asReplayed =
  'attribute_not_exists(PK) OR (#run = :run AND #state = :from AND replayId = :replay)'
/** The only value that needs validation: it comes from user scripts and filters. */
const { reason: reasonText } = DeliveryItem.shape

/** What a task contains of its delivery: enough to create the item. */
type TaskDelivery = Pick<
  DeliveryTask,
  | 'eventId'
  | 'connectionId'
  | 'sourceId'
  | 'userId'
  | 'receivedAt'
  | 'run'
  | 'replayId'
  | 'attemptNumber'
  | 'keptUntil'
>

export interface Transition {
  task: TaskDelivery
  from: DeliveryState
  to: DeliveryState
  /** Undefined removes an earlier one. */
  reason?: string | undefined
  /** Defaults to the attempts before the one of the task. */
  attemptsMade?: number
  /** The attempt that caused the transition. */
  attempt?: LastAttempt | undefined
  /** When a worker first claimed the task. */
  claimedAt?: number | undefined
  /** Until when event and delivery must be retained. The expiry is never shortened. */
  retainUntil?: number
  /** Where the task of the next attempt is stored; undefined if it is due now or there is none. */
  next?: { PK: string; SK: string; dueAt?: number } | undefined
}

export function createTransitions({
  clock,
  events,
  attempts,
  activity,
}: Pick<StoreDeps, 'clock'> & {
  events: EventStore
  attempts: Pick<AttemptStore, 'extendExpiryParts'>
  activity: Pick<ConnectionActivityStore, 'countPart'>
}) {
  return {
    /** For a result of `newDelivery`, whose values were validated where they came from. */
    createPart(delivery: Delivery): TransactWriteItem {
      return {
        Put: {
          TableName,
          Item: delivery as Item,
          ConditionExpression: 'attribute_not_exists(PK) OR expiresAt <= :now',
          ExpressionAttributeValues: { ':now': epochSeconds(clock) },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      }
    },

    /**
     * The parts of a transaction that changes the state, and the items after it. If the condition
     * of the first part fails although the task exists, another run has replaced the task's own.
     */
    async prepare(
      event: Event,
      transition: Transition,
    ): Promise<{ parts: TransactWriteItem[]; after: Event; delivery: Delivery }> {
      const { task, from, to, reason, attemptsMade, claimedAt, retainUntil = 0, next } = transition
      const { attempt } = transition
      const processedAt = earlier(event.processedAt, claimedAt)
      const changed = newDelivery(task, clock.now(), next)
      changed.state = to
      if (reason !== undefined) changed.reason = reasonText.parse(reason)
      changed.attemptsMade = attemptsMade ?? task.attemptNumber - 1
      const counts = moveCount(event.counts, { from, to })
      const eventChanges: EventChanges = { counts, expiresAt: retainUntil }
      if (processedAt !== undefined) eventChanges.processedAt = processedAt
      if (to === 'delivered') eventChanges.deliveredAt = clock.now()
      if (attempt && explainsStatus(attempt, event.lastAttempt)) eventChanges.lastAttempt = attempt
      const eventPart = events.updateStatus(event, eventChanges)
      const { expiresAt } = eventPart.after
      changed.expiresAt = expiresAt
      const put: TransactWriteItem = {
        Put: {
          TableName,
          Item: changed as Item,
          // Absent if TTL deleted it while another delivery extended the event. Its task still runs.
          ...(task.replayId === undefined
            ? {
                ConditionExpression: asRouted,
                ExpressionAttributeValues: { ':run': task.run, ':from': from },
              }
            : {
                ConditionExpression: asReplayed,
                ExpressionAttributeValues: {
                  ':run': task.run,
                  ':from': from,
                  ':replay': task.replayId,
                },
              }),
          ExpressionAttributeNames: runAndState,
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      }
      const parts = [put, ...eventPart.parts]
      // Nobody sees the counts of a deleted connection, and they would outlive its account.
      const isCounted = (to === 'delivered' || to === 'failed') && reason !== 'connection_deleted'
      if (isCounted) parts.push(activity.countPart(task, to))
      if (expiresAt > task.keptUntil)
        parts.push(...(await attempts.extendExpiryParts(task, expiresAt)))
      return { parts, after: eventPart.after, delivery: changed }
    },
  }
}

export type Transitions = ReturnType<typeof createTransitions>

/** A success does not hide the failure of another connection. */
function explainsStatus(attempt: LastAttempt, before: LastAttempt | undefined): boolean {
  if (!before || before.outcome === 'delivered' || attempt.outcome !== 'delivered') return true
  return before.connectionId === attempt.connectionId
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/** A delivery before its first attempt in a run. */
export function newDelivery(task: TaskDelivery, now: number, next?: Transition['next']): Delivery {
  const { eventId, connectionId, sourceId, userId, receivedAt, run, replayId, keptUntil } = task
  const { PK, SK } = deliveryKey.of(task)
  const delivery: Delivery = {
    PK,
    SK,
    eventId,
    connectionId,
    sourceId,
    userId,
    receivedAt,
    run,
    state: 'runnable',
    attemptsMade: 0,
    updatedAt: now,
    expiresAt: keptUntil,
  }
  // Assigned one by one: spreading is slow, and every delivery passes through here.
  if (replayId !== undefined) delivery.replayId = replayId
  if (next) delivery.waitsAt = { PK: next.PK, SK: next.SK }
  if (next?.dueAt !== undefined) delivery.nextAttemptAt = next.dueAt
  return delivery
}

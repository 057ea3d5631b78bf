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
  /** The delivery is not stored yet: a claimed route task stood for it. */
  isNew?: boolean
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
  /** For a result of `newDelivery`, whose values were validated where they came from. */
  function createPart(delivery: Delivery): TransactWriteItem {
    return {
      Put: {
        TableName,
        Item: delivery as Item,
        ConditionExpression: 'attribute_not_exists(PK) OR expiresAt <= :now',
        ExpressionAttributeValues: { ':now': epochSeconds(clock) },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    }
  }

  /**
   * The parts of a transaction that changes the states of deliveries of one event and creates others,
   * and the items after it. The first parts are the deliveries, in their order. If the condition of
   * one of them fails although its task exists, another run has replaced the task's own.
   */
  async function prepareAll(
    event: Event,
    transitions: readonly Transition[],
    created: readonly Delivery[] = [],
  ): Promise<{ parts: TransactWriteItem[]; after: Event; deliveries: Delivery[] }> {
    const changes = eventChanges(event, transitions, created, clock.now())
    const eventPart = events.updateStatus(event, changes)
    const { expiresAt } = eventPart.after
    const deliveries = transitions.map((transition) => changedDelivery(transition, expiresAt))
    const parts: TransactWriteItem[] = []
    for (const [index, delivery] of deliveries.entries()) {
      parts.push(changePart(delivery, transitions[index] as Transition))
    }
    for (const delivery of created) parts.push(createPart(delivery))
    parts.push(...eventPart.parts)
    for (const { task, to, reason } of transitions) {
      // Nobody sees the counts of a deleted connection, and they would outlive its account.
      const isCounted = (to === 'delivered' || to === 'failed') && reason !== 'connection_deleted'
      if (isCounted) parts.push(activity.countPart(task, to))
      if (expiresAt > task.keptUntil)
        parts.push(...(await attempts.extendExpiryParts(task, expiresAt)))
    }
    return { parts, after: eventPart.after, deliveries }
  }

  function changedDelivery(transition: Transition, expiresAt: number): Delivery {
    const { task, to, reason, attemptsMade, next } = transition
    const delivery = newDelivery(task, clock.now(), next)
    delivery.state = to
    if (reason !== undefined) delivery.reason = reasonText.parse(reason)
    delivery.attemptsMade = attemptsMade ?? task.attemptNumber - 1
    delivery.expiresAt = expiresAt
    return delivery
  }

  return {
    createPart,

    prepareAll,

    /** The same for one delivery. */
    async prepare(
      event: Event,
      transition: Transition,
    ): Promise<{ parts: TransactWriteItem[]; after: Event; delivery: Delivery }> {
      const { parts, after, deliveries } = await prepareAll(event, [transition])
      return { parts, after, delivery: deliveries[0] as Delivery }
    },
  }
}

export type Transitions = ReturnType<typeof createTransitions>

/** The state may be absent: TTL may have deleted it, or the outcome of a first attempt creates it. */
function changePart(delivery: Delivery, { task, from }: Transition): TransactWriteItem {
  const isRouted = task.replayId === undefined
  return {
    Put: {
      TableName,
      Item: delivery as Item,
      ConditionExpression: isRouted ? asRouted : asReplayed,
      ExpressionAttributeNames: runAndState,
      ExpressionAttributeValues: isRouted
        ? { ':run': task.run, ':from': from }
        : { ':run': task.run, ':from': from, ':replay': task.replayId as string },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }
}

/** What the event records of its deliveries. */
function eventChanges(
  event: Event,
  transitions: readonly Transition[],
  created: readonly Delivery[],
  now: number,
): EventChanges {
  let { counts, processedAt, lastAttempt } = event
  const changes: EventChanges = {}
  let expiresAt = 0
  for (const { from, to, isNew = false, attempt, claimedAt, retainUntil = 0 } of transitions) {
    counts = moveCount(counts, isNew ? { to } : { from, to })
    processedAt = earlier(processedAt, claimedAt)
    expiresAt = Math.max(expiresAt, retainUntil)
    if (to === 'delivered') changes.deliveredAt = now
    if (attempt && explainsStatus(attempt, lastAttempt)) {
      changes.lastAttempt = lastAttempt = attempt
    }
  }
  for (const delivery of created) {
    counts = moveCount(counts, { to: delivery.state })
    expiresAt = Math.max(expiresAt, delivery.expiresAt)
  }
  changes.counts = counts
  changes.expiresAt = expiresAt
  if (processedAt !== undefined) changes.processedAt = processedAt
  return changes
}

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

/** Changes of a delivery, together with what follows from them for its event. */
import { epochSeconds } from '@strongroom/kit/clock'
import type { Item, TransactWriteItem } from '@strongroom/kit/db'
import { type DeliveryState, moved } from '../items/delivery-state.ts'
import { type Delivery, DeliveryItem, deliveryKey } from '../items/delivery.ts'
import type { Event } from '../items/event.ts'
import type { DeliveryTask } from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { Attempts } from './attempts.ts'
import type { DataLayerDeps } from './deps.ts'
import type { EventChange, EventWriter } from './event-writer.ts'

/** Of the event that is to be attempted, how long it must be kept after that. */
const KEPT_AFTER_ATTEMPT_SECONDS = 3_600

/** How long a delivery may wait for its connection. */
export const LONGEST_WAIT_SECONDS = 30 * 86_400

/** The expiry that an attempt at this time needs. */
export function expiryForAttempt(at: number): number {
  return Math.ceil(at / 1000) + KEPT_AFTER_ATTEMPT_SECONDS
}

const TableName = eventsTable.name
const runAndState = { '#run': 'run', '#state': 'state' }
/** The number of a run does not tell it from another: a replay of one that TTL deleted counts anew. */
const asRouted =
  'attribute_not_exists(PK) OR (#run = :run AND #state = :from AND attribute_not_exists(replayId))'
const asReplayed =
  'attribute_not_exists(PK) OR (#run = :run AND #state = :from AND replayId = :replay)'
/** The only value that comes from outside. */
const { reason: reasonText } = DeliveryItem.shape

/** What the tasks of a delivery carry along, from which its item can be made. */
type KnownDelivery = Pick<
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

export interface DeliveryChange {
  /** The delivery, as its task knows it. */
  task: KnownDelivery
  from: DeliveryState
  to: DeliveryState
  /** Undefined ends an earlier one. */
  reason?: string | undefined
  /** All before the one of the task, unless told. */
  attemptsMade?: number
  /** When a worker first had the task. */
  claimedAt?: number | undefined
  /** Until when event and delivery are needed; nothing is ever kept shorter than before. */
  neededUntil?: number
  /** The task that waits for its next attempt, and for when; none if that is due now or never. */
  next?: { PK: string; SK: string; dueAt?: number } | undefined
}

export function createDeliveryWriter({
  clock,
  writer,
  attempts,
}: Pick<DataLayerDeps, 'clock'> & {
  writer: EventWriter
  attempts: Pick<Attempts, 'keepParts'>
}) {
  return {
    /** Of one that `newDelivery` made: its values were checked where they came from. */
    putPart(delivery: Delivery): TransactWriteItem {
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
     * The parts that move a delivery from state to state, and the event that results. If the
     * condition of the first does not hold although the task is there, another run has taken the
     * place of the one that the task is of.
     */
    async change(
      event: Event,
      change: DeliveryChange,
    ): Promise<{ parts: TransactWriteItem[]; after: Event; delivery: Delivery }> {
      const { task, from, to, reason, attemptsMade, claimedAt, neededUntil = 0, next } = change
      const processedAt = earlier(event.processedAt, claimedAt)
      const changed = newDelivery(task, clock.now(), next)
      changed.state = to
      if (reason !== undefined) changed.reason = reasonText.parse(reason)
      changed.attemptsMade = attemptsMade ?? task.attemptNumber - 1
      const counts = moved(event.counts, { from, to })
      const eventChange: EventChange = { counts, expiresAt: neededUntil }
      if (processedAt !== undefined) eventChange.processedAt = processedAt
      if (to === 'delivered') eventChange.deliveredAt = clock.now()
      const ofEvent = writer.change(event, eventChange)
      const { expiresAt } = ofEvent.after
      changed.expiresAt = expiresAt
      const put: TransactWriteItem = {
        Put: {
          TableName,
          Item: changed as Item,
          // Absent if TTL deleted it while another delivery kept the event: its task goes on all the same.
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
      const parts = [put, ...ofEvent.parts]
      if (expiresAt > task.keptUntil) parts.push(...(await attempts.keepParts(task, expiresAt)))
      return { parts, after: ofEvent.after, delivery: changed }
    },
  }
}

export type DeliveryWriter = ReturnType<typeof createDeliveryWriter>

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/** A delivery before its first attempt. */
export function newDelivery(
  task: KnownDelivery,
  now: number,
  next?: DeliveryChange['next'],
): Delivery {
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
  // One by one, because spreading is slow, and every delivery passes through here.
  if (replayId !== undefined) delivery.replayId = replayId
  if (next) delivery.waitsAt = { PK: next.PK, SK: next.SK }
  if (next?.dueAt !== undefined) delivery.nextAttemptAt = next.dueAt
  return delivery
}

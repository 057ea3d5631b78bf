/** Changes of a delivery, together with what follows from them for its event. */
import { epochSeconds } from '@strongroom/kit/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { type DeliveryState, moved } from '../items/delivery-state.ts'
import { type Delivery, DeliveryItem, deliveryKey } from '../items/delivery.ts'
import type { Event } from '../items/event.ts'
import type { DeliveryTask } from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { Attempts } from './attempts.ts'
import type { DataLayerDeps } from './deps.ts'
import type { EventWriter } from './event-writer.ts'

/** Of the event that is to be attempted, how long it must be kept after that. */
const KEPT_AFTER_ATTEMPT_SECONDS = 3_600

/** How long a delivery may wait for its connection. */
export const LONGEST_WAIT_SECONDS = 30 * 86_400

/** The expiry that an attempt at this time needs. */
export function expiryForAttempt(at: number): number {
  return Math.ceil(at / 1000) + KEPT_AFTER_ATTEMPT_SECONDS
}

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
  db,
  clock,
  writer,
  attempts,
}: Pick<DataLayerDeps, 'db' | 'clock'> & {
  writer: EventWriter
  attempts: Pick<Attempts, 'keepParts'>
}) {
  const deliveries = entity(db, eventsTable, DeliveryItem)

  return {
    putPart(delivery: Delivery): TransactWriteItem {
      const expired = expr`${deliveries.attr('expiresAt')} <= ${epochSeconds(clock)}`
      const absent = expr`attribute_not_exists(${deliveries.attr('PK')}) OR ${expired}`
      return deliveries.part.put(delivery, absent)
    },

    /** The parts that move a delivery from state to state, and the event that results. */
    async change(
      event: Event,
      change: DeliveryChange,
    ): Promise<{ parts: TransactWriteItem[]; after: Event; delivery: Delivery }> {
      const { task, from, to, reason, attemptsMade, claimedAt, neededUntil = 0, next } = change
      const expiresAt = Math.max(event.expiresAt, neededUntil)
      const processedAt = earlier(event.processedAt, claimedAt)
      const changed: Delivery = {
        ...newDelivery(task, clock.now(), next),
        state: to,
        ...(reason !== undefined && { reason }),
        attemptsMade: attemptsMade ?? task.attemptNumber - 1,
        expiresAt,
      }
      const { attr } = deliveries
      const before = expr`${attr('run')} = ${task.run} AND ${attr('state')} = ${from}`
      const ofEvent = writer.change(event, {
        counts: moved(event.counts, { from, to }),
        ...(processedAt !== undefined && { processedAt }),
        ...(to === 'delivered' && { deliveredAt: clock.now() }),
        expiresAt,
      })
      const parts = [
        // Absent if TTL deleted it while another delivery kept the event: its task goes on all the same.
        deliveries.part.put(changed, expr`attribute_not_exists(${attr('PK')}) OR (${before})`),
        ...ofEvent.parts,
      ]
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
  return {
    ...deliveryKey.of(task),
    eventId,
    connectionId,
    sourceId,
    userId,
    receivedAt,
    run,
    ...(replayId !== undefined && { replayId }),
    state: 'runnable',
    attemptsMade: 0,
    ...(next && { waitsAt: { PK: next.PK, SK: next.SK } }),
    ...(next?.dueAt !== undefined && { nextAttemptAt: next.dueAt }),
    updatedAt: now,
    expiresAt: keptUntil,
  }
}

/**
 * Actions of an owner on a pending delivery: hold, attempt now, cancel. Each takes the task in one
 * transaction, so either the action or a worker gets it.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { transact } from '@strongroom/kit/transact'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { isPending, pendingState } from './state.ts'
import { type Delivery, DeliveryItem, deliveryKey } from './item.ts'
import { isFirstAttempted } from '../events/current-status.ts'
import type { Event } from '../events/item.ts'
import {
  type DeliveryTask,
  DeliveryTaskItem,
  heldTaskKey,
  type ParkedTask,
  ParkedTaskItem,
} from '../queue/tasks.ts'
import { eventsTable } from '../tables.ts'
import type { AuditWriter, Audited } from '../accounts/audit/store.ts'
import { type Transitions, MAX_PARKED_SECONDS } from './transition.ts'
import { exists } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import type { TaskQueue } from '../queue/store.ts'
import type { EventStore } from '../events/store.ts'
import { unlessExpired } from '../storage/time.ts'
import type { Parking } from './parking.ts'

export interface DeliveryActionsDeps extends Pick<StoreDeps, 'db' | 'clock'> {
  queue: TaskQueue
  events: EventStore
  transitions: Transitions
  parking: Pick<Parking, 'expiryWakeUp'>
  audit: AuditWriter
}

export interface DeliveryId {
  eventId: string
  connectionId: string
}

/** A delivery whose task is where the delivery says. */
export interface ParkedDelivery {
  delivery: Delivery
  task: DeliveryTask | ParkedTask
}

/** `in_progress`: an attempt is running or about to start. */
export interface ActionRejected {
  kind: 'not_found' | 'run_ended' | 'in_progress'
}

export type ActionResult = { kind: 'changed'; delivery: Delivery } | ActionRejected

export function createDeliveryActions(deps: DeliveryActionsDeps) {
  const { db, clock, queue, events, transitions, audit } = deps
  const deliveries = entity(db, eventsTable, DeliveryItem)
  const due = entity(db, eventsTable, DeliveryTaskItem)
  const parkedTasks = entity(db, eventsTable, ParkedTaskItem)

  async function get(id: DeliveryId): Promise<Delivery | undefined> {
    return unlessExpired(clock, await deliveries.get(deliveryKey.of(id)))
  }

  async function find(
    id: DeliveryId,
  ): Promise<({ kind: 'found' } & ParkedDelivery) | ActionRejected> {
    let delivery = await get(id)
    if (!delivery) {
      const event = await events.getById(id.eventId)
      if (event && isFirstAttempted(event)) return { kind: 'in_progress' }
      // The first outcome, which stores the delivery, may have been written between the two reads.
      delivery = event ? await get(id) : undefined
      if (!delivery) return { kind: 'not_found' }
    }
    if (!isPending(delivery.state)) return { kind: 'run_ended' }
    const { waitsAt } = delivery
    const isDue = waitsAt?.PK.startsWith('DUE#') ?? false
    const task = waitsAt && (isDue ? await due.get(waitsAt) : await parkedTasks.get(waitsAt))
    const isUnclaimed = task?.run === delivery.run && !('leaseId' in task)
    if (!task || !isUnclaimed) return { kind: 'in_progress' }
    return { kind: 'found', delivery, task }
  }

  /** Removes the task and writes the change in one transaction; undefined changes nothing. */
  async function take(
    { eventId, connectionId }: DeliveryId,
    { by }: Audited,
    toChange: (found: ParkedDelivery, event: Event) => Promise<Change | undefined>,
  ): Promise<ActionResult> {
    return retryOnConflict(async () => {
      const found = await find({ eventId, connectionId })
      if (found.kind !== 'found') return found
      const event = await events.get(found.delivery)
      if (!event) return { kind: 'not_found' }
      const { task } = found
      const end =
        task.kind === 'deliver'
          ? queue.completePart(task)
          : parkedTasks.part.delete({ PK: task.PK, SK: task.SK }, exists)
      const change = await toChange(found, event)
      if (!change) return { kind: 'changed', delivery: found.delivery }
      const { userId } = found.delivery
      const logged = audit.parts(by, { userId, target: `${eventId}/${connectionId}` })
      await transact(db, [end, ...change.parts, ...logged])
      return { kind: 'changed', delivery: change.delivery }
    })
  }

  return {
    find,

    /** Makes it due now, in the state it had before it was held. */
    attemptNow: (id: DeliveryId, logged: Audited = {}): Promise<ActionResult> =>
      take(id, logged, async ({ delivery, task }, event) => {
        const next = await queue.deliveryTask({ ...deliveryFields(task), dueAt: dueNow(task) })
        const { state: from } = delivery
        const to = pendingState(task.attemptNumber)
        const reason = from === to ? delivery.reason : undefined
        const change = await transitions.prepare(event, { task, from, to, reason })
        return { parts: [queue.deliveryPart(next), ...change.parts], delivery: change.delivery }
      }),

    /** Held until its owner releases it; a wake-up of its connection does not. Fails after thirty days. */
    hold: (id: DeliveryId, logged: Audited = {}): Promise<ActionResult> =>
      take(id, logged, async ({ delivery, task }, event) => {
        if (task.kind === 'wait' && task.reason === 'hold') return undefined
        const parkedAt = clock.now()
        const retainUntil = Math.ceil(parkedAt / 1000) + MAX_PARKED_SECONDS
        const place = heldTaskKey.of({ ...id, parkedAt })
        const change = await transitions.prepare(event, {
          task,
          from: delivery.state,
          to: 'held',
          reason: 'hold',
          retainUntil,
          next: place,
        })
        const held: ParkedTask = {
          ...deliveryFields(task),
          ...place,
          kind: 'wait',
          keptUntil: change.after.expiresAt,
          parkedAt,
          reason: 'hold',
        }
        const wake = await deps.parking.expiryWakeUp(id.connectionId, retainUntil)
        return {
          parts: [parkedTasks.part.put(held), wake, ...change.parts],
          delivery: change.delivery,
        }
      }),

    /** Fails the run with the reason `cancelled`. */
    cancel: (id: DeliveryId, logged: Audited = {}): Promise<ActionResult> =>
      take(id, logged, async ({ delivery, task }, event) => {
        const reason = 'cancelled'
        const from = delivery.state
        return transitions.prepare(event, { task, from, to: 'failed', reason })
      }),
  }

  /** One transaction cannot delete and put the same key, which happens if the task is due just now. */
  function dueNow(task: DeliveryTask | ParkedTask): number {
    const now = clock.now()
    return task.kind === 'deliver' && task.dueAt === now ? now + 1 : now
  }
}

interface Change {
  parts: TransactWriteItem[]
  delivery: Delivery
}

/** The fields of a task that do not depend on where it is stored. */
function deliveryFields(task: DeliveryTask | ParkedTask) {
  const { eventId, sourceId, userId, receivedAt, connectionId, run } = task
  const { replayId, attemptNumber, keptUntil, claimedAt, parkedAt } = task
  return {
    eventId,
    sourceId,
    userId,
    receivedAt,
    connectionId,
    run,
    ...(replayId !== undefined && { replayId }),
    attemptNumber,
    keptUntil,
    ...(claimedAt !== undefined && { claimedAt }),
    ...(parkedAt !== undefined && { parkedAt }),
  }
}

export type DeliveryActions = ReturnType<typeof createDeliveryActions>

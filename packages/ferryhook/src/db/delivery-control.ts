/**
 * What the owner of an event does to a delivery that waits: holds it, lets it go, has it attempted
 * now, or ends it. Each is one transaction with the task, which either its worker gets or we.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { isOpen, stateBefore } from '../items/delivery-state.ts'
import { type Delivery, DeliveryItem, deliveryKey } from '../items/delivery.ts'
import type { Event } from '../items/event.ts'
import {
  type DeliveryTask,
  DeliveryTaskItem,
  heldTaskKey,
  type WaitingTask,
  WaitingTaskItem,
} from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { AuditParts, Logged } from './audit.ts'
import { type DeliveryWriter, LONGEST_WAIT_SECONDS } from './delivery-writer.ts'
import type { DataLayerDeps } from './deps.ts'
import type { DueWork } from './due-work.ts'
import type { EventWriter } from './event-writer.ts'
import { Refused } from './refused.ts'
import type { TaskWriter } from './task-writer.ts'
import { live } from './times.ts'
import { optimistically } from './transaction.ts'
import type { Waiting } from './waiting.ts'

export interface DeliveryControlDeps extends Pick<DataLayerDeps, 'db' | 'clock'> {
  tasks: TaskWriter
  dueWork: Pick<DueWork, 'endPart'>
  writer: EventWriter
  deliveryWriter: DeliveryWriter
  waiting: Pick<Waiting, 'overstayWake'>
  audit: AuditParts
}

export interface DeliveryName {
  eventId: string
  connectionId: string
}

/** A delivery whose task lies where it was put to wait. */
export interface WaitingDelivery {
  delivery: Delivery
  task: DeliveryTask | WaitingTask
}

export function createDeliveryControl(deps: DeliveryControlDeps) {
  const { db, clock, tasks, dueWork, writer, deliveryWriter, audit } = deps
  const deliveries = entity(db, eventsTable, DeliveryItem)
  const due = entity(db, eventsTable, DeliveryTaskItem)
  const waiting = entity(db, eventsTable, WaitingTaskItem)
  const exists = expr`attribute_exists(${waiting.attr('PK')})`

  /**
   * Refused with `not_found`, with `run_ended` if there is nothing to wait for any more, and with
   * `in_progress` if an attempt is under way or about to begin.
   */
  async function find(name: DeliveryName): Promise<WaitingDelivery> {
    const delivery = live(clock, await deliveries.get(deliveryKey.of(name)))
    if (!delivery) throw new Refused('not_found')
    if (!isOpen(delivery.state)) throw new Refused('run_ended')
    const { waitsAt } = delivery
    const isDue = waitsAt?.PK.startsWith('DUE#') ?? false
    const task = waitsAt && (isDue ? await due.get(waitsAt) : await waiting.get(waitsAt))
    const isAsKnown = task?.run === delivery.run && !('leaseId' in task)
    if (!task || !isAsKnown) throw new Refused('in_progress')
    return { delivery, task }
  }

  /** Takes the task from where it waits, together with what `then` makes of it, if anything. */
  async function take(
    { eventId, connectionId }: DeliveryName,
    { by }: Logged,
    then: (found: WaitingDelivery, event: Event) => Promise<Move | undefined>,
  ): Promise<Delivery> {
    return optimistically(async () => {
      const found = await find({ eventId, connectionId })
      const event = await writer.read(found.delivery)
      if (!event) throw new Refused('not_found')
      const { task } = found
      const end =
        task.kind === 'deliver'
          ? dueWork.endPart(task)
          : waiting.part.delete({ PK: task.PK, SK: task.SK }, exists)
      const move = await then(found, event)
      if (!move) return found.delivery
      const { userId } = found.delivery
      const logged = audit.parts(by, { userId, target: `${eventId}/${connectionId}` })
      await transact(db, [end, ...move.parts, ...logged])
      return move.delivery
    })
  }

  return {
    find,

    /** Due now, in the state it had before it was held. */
    attemptNow: (name: DeliveryName, logged: Logged = {}): Promise<Delivery> =>
      take(name, logged, async ({ delivery, task }, event) => {
        const next = await tasks.delivery({ ...withoutPlace(task), dueAt: dueNow(task) })
        const { state: from } = delivery
        const to = stateBefore(task.attemptNumber)
        const reason = from === to ? delivery.reason : undefined
        const change = await deliveryWriter.change(event, { task, from, to, reason })
        return { parts: [tasks.putDelivery(next), ...change.parts], delivery: change.delivery }
      }),

    /** Until its owner lets it go; a wake of its connection does not. Fails after thirty days. */
    hold: (name: DeliveryName, logged: Logged = {}): Promise<Delivery> =>
      take(name, logged, async ({ delivery, task }, event) => {
        if (task.kind === 'wait' && task.reason === 'hold') return undefined
        const parkedAt = clock.now()
        const neededUntil = Math.ceil(parkedAt / 1000) + LONGEST_WAIT_SECONDS
        const place = heldTaskKey.of({ ...name, parkedAt })
        const change = await deliveryWriter.change(event, {
          task,
          from: delivery.state,
          to: 'held',
          reason: 'hold',
          neededUntil,
          next: place,
        })
        const held: WaitingTask = {
          ...withoutPlace(task),
          ...place,
          kind: 'wait',
          keptUntil: change.after.expiresAt,
          parkedAt,
          reason: 'hold',
        }
        const wake = await deps.waiting.overstayWake(name.connectionId, neededUntil)
        return { parts: [waiting.part.put(held), wake, ...change.parts], delivery: change.delivery }
      }),

    /** Ends the run as failed, with the reason `cancelled`. */
    cancel: (name: DeliveryName, logged: Logged = {}): Promise<Delivery> =>
      take(name, logged, async ({ delivery, task }, event) => {
        const reason = 'cancelled'
        const from = delivery.state
        return deliveryWriter.change(event, { task, from, to: 'failed', reason })
      }),
  }

  /** A transaction cannot both delete and put one item: the task happens to be due just now. */
  function dueNow(task: DeliveryTask | WaitingTask): number {
    const now = clock.now()
    return task.kind === 'deliver' && task.dueAt === now ? now + 1 : now
  }
}

interface Move {
  parts: TransactWriteItem[]
  delivery: Delivery
}

/** What a task says of its delivery, wherever it lies. */
function withoutPlace(task: DeliveryTask | WaitingTask) {
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

export type DeliveryControl = ReturnType<typeof createDeliveryControl>

import { epochSeconds } from '@strongroom/kit/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { countsOf, isOpen, moved, stateBefore } from '../items/delivery-state.ts'
import { type Delivery, DeliveryItem, deliveryKey } from '../items/delivery.ts'
import { isUnverified } from '../items/event.ts'
import type { DeliveryTask } from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { Attempts } from './attempts.ts'
import { expiryForAttempt } from './delivery-writer.ts'
import type { DataLayerDeps } from './deps.ts'
import type { EventWriter } from './event-writer.ts'
import type { Events } from './events.ts'
import { Refused } from './refused.ts'
import type { TaskWriter } from './task-writer.ts'
import { isLive, live } from './times.ts'
import { optimistically } from './transaction.ts'

export interface ReplayOptions {
  /** One for all that is replayed together; a new one unless told. */
  replayId?: string
  /** Somebody who may has looked at an event that failed verification, and wants it delivered. */
  acceptUnverified?: boolean
  /** Parts of the transaction, such as an entry of the audit log that is one for many replays. */
  also?: readonly TransactWriteItem[]
}

export interface DeliveriesDeps extends Pick<DataLayerDeps, 'db' | 'clock'> {
  tasks: TaskWriter
  writer: EventWriter
  events: Pick<Events, 'getCurrent'>
  attempts: Pick<Attempts, 'keepParts'>
}

export function createDeliveries(deps: DeliveriesDeps) {
  const { db, clock, tasks, writer, events, attempts } = deps
  const deliveries = entity(db, eventsTable, DeliveryItem)

  async function get(eventId: string, connectionId: string): Promise<Delivery | null> {
    return live(clock, await deliveries.get(deliveryKey.of({ eventId, connectionId }))) ?? null
  }

  /** With those that have expired and are still there, if wanted. */
  async function listByEvent(
    eventId: string,
    { expired = false }: { expired?: boolean } = {},
  ): Promise<Delivery[]> {
    const { PK, SK } = deliveryKey.of({ eventId, connectionId: '' })
    const { items } = await deliveries.query({
      key: expr`${deliveries.attr('PK')} = ${PK} AND begins_with(${deliveries.attr('SK')}, ${SK})`,
    })
    return expired ? items : items.filter((delivery) => isLive(clock, delivery))
  }

  return {
    get,

    listByEvent,

    /** Whether another run has taken the place of the task's, after TTL had deleted the delivery. */
    async isReplaced(task: DeliveryTask): Promise<boolean> {
      // Before that the delivery is there, and says no to a replay while its task is.
      if (task.keptUntil > epochSeconds(clock)) return false
      const now = await deliveries.get(deliveryKey.of(task))
      if (!now) return false
      const isSame = now.run === task.run && now.replayId === task.replayId
      return !isSame || now.state !== stateBefore(task.attemptNumber)
    },

    /**
     * Delivers again, or for the first time to a connection that was not there then: a new run, due
     * now. Refused with `run_open` while a run is under way, so that of many replays one happens; what
     * this very replay has begun is given as it is. Refused with `unverified` if nobody vouches for
     * the event.
     */
    async replay(
      eventId: string,
      connectionId: string,
      { replayId = newId('rpl'), acceptUnverified = false, also = [] }: ReplayOptions = {},
    ): Promise<Delivery> {
      return optimistically(async () => {
        const event = await events.getCurrent(eventId)
        if (!event) throw new Refused('not_found')
        const unverified = isUnverified(event)
        if (unverified && !acceptUnverified) throw new Refused('unverified')
        // One that has expired while its task is open goes on as soon as a worker comes to it. If TTL
        // has deleted it nobody knows of the task, which ends when it finds this run in its place.
        const all = (await listByEvent(eventId, { expired: true })).filter(
          (delivery) => isLive(clock, delivery) || isOpen(delivery.state),
        )
        const before = all.find((delivery) => delivery.connectionId === connectionId)
        if (before?.replayId === replayId) return before
        if (before && isOpen(before.state)) throw new Refused('run_open')

        const now = clock.now()
        const { sourceId, userId, receivedAt } = event
        const expiresAt = Math.max(event.expiresAt, expiryForAttempt(now))
        const replayed: Delivery = {
          ...deliveryKey.of({ eventId, connectionId }),
          eventId,
          connectionId,
          sourceId,
          userId,
          receivedAt,
          run: (before?.run ?? 0) + 1,
          replayId,
          state: 'runnable',
          attemptsMade: 0,
          updatedAt: now,
          expiresAt,
        }
        const [run, state] = [deliveries.attr('run'), deliveries.attr('state')]
        const unchanged = before
          ? expr`${run} = ${before.run} AND ${state} = ${before.state}`
          : expr`attribute_not_exists(${run}) OR ${deliveries.attr('expiresAt')} <= ${epochSeconds(clock)}`
        const task = await tasks.delivery({
          eventId,
          connectionId,
          sourceId,
          userId,
          receivedAt,
          run: replayed.run,
          replayId,
          attemptNumber: 1,
          keptUntil: expiresAt,
          dueAt: now,
        })
        // Counted anew: deliveries may have expired before an event that others kept longer.
        const others = all.filter((delivery) => delivery !== before)
        const counts = moved(countsOf(others), { to: 'runnable' })
        const kept = before?.expiresAt ?? expiresAt
        await transact(db, [
          deliveries.part.put(replayed, unchanged),
          tasks.putDelivery(task),
          ...writer.change(event, {
            counts,
            replayedAt: now,
            ...(unverified && { unverified: true }),
            expiresAt,
          }).parts,
          ...(expiresAt > kept ? await attempts.keepParts(replayed, expiresAt) : []),
          ...also,
        ])
        return replayed
      })
    },
  }
}

export type Deliveries = ReturnType<typeof createDeliveries>

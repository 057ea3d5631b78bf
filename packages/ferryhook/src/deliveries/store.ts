import { epochSeconds } from '@strongroom/platform/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { transact } from '@strongroom/kit/transact'
import { expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { countsOf, isPending, moveCount, pendingState } from './state.ts'
import { type Delivery, DeliveryItem, deliveryKey } from './item.ts'
import { isFirstAttempted } from '../events/current-status.ts'
import { isUnverified } from '../events/item.ts'
import type { DeliveryTask } from '../queue/tasks.ts'
import { eventsTable } from '../tables.ts'
import type { AttemptStore } from './attempt-store.ts'
import { expiryForAttempt } from './transition.ts'
import type { StoreDeps } from '../stores.ts'
import type { EventStore } from '../events/store.ts'
import type { TaskQueue } from '../queue/store.ts'
import { isUnexpired, unlessExpired } from '../storage/time.ts'

export interface ReplayOptions {
  /** Shared by all deliveries of one replay; defaults to a new one. */
  replayId?: string
  /** Replays an event that failed verification. */
  acceptUnverified?: boolean
  /** Further parts of the transaction, such as an audit log entry shared by many replays. */
  extraParts?: readonly TransactWriteItem[]
}

/** `run_open`: a run is pending, or a worker makes the first attempts. `unverified`: the event failed verification and is not accepted. */
export type ReplayDeliveryResult =
  | { kind: 'started'; delivery: Delivery }
  | { kind: 'not_found' | 'run_open' | 'unverified' }

export interface DeliveryStoreDeps extends Pick<StoreDeps, 'db' | 'clock'> {
  queue: TaskQueue
  events: EventStore
  attempts: Pick<AttemptStore, 'extendExpiryParts'>
}

export function createDeliveryStore(deps: DeliveryStoreDeps) {
  const { db, clock, queue, events, attempts } = deps
  const deliveries = entity(db, eventsTable, DeliveryItem)

  async function get(eventId: string, connectionId: string): Promise<Delivery | null> {
    return (
      unlessExpired(clock, await deliveries.get(deliveryKey.of({ eventId, connectionId }))) ?? null
    )
  }

  async function listByEvent(
    eventId: string,
    { includeExpired = false }: { includeExpired?: boolean } = {},
  ): Promise<Delivery[]> {
    const { PK, SK } = deliveryKey.of({ eventId, connectionId: '' })
    const { items } = await deliveries.query({
      key: expr`${deliveries.attr('PK')} = ${PK} AND begins_with(${deliveries.attr('SK')}, ${SK})`,
    })
    return includeExpired ? items : items.filter((delivery) => isUnexpired(clock, delivery))
  }

  return {
    get,

    listByEvent,

    /** Whether another run has replaced the one of the task, after TTL deleted the delivery. */
    async isReplaced(task: DeliveryTask): Promise<boolean> {
      // Until then the delivery exists, and rejects a replay while its task does.
      if (task.keptUntil > epochSeconds(clock)) return false
      const now = await deliveries.get(deliveryKey.of(task))
      if (!now) return false
      const isSame = now.run === task.run && now.replayId === task.replayId
      return !isSame || now.state !== pendingState(task.attemptNumber)
    },

    /**
     * Starts a new run that is due now, also to a connection that is newer than the event. One of
     * several concurrent replays succeeds; a delivery of the same replay is returned unchanged.
     */
    async replay(
      eventId: string,
      connectionId: string,
      { replayId = newId('rpl'), acceptUnverified = false, extraParts = [] }: ReplayOptions = {},
    ): Promise<ReplayDeliveryResult> {
      return retryOnConflict(async () => {
        const event = await events.getById(eventId)
        if (!event) return { kind: 'not_found' }
        const unverified = isUnverified(event)
        if (unverified && !acceptUnverified) return { kind: 'unverified' }
        if (isFirstAttempted(event)) return { kind: 'run_open' }
        // An expired delivery with a pending task continues when a worker claims the task. If TTL has
        // deleted the delivery, its task ends when it finds this run.
        const all = (await listByEvent(eventId, { includeExpired: true })).filter(
          (delivery) => isUnexpired(clock, delivery) || isPending(delivery.state),
        )
        const before = all.find((delivery) => delivery.connectionId === connectionId)
        if (before?.replayId === replayId) return { kind: 'started', delivery: before }
        if (before && isPending(before.state)) return { kind: 'run_open' }

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
        const task = await queue.deliveryTask({
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
        // Counted again: deliveries may have expired before an event that others extended.
        const others = all.filter((delivery) => delivery !== before)
        const counts = moveCount(countsOf(others), { to: 'runnable' })
        const currentExpiry = before?.expiresAt ?? expiresAt
        // A worker that claims the event at the same time makes an attempt of its own.
        const unclaimed = event.status === 'received' ? [await queue.unclaimedPart(event)] : []
        await transact(db, [
          ...unclaimed,
          deliveries.part.put(replayed, unchanged),
          queue.deliveryPart(task),
          ...events.updateStatus(event, {
            counts,
            replayedAt: now,
            ...(unverified && { unverified: true }),
            expiresAt,
          }).parts,
          ...(expiresAt > currentExpiry
            ? await attempts.extendExpiryParts(replayed, expiresAt)
            : []),
          ...extraParts,
        ])
        return { kind: 'started', delivery: replayed }
      })
    },
  }
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

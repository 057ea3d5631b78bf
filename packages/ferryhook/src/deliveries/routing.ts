/**
 * Creates the deliveries of an event that cannot all be attempted immediately. It needs no lease: only
 * missing deliveries are created, so two workers, or a worker after a crash, get the same result.
 */
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import type { EventStore } from '../events/store.ts'
import type { Event } from '../events/item.ts'
import type { TaskQueue } from '../queue/store.ts'
import { type DeliveryTask, isClaimed, type RouteTask, RouteTaskItem } from '../queue/tasks.ts'
import { exists } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import { eventsTable } from '../tables.ts'
import type { Delivery } from './item.ts'
import { derivedStatus } from './state.ts'
import type { DeliveryStore } from './store.ts'
import { expiryForAttempt, newDelivery, type Transitions } from './transition.ts'

/** Two items for each connection and a few more; a transaction takes 100. */
const CONNECTION_BATCH = 40

/** A connection of the event's source. */
export interface RouteTarget {
  connectionId: string
  /** Why the event is filtered; the delivery is then created without a task. */
  filtered?: string | undefined
  /** When the first attempt is due; defaults to now. */
  dueAt?: number | undefined
}

export interface RouteOptions {
  leaseUntil?: number | undefined
  /** Saves a read. */
  event?: Event | undefined
  /** Why there is no connection. */
  unrouted?: string | undefined
}

export interface RouteResult {
  /** The tasks that this call created. */
  tasks: DeliveryTask[]
  /** The event after the write; undefined if another worker completed the task. */
  event: Event | undefined
}

export interface RoutingDeps extends Pick<StoreDeps, 'db' | 'clock'> {
  queue: TaskQueue
  events: EventStore
  transitions: Transitions
  deliveries: Pick<DeliveryStore, 'listByEvent'>
}

export function createRouting(deps: RoutingDeps) {
  const { db, clock, queue, events, transitions, deliveries } = deps
  const routes = entity(db, eventsTable, RouteTaskItem)

  /**
   * Creates a delivery for each connection, with its task unless it is filtered, and completes the
   * route task with the last batch. With `leaseUntil`, tasks that are due are leased to the caller.
   */
  async function route(
    task: RouteTask,
    targets: readonly RouteTarget[],
    { leaseUntil, event: loaded, unrouted }: RouteOptions = {},
  ): Promise<RouteResult> {
    const key = { PK: task.PK, SK: task.SK }
    const unchanged = isClaimed(task)
      ? expr`${routes.attr('leaseId')} = ${task.leaseId}`
      : expr`${exists} AND attribute_not_exists(${routes.attr('leaseId')})`
    const created: DeliveryTask[] = []
    let event = loaded

    /** True if connections remain for the next batch. */
    async function routeBatch(): Promise<boolean> {
      const before = event ?? (await events.getForTask(task))
      event = undefined
      // Nothing is created for a deleted or expired event.
      const missing = before ? await withoutDelivery(before, targets) : []
      const batch = missing.slice(0, CONNECTION_BATCH)
      const isLast = batch.length === missing.length
      const put = before ? await newDeliveries(before, batch, leaseUntil) : []
      const change = before && prepareEvent(before, put, { leaseUntil, unrouted, targets })
      try {
        await transact(db, [
          isLast ? queue.completePart(task) : routes.part.check(key, unchanged),
          ...(change?.parts ?? []),
          ...put.flatMap(({ delivery, task: due }) => [
            transitions.createPart(delivery),
            ...(due ? [queue.deliveryPart(due)] : []),
          ]),
        ])
      } catch (error) {
        // Another worker has completed the route task.
        if (error instanceof TransactionFailed && error.conditionFailed(0)) return false
        throw error
      }
      event = change?.after ?? before
      created.push(...put.flatMap(({ task: due }) => due ?? []))
      return !isLast
    }

    while (await retryOnConflict(routeBatch));
    return { tasks: created, event }
  }

  /** Connections that have no delivery of the event yet. */
  async function withoutDelivery(event: Event, targets: readonly RouteTarget[]) {
    if (!derivedStatus(event.counts)) return targets
    const existing = await deliveries.listByEvent(event.eventId, { includeExpired: true })
    const has = new Set(existing.map(({ connectionId }) => connectionId))
    return targets.filter(({ connectionId }) => !has.has(connectionId))
  }

  function newDeliveries(
    event: Event,
    targets: readonly RouteTarget[],
    leaseUntil: number | undefined,
  ) {
    const now = clock.now()
    const { eventId, sourceId, userId, receivedAt } = event
    return Promise.all(
      targets.map(async ({ connectionId, filtered, dueAt = now }) => {
        const isLater = dueAt > now
        const task = await queue.deliveryTask({
          eventId,
          sourceId,
          userId,
          receivedAt,
          connectionId,
          run: 1,
          attemptNumber: 1,
          keptUntil: Math.max(event.expiresAt, expiryForAttempt(isLater ? dueAt : now)),
          dueAt: isLater ? dueAt : (leaseUntil ?? now),
          ...(leaseUntil !== undefined && !isLater && { leaseId: newId('lse'), claimedAt: now }),
        })
        if (filtered === undefined) {
          return { delivery: newDelivery(task, now, isLater ? task : undefined), task }
        }
        const delivery = newDelivery(task, now)
        return { delivery: { ...delivery, state: 'filtered' as const, reason: filtered } }
      }),
    )
  }

  function prepareEvent(
    event: Event,
    put: { delivery: Delivery }[],
    { leaseUntil, unrouted, targets }: RouteOptions & { targets: readonly RouteTarget[] },
  ) {
    if (targets.length === 0 && !derivedStatus(event.counts)) {
      return events.updateStatus(event, {
        status: 'unrouted',
        ...(unrouted !== undefined && { reason: unrouted }),
      })
    }
    if (put.length === 0) return undefined
    const counts = { ...event.counts }
    for (const { delivery } of put) counts[delivery.state] += 1
    return events.updateStatus(event, {
      counts,
      ...(leaseUntil !== undefined && { processedAt: event.processedAt ?? clock.now() }),
      expiresAt: Math.max(...put.map(({ delivery }) => delivery.expiresAt)),
    })
  }

  return { route }
}

/**
 * Turns an event into deliveries. Without a lease: whoever routes puts only the deliveries that are
 * not there yet, so that two workers, or one after a crash, come to the same end.
 */
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { derivedStatus } from '../items/delivery-state.ts'
import type { Delivery } from '../items/delivery.ts'
import type { Event } from '../items/event.ts'
import { type DeliveryTask, type RouteTask, RouteTaskItem } from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { Deliveries } from './deliveries.ts'
import { type DeliveryWriter, expiryForAttempt, newDelivery } from './delivery-writer.ts'
import type { DataLayerDeps } from './deps.ts'
import type { EventWriter } from './event-writer.ts'
import type { TaskWriter } from './task-writer.ts'
import { optimistically } from './transaction.ts'

/** Two items each, and a few more: a transaction has room for 100. */
const CONNECTIONS_AT_ONCE = 40

/** A connection that an event goes to, or would go to. */
export interface RouteTarget {
  connectionId: string
  /** Why the event is kept from it; then it is only noted. */
  filtered?: string | undefined
  /** When the first attempt is to be made; now unless told. */
  dueAt?: number | undefined
}

export interface RouteOptions {
  leaseUntil?: number | undefined
  /** The event, for a caller who has it at hand. */
  known?: Event | undefined
  /** Why there is no connection, where there is none. */
  unrouted?: string | undefined
}

export interface Routed {
  /** Those that this call has put. */
  tasks: DeliveryTask[]
  /** As it is now, if this call has read or changed it. */
  event: Event | undefined
}

export interface RoutingDeps extends Pick<DataLayerDeps, 'db' | 'clock'> {
  tasks: TaskWriter
  writer: EventWriter
  deliveryWriter: DeliveryWriter
  deliveries: Pick<Deliveries, 'listByEvent'>
}

export function createRouting(deps: RoutingDeps) {
  const { db, clock, tasks, writer, deliveryWriter, deliveries } = deps
  const routes = entity(db, eventsTable, RouteTaskItem)
  const stillThere = expr`attribute_exists(${routes.attr('PK')})`

  /**
   * Puts a delivery for each connection, with its task unless it is filtered, and ends the routing
   * task with the last. With `leaseUntil` the tasks that are due are the caller's already.
   */
  async function route(
    task: RouteTask,
    targets: readonly RouteTarget[],
    { leaseUntil, known, unrouted }: RouteOptions = {},
  ): Promise<Routed> {
    let event = known
    const routed: DeliveryTask[] = []
    for (let more = true; more;) {
      more = await optimistically(
        async () => {
          const before = event ?? (await writer.needed(task))
          event = undefined
          const missing = before ? await withoutDelivery(before, targets) : []
          const now = missing.slice(0, CONNECTIONS_AT_ONCE)
          // Of an event that is gone nothing is put, however many connections there are.
          const last = now.length === missing.length
          const put = before ? await deliveriesOf(before, now, leaseUntil) : []
          const change = before && eventChange(before, put, { leaseUntil, unrouted, targets })
          const key = { PK: task.PK, SK: task.SK }
          await transact(db, [
            last ? routes.part.delete(key, stillThere) : routes.part.check(key, stillThere),
            ...(change?.parts ?? []),
            ...put.flatMap(({ delivery, task: due }) => [
              deliveryWriter.putPart(delivery),
              ...(due ? [tasks.putDelivery(due)] : []),
            ]),
          ])
          event = change?.after ?? before
          routed.push(...put.flatMap(({ task: due }) => due ?? []))
          return !last
        },
        // Somebody else ended the routing: that is what was wanted.
        (failure) => (failure.conditionFailed(0) ? { result: false } : undefined),
      )
    }
    return { tasks: routed, event }
  }

  /** Those of the connections that the event was not routed to yet. */
  async function withoutDelivery(event: Event, targets: readonly RouteTarget[]) {
    if (!derivedStatus(event.counts)) return targets
    const existing = await deliveries.listByEvent(event.eventId, { expired: true })
    const has = new Set(existing.map(({ connectionId }) => connectionId))
    return targets.filter(({ connectionId }) => !has.has(connectionId))
  }

  function deliveriesOf(
    event: Event,
    targets: readonly RouteTarget[],
    leaseUntil: number | undefined,
  ) {
    const now = clock.now()
    const { eventId, sourceId, userId, receivedAt } = event
    return Promise.all(
      targets.map(async ({ connectionId, filtered, dueAt = now }) => {
        const later = dueAt > now
        const task = await tasks.delivery({
          eventId,
          sourceId,
          userId,
          receivedAt,
          connectionId,
          run: 1,
          attemptNumber: 1,
          keptUntil: Math.max(event.expiresAt, expiryForAttempt(later ? dueAt : now)),
          dueAt: later ? dueAt : (leaseUntil ?? now),
          ...(leaseUntil !== undefined && !later && { leaseId: newId('lse'), claimedAt: now }),
        })
        if (filtered === undefined) {
          return { delivery: newDelivery(task, now, later ? task : undefined), task }
        }
        const delivery = newDelivery(task, now)
        return { delivery: { ...delivery, state: 'filtered' as const, reason: filtered } }
      }),
    )
  }

  function eventChange(
    event: Event,
    put: { delivery: Delivery }[],
    { leaseUntil, unrouted, targets }: RouteOptions & { targets: readonly RouteTarget[] },
  ) {
    if (targets.length === 0 && !derivedStatus(event.counts)) {
      return writer.change(event, {
        status: 'unrouted',
        ...(unrouted !== undefined && { reason: unrouted }),
      })
    }
    if (put.length === 0) return undefined
    const counts = { ...event.counts }
    for (const { delivery } of put) counts[delivery.state] += 1
    return writer.change(event, {
      counts,
      ...(leaseUntil !== undefined && { processedAt: event.processedAt ?? clock.now() }),
      expiresAt: Math.max(...put.map(({ delivery }) => delivery.expiresAt)),
    })
  }

  return { route }
}

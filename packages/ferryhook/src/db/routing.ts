/**
 * Turns an event into deliveries. Without a lease: whoever routes puts only the deliveries that are
 * not there yet, so that two workers, or one after a crash, come to the same end.
 */
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { derivedStatus, moved } from '../items/delivery-state.ts'
import type { Event } from '../items/event.ts'
import { type DeliveryTask, type RouteTask, RouteTaskItem } from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { Deliveries } from './deliveries.ts'
import { type DeliveryWriter, newDelivery } from './delivery-writer.ts'
import type { DataLayerDeps } from './deps.ts'
import type { EventWriter } from './event-writer.ts'
import type { TaskWriter } from './task-writer.ts'
import { optimistically } from './transaction.ts'

/** Two items each, and two more: a transaction has room for 100. */
const CONNECTIONS_AT_ONCE = 40

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
   * Puts a delivery and its task for each connection, and ends the routing task with the last.
   * With `leaseUntil` the tasks are the caller's already. Returns those that this call has put.
   */
  async function route(
    task: RouteTask,
    connectionIds: readonly string[],
    { leaseUntil }: { leaseUntil?: number } = {},
  ): Promise<DeliveryTask[]> {
    const routed: DeliveryTask[] = []
    for (let more = true; more;) {
      more = await optimistically(
        async () => {
          const event = await writer.read(task)
          const existing = event ? await deliveries.listByEvent(task.eventId) : []
          const missing = connectionIds.filter((id) => !existing.some((d) => d.connectionId === id))
          const now = missing.slice(0, CONNECTIONS_AT_ONCE)
          // Of an event that is gone nothing is put, however many connections there are.
          const last = !event || now.length === missing.length
          const put = event ? await deliveryTasks(event, now, leaseUntil) : []
          const key = { PK: task.PK, SK: task.SK }
          await transact(db, [
            last ? routes.part.delete(key, stillThere) : routes.part.check(key, stillThere),
            ...(event ? eventParts(event, connectionIds.length, put, leaseUntil) : []),
            ...put.flatMap((each) => [
              tasks.putDelivery(each),
              deliveryWriter.putPart(newDelivery(each, clock.now())),
            ]),
          ])
          routed.push(...put)
          return !last
        },
        // Somebody else ended the routing: that is what was wanted.
        (failure) => (failure.conditionFailed(0) ? { result: false } : undefined),
      )
    }
    return routed
  }

  function deliveryTasks(event: Event, connectionIds: string[], leaseUntil: number | undefined) {
    const now = clock.now()
    const { eventId, sourceId, userId, receivedAt } = event
    return Promise.all(
      connectionIds.map((connectionId) =>
        tasks.delivery({
          eventId,
          sourceId,
          userId,
          receivedAt,
          connectionId,
          run: 1,
          attemptNumber: 1,
          keptUntil: event.expiresAt,
          dueAt: leaseUntil ?? now,
          ...(leaseUntil !== undefined && { leaseId: newId('lse'), claimedAt: now }),
        }),
      ),
    )
  }

  function eventParts(
    event: Event,
    connections: number,
    put: DeliveryTask[],
    leaseUntil: number | undefined,
  ) {
    if (connections === 0 && !derivedStatus(event.counts)) {
      return writer.change(event, { status: 'unrouted' })
    }
    if (put.length === 0) return []
    return writer.change(event, {
      counts: moved(event.counts, { to: 'runnable', deliveries: put.length }),
      ...(leaseUntil !== undefined && { processedAt: event.processedAt ?? clock.now() }),
    })
  }

  return { route }
}

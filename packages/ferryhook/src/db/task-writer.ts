/** Puts tasks where they belong, as parts of the transactions that cause them. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import type { Expression } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import {
  type CountTask,
  CountTaskItem,
  countTaskKey,
  type DeliveryTask,
  DeliveryTaskItem,
  deliveryTaskKey,
  type RouteTask,
  routeTaskKey,
  WakeTaskItem,
  wakeTaskKey,
} from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps } from './deps.ts'
import type { DueShards } from './due-shards.ts'

/** Wakes of one connection at nearly the same time are one wake. */
const WAKE_STEP_MS = 5_000

export function createTaskWriter({
  db,
  shards,
}: Pick<DataLayerDeps, 'db'> & { shards: Pick<DueShards, 'of'> }) {
  const deliveries = entity(db, eventsTable, DeliveryTaskItem)
  const wakes = entity(db, eventsTable, WakeTaskItem)
  const counts = entity(db, eventsTable, CountTaskItem)

  return {
    /** Of an event that was checked, whose values it consists of. */
    async route(task: Omit<RouteTask, 'PK' | 'SK' | 'kind'>): Promise<TransactWriteItem> {
      const { eventId, sourceId, userId, receivedAt, dueAt } = task
      const { PK, SK } = routeTaskKey.of({ shard: await shards.of(sourceId), dueAt, eventId })
      const Item = { PK, SK, kind: 'route', dueAt, eventId, sourceId, userId, receivedAt }
      return { Put: { TableName: eventsTable.name, Item } }
    },

    /** The task with its key, for the transaction that puts it. */
    async delivery(task: Omit<DeliveryTask, 'PK' | 'SK' | 'kind'>): Promise<DeliveryTask> {
      const shard = await shards.of(task.connectionId)
      const { dueAt, eventId, connectionId } = task
      const { PK, SK } = deliveryTaskKey.of({ shard, dueAt, eventId, connectionId })
      return { ...task, PK, SK, kind: 'deliver' }
    },

    putDelivery: (task: DeliveryTask, condition?: Expression): TransactWriteItem =>
      deliveries.part.put(task, condition),

    /** At the next full five seconds unless told, so that many waiters make few wakes. */
    async wake(
      connectionId: string,
      at: number,
      { stepMs = WAKE_STEP_MS }: { stepMs?: number } = {},
    ): Promise<TransactWriteItem> {
      const dueAt = Math.ceil(at / stepMs) * stepMs
      const shard = await shards.of(connectionId)
      return wakes.part.put({
        ...wakeTaskKey.of({ shard, dueAt, connectionId }),
        kind: 'wake',
        dueAt,
        connectionId,
        wakeId: newId('wak'),
      })
    },

    /** By itself: a task that is put twice is one task. */
    async putCount(task: Omit<CountTask, 'PK' | 'SK' | 'kind'>): Promise<void> {
      const shard = await shards.of(task.sourceId)
      await counts.put({ ...task, ...countTaskKey.of({ ...task, shard }), kind: 'count' })
    },
  }
}

export type TaskWriter = ReturnType<typeof createTaskWriter>

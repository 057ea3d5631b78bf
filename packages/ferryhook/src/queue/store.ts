/**
 * The durable task queue. A claimed task is stored at the end of its lease, so a task of a crashed
 * worker becomes due again by itself. A worker whose lease was taken over cannot write any more.
 */
import type { Item, TransactWriteItem } from '@strongroom/kit/db'
import { ItemMismatch, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { type Expression, expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { type PageRequest, queryPage } from '@strongroom/kit/paging'
import { transact } from '@strongroom/kit/transact'
import { absent, exists } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import { eventsTable } from '../tables.ts'
import { nextStep, type Shards } from './shards.ts'
import { type Event, EventItem } from '../events/item.ts'
import {
  type ClaimedRoute,
  type DeliveryTask,
  DeliveryTaskItem,
  deliveryTaskKey,
  type DueTask,
  type Lease,
  type LeasedTask,
  type MeteringTask,
  MeteringTaskItem,
  meteringTaskKey,
  PurgeTaskItem,
  type RouteTask,
  RouteTaskItem,
  routeTaskKey,
  storedTask,
  WakeUpTaskItem,
  wakeUpTaskKey,
  type WorkerTask,
} from './tasks.ts'

/** Wake-ups of one connection within this time become one task. */
const WAKE_UP_STEP_MS = 5_000

const READ_BATCH = 100

/** DynamoDB's limit of one BatchGetItem. */
const MAX_BATCH_KEYS = 100

export interface DueRequest extends PageRequest {
  /** For an item as it is stored. */
  isSkipped?: (item: Item) => boolean
}

export interface DueTasks {
  tasks: DueTask[]
  /** Items that do not match any task schema; returned so that one of them does not block its shard. */
  damaged: ItemMismatch[]
  /** How many items were read, with those that were skipped. */
  read: number
  /** Where to continue; undefined if nothing else is due. */
  next: Item | undefined
}

type RoutedEvent = Pick<RouteTask, 'eventId' | 'sourceId' | 'userId' | 'receivedAt'>

export function createTaskQueue({
  db,
  clock,
  shards,
}: Pick<StoreDeps, 'db' | 'clock'> & { shards: Pick<Shards, 'shardFor'> }) {
  const routes = entity(db, eventsTable, RouteTaskItem)
  const deliveries = entity(db, eventsTable, DeliveryTaskItem)
  const wakeUps = entity(db, eventsTable, WakeUpTaskItem)
  const meterings = entity(db, eventsTable, MeteringTaskItem)
  const purges = entity(db, eventsTable, PurgeTaskItem)
  const events = entity(db, eventsTable, EventItem)
  const unleased = expr`${exists} AND attribute_not_exists(${deliveries.attr('leaseId')})`

  function parse(item: Item): DueTask | ItemMismatch {
    try {
      if (item.kind === 'deliver') return deliveries.parse(item)
      if (item.kind === 'wake') return wakeUps.parse(item)
      if (item.kind === 'purge') return purges.parse(item)
      return item.kind === 'count' ? meterings.parse(item) : routes.parse(item)
    } catch (error) {
      if (error instanceof ItemMismatch) return error
      throw error
    }
  }

  function dueBefore(shard: number, time: number): Expression {
    const [PK, SK] = [deliveries.attr('PK'), deliveries.attr('SK')]
    return expr`${PK} = ${`DUE#${shard}`} AND ${SK} < ${String(time)}`
  }

  /** The task with its key, for the transaction that writes it. */
  async function deliveryTask(
    task: Omit<DeliveryTask, 'PK' | 'SK' | 'kind'>,
  ): Promise<DeliveryTask> {
    const shard = await shards.shardFor(task.connectionId)
    const { dueAt, eventId, connectionId } = task
    const { PK, SK } = deliveryTaskKey.of({ shard, dueAt, eventId, connectionId })
    return { ...task, PK, SK, kind: 'deliver' }
  }

  /** The task that is stored with an event, and is due then. */
  async function routeTask(event: RoutedEvent): Promise<RouteTask> {
    const { eventId, sourceId, userId, receivedAt } = event
    const shard = await shards.shardFor(sourceId)
    const { PK, SK } = routeTaskKey.of({ shard, dueAt: receivedAt, eventId })
    return { PK, SK, kind: 'route', dueAt: receivedAt, eventId, sourceId, userId, receivedAt }
  }

  /** The same while a worker has claimed it. */
  async function claimedRoute(event: RoutedEvent, lease: Lease): Promise<ClaimedRoute> {
    const { leaseId, claimedAt, leaseUntil } = lease
    const task = await routeTask({ ...event, receivedAt: leaseUntil })
    return { ...task, receivedAt: event.receivedAt, leaseId, claimedAt }
  }

  function deliveryPart(task: DeliveryTask, condition?: Expression): TransactWriteItem {
    return deliveries.part.put(task, condition)
  }

  /**
   * The part of a worker's transaction that deletes a task, or the claimed route task that stands for
   * it. It requires that the task is unchanged: still leased by this worker, or still unleased.
   */
  function completePart(task: WorkerTask | RouteTask): TransactWriteItem {
    const { PK, SK, leaseId } = 'route' in task && task.route ? task.route : task
    if (leaseId === undefined) return deliveries.part.delete({ PK, SK }, unleased)
    return {
      Delete: {
        TableName: eventsTable.name,
        Key: { PK, SK },
        ConditionExpression: 'leaseId = :lease',
        ExpressionAttributeValues: { ':lease': leaseId },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    }
  }

  /**
   * Moves a task to another time. Undefined if another worker claimed it. If a task of the same
   * delivery has that key, it moves on by a millisecond: two runs can exist until one of them ends.
   */
  async function move(
    task: DeliveryTask,
    to: Omit<DeliveryTask, 'PK' | 'SK' | 'kind'>,
  ): Promise<DeliveryTask | undefined> {
    for (let { dueAt } = to; ; dueAt++) {
      const moved = await deliveryTask({ ...to, dueAt })
      try {
        await transact(db, [completePart(task), deliveryPart(moved, absent)])
        return moved
      } catch (error) {
        if (!(error instanceof TransactionFailed)) throw error
        if (error.conditionFailed(0)) return undefined
        if (!error.conditionFailed(1)) throw error
      }
    }
  }

  /** False if another worker claimed the task, or the event was changed. */
  async function moveRoute(
    task: RouteTask,
    moved: RouteTask,
    event?: Pick<Event, 'PK' | 'SK' | 'rev'>,
  ): Promise<boolean> {
    const parts: TransactWriteItem[] = [
      completePart(task),
      // Not validated: it repeats values of a task that was, and of a lease.
      { Put: { TableName: eventsTable.name, Item: moved as Item } },
    ]
    if (event) {
      const { PK, SK, rev } = event
      parts.push(events.part.check({ PK, SK }, expr`${events.attr('rev')} = ${rev}`))
    }
    try {
      await transact(db, parts)
      return true
    } catch (error) {
      if (error instanceof TransactionFailed && error.conditionFailed()) return false
      throw error
    }
  }

  /** Ends a claim early, so that the task is due. False if another worker has claimed it. */
  async function releaseRoute(task: ClaimedRoute): Promise<boolean> {
    return moveRoute(task, await routeTask(task))
  }

  function newLease(leaseUntil: number): Lease {
    return { leaseId: newId('lse'), claimedAt: clock.now(), leaseUntil }
  }

  return {
    /**
     * Oldest first, including tasks whose lease has expired. Skipped items count towards the limit, but
     * are not validated, which costs more than the read.
     */
    async listDue(
      shard: number,
      { limit = READ_BATCH, after, isSkipped }: DueRequest = {},
    ): Promise<DueTasks> {
      const key = dueBefore(shard, clock.now() + 1)
      const { items, next } = await queryPage(db, eventsTable, { key, limit, after }, (item) =>
        isSkipped?.(item) ? undefined : parse(item),
      )
      const tasks: DueTask[] = []
      const damaged: ItemMismatch[] = []
      for (const item of items) {
        if (item instanceof ItemMismatch) damaged.push(item)
        else if (item) tasks.push(item)
      }
      return { tasks, damaged, read: items.length, next }
    },

    /** Tasks that were due before a time, oldest first, page by page. */
    async listOverdue(
      shard: number,
      before: number,
      after: Item | undefined,
    ): Promise<{ tasks: DueTask[]; next: Item | undefined }> {
      const key = dueBefore(shard, before)
      const page = await queryPage(db, eventsTable, { key, limit: READ_BATCH, after }, parse)
      const tasks = page.items.filter((item): item is DueTask => !(item instanceof ItemMismatch))
      return { tasks, next: page.next }
    },

    /** One of several workers gets the task until the lease ends; the others get undefined. */
    async claim(task: DeliveryTask, leaseUntil: number): Promise<LeasedTask | undefined> {
      if (!(leaseUntil > clock.now()) || leaseUntil <= task.dueAt) {
        throw new RangeError('The lease of a task must end in the future')
      }
      const { claimedAt = clock.now() } = task
      const leaseId = newId('lse')
      const leased = await move(task, { ...task, dueAt: leaseUntil, leaseId, claimedAt })
      return leased && { ...leased, leaseId }
    },

    newLease,

    /**
     * One of several workers gets the route task, and with it all deliveries of its event; the others
     * get undefined. With an event, it must not have changed since it was read.
     */
    async claimRoute(
      task: RouteTask,
      leaseUntil: number,
      event?: Pick<Event, 'PK' | 'SK' | 'rev'>,
    ): Promise<ClaimedRoute | undefined> {
      const claimed = await claimedRoute(task, newLease(leaseUntil))
      return (await moveRoute(task, claimed, event)) ? claimed : undefined
    },

    releaseRoute,

    /**
     * Of events that are stored as `received`, the ids of those that a worker has claimed, so that
     * none of their deliveries is stored yet. The unclaimed task has a known key, and the stored
     * status changes with the outcome.
     */
    async listClaimed(received: readonly RoutedEvent[]): Promise<Set<string>> {
      const claimed = new Set(received.map(({ eventId }) => eventId))
      for (let at = 0; at < received.length; at += MAX_BATCH_KEYS) {
        const tasks = await Promise.all(received.slice(at, at + MAX_BATCH_KEYS).map(routeTask))
        const { Responses } = await db.batchGetItem({
          RequestItems: {
            [eventsTable.name]: {
              Keys: tasks.map(({ PK, SK }) => ({ PK, SK })),
              ConsistentRead: true,
              ProjectionExpression: 'eventId',
            },
          },
        })
        for (const item of Responses?.[eventsTable.name] ?? []) {
          claimed.delete(item['eventId'] as string)
        }
      }
      return claimed
    },

    /** A part of a transaction that requires that no worker has claimed the event. */
    async unclaimedPart(event: RoutedEvent): Promise<TransactWriteItem> {
      const { PK, SK } = await routeTask(event)
      return routes.part.check({ PK, SK }, exists)
    },

    /** Ends a lease early, so that the task is due now. False if another worker has claimed it. */
    async releaseLease(task: LeasedTask): Promise<boolean> {
      if (task.route) return releaseRoute(task.route)
      const { leaseId: _lease, ...rest } = storedTask(task)
      // A task whose lease has expired is due already.
      if (task.dueAt <= clock.now()) return true
      return (await move(task, { ...rest, dueAt: clock.now() })) !== undefined
    },

    completePart,
    deliveryTask,
    deliveryPart,

    routeTask,

    claimedRoute,

    /** Not validated: it repeats values of an event that was. With a lease it is claimed already. */
    async routePart(event: RoutedEvent, lease?: Lease): Promise<TransactWriteItem> {
      const task = lease ? await claimedRoute(event, lease) : await routeTask(event)
      return { Put: { TableName: eventsTable.name, Item: task as Item } }
    },

    /** Rounded up to a step of the connection, so that many parked deliveries share few wake-ups. */
    async wakeUpPart(
      connectionId: string,
      at: number,
      { stepMs = WAKE_UP_STEP_MS }: { stepMs?: number } = {},
    ): Promise<TransactWriteItem> {
      const dueAt = nextStep(connectionId, at, stepMs)
      const shard = await shards.shardFor(connectionId)
      return wakeUps.part.put({
        ...wakeUpTaskKey.of({ shard, dueAt, connectionId }),
        kind: 'wake',
        dueAt,
        connectionId,
        wakeId: newId('wak'),
      })
    },

    /** Idempotent: writing the same task twice leaves one. */
    async putMetering(task: Omit<MeteringTask, 'PK' | 'SK' | 'kind'>): Promise<void> {
      const shard = await shards.shardFor(task.sourceId)
      await meterings.put({ ...task, ...meteringTaskKey.of({ ...task, shard }), kind: 'count' })
    },
  }
}

export type TaskQueue = ReturnType<typeof createTaskQueue>

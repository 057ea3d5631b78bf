/**
 * The queue: what is due, and who has it. A task that a worker has lies at the end of its lease, so
 * that a crash makes it due again by itself; whoever comes after that has lost it.
 */
import type { Item, TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { ItemMismatch } from '@strongroom/kit/item-mismatch'
import { queryPage } from '@strongroom/kit/query-page'
import {
  CountTaskItem,
  type DeliveryTask,
  DeliveryTaskItem,
  type DueTask,
  type LeasedTask,
  PurgeTaskItem,
  RouteTaskItem,
  WakeTaskItem,
} from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps } from './deps.ts'
import type { TaskWriter } from './task-writer.ts'

export interface DueTasks {
  tasks: DueTask[]
  /** Items that are no tasks of ours: told, so that one of them does not stop a whole shard. */
  damaged: ItemMismatch[]
}

export function createDueWork({
  db,
  clock,
  tasks: writer,
}: Pick<DataLayerDeps, 'db' | 'clock'> & { tasks: TaskWriter }) {
  const routes = entity(db, eventsTable, RouteTaskItem)
  const deliveries = entity(db, eventsTable, DeliveryTaskItem)
  const wakes = entity(db, eventsTable, WakeTaskItem)
  const counts = entity(db, eventsTable, CountTaskItem)
  const purges = entity(db, eventsTable, PurgeTaskItem)
  const vacant = expr`attribute_not_exists(${deliveries.attr('PK')})`
  const nobodys = expr`attribute_exists(${deliveries.attr('PK')}) AND attribute_not_exists(${deliveries.attr('leaseId')})`

  function parse(item: Item): DueTask | ItemMismatch {
    try {
      if (item.kind === 'deliver') return deliveries.parse(item)
      if (item.kind === 'wake') return wakes.parse(item)
      if (item.kind === 'purge') return purges.parse(item)
      return item.kind === 'count' ? counts.parse(item) : routes.parse(item)
    } catch (error) {
      if (error instanceof ItemMismatch) return error
      throw error
    }
  }

  return {
    /** The longest due first. Those whose lease has ended are among them. */
    async listDue(shard: number, { limit = 100 }: { limit?: number } = {}): Promise<DueTasks> {
      const [PK, SK] = [deliveries.attr('PK'), deliveries.attr('SK')]
      const upToNow = String(clock.now() + 1)
      const key = expr`${PK} = ${`DUE#${shard}`} AND ${SK} < ${upToNow}`
      const { items } = await queryPage(db, eventsTable, { key, limit }, parse)
      return {
        tasks: items.filter((item): item is DueTask => !(item instanceof ItemMismatch)),
        damaged: items.filter((item) => item instanceof ItemMismatch),
      }
    },

    /** Those that were due before a time, the longest due first, page by page. */
    async listOverdue(
      shard: number,
      before: number,
      after: Item | undefined,
    ): Promise<{ tasks: DueTask[]; next: Item | undefined }> {
      const [PK, SK] = [deliveries.attr('PK'), deliveries.attr('SK')]
      const key = expr`${PK} = ${`DUE#${shard}`} AND ${SK} < ${String(before)}`
      const page = await queryPage(db, eventsTable, { key, limit: 100, after }, parse)
      const tasks = page.items.filter((item): item is DueTask => !(item instanceof ItemMismatch))
      return { tasks, next: page.next }
    },

    /** Of all who try, one gets the task until the lease ends; the others get undefined. */
    async claim(task: DeliveryTask, leaseUntil: number): Promise<LeasedTask | undefined> {
      if (!(leaseUntil > clock.now()) || leaseUntil <= task.dueAt) {
        throw new RangeError('Cannot claim a task: its lease must end after now')
      }
      const { claimedAt = clock.now() } = task
      const leaseId = newId('lse')
      const leased = await move(task, { ...task, dueAt: leaseUntil, leaseId, claimedAt })
      return leased && { ...leased, leaseId }
    },

    endPart,

    /** Ends a lease early: the task is due now, for anybody. False if it is somebody else's by now. */
    async giveBack(task: LeasedTask): Promise<boolean> {
      const { leaseId: _lease, ...rest } = task
      // A lease that has ended is due already.
      if (task.dueAt <= clock.now()) return true
      return (await move(task, { ...rest, dueAt: clock.now() })) !== undefined
    },
  }

  /**
   * Puts a task to another time; undefined if it is somebody else's by now. A moment later than told
   * while another of the same delivery lies there: of two runs that came to be, one is to end.
   */
  async function move(
    task: DeliveryTask,
    to: Omit<DeliveryTask, 'PK' | 'SK' | 'kind'>,
  ): Promise<DeliveryTask | undefined> {
    for (let { dueAt } = to; ; dueAt++) {
      const moved = await writer.delivery({ ...to, dueAt })
      try {
        await transact(db, [endPart(task), writer.putDelivery(moved, vacant)])
        return moved
      } catch (error) {
        if (!(error instanceof TransactionFailed)) throw error
        if (error.conditionFailed(0)) return undefined
        if (!error.conditionFailed(1)) throw error
      }
    }
  }

  /**
   * The part of a worker's transaction that ends a task. It holds only while the task is as the
   * worker knows it: its own as long as nobody else has a lease, or still nobody's.
   */
  function endPart({ PK, SK, leaseId }: DeliveryTask): TransactWriteItem {
    if (leaseId === undefined) return deliveries.part.delete({ PK, SK }, nobodys)
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
}

export type DueWork = ReturnType<typeof createDueWork>

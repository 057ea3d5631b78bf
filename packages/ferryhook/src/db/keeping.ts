/**
 * Keeps events whose work is overdue: while no worker does it, their expiry comes nearer, and what was
 * acknowledged must not end undelivered because of that.
 */
import { epochSeconds } from '@strongroom/kit/clock'
import type { Item } from '@strongroom/kit/db'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { DeliveryItem, deliveryKey } from '../items/delivery.ts'
import type { DeliveryTask, RouteTask } from '../items/task.ts'
import { eventsTable } from '../table.ts'
import type { Attempts } from './attempts.ts'
import type { DataLayerDeps } from './deps.ts'
import type { DueShards } from './due-shards.ts'
import type { DueWork } from './due-work.ts'
import type { EventWriter } from './event-writer.ts'
import { optimistically } from './transaction.ts'

/** What is due for less is about to be done; a retry keeps its event for an hour after it is due. */
const OVERDUE_MS = 1_200_000
const SOON_SECONDS = 2 * 3_600
const KEPT_SECONDS = 86_400

export interface KeepingDeps extends Pick<DataLayerDeps, 'db' | 'clock'> {
  writer: EventWriter
  attempts: Pick<Attempts, 'keepParts'>
  dueShards: Pick<DueShards, 'count'>
  dueWork: Pick<DueWork, 'listOverdue'>
}

export function createKeeping(deps: KeepingDeps) {
  const { db, clock, writer, attempts, dueShards, dueWork } = deps
  const deliveries = entity(db, eventsTable, DeliveryItem)

  /** The delivery of a task and its attempts, if there is one yet. */
  async function deliveryParts(task: DeliveryTask, expiresAt: number) {
    const key = deliveryKey.of(task)
    const attribute = deliveries.attr('expiresAt')
    const isThere = (await deliveries.get(key)) !== undefined
    const later = expr`SET ${attribute} = ${expiresAt}`
    const exists = expr`attribute_exists(${attribute})`
    const own = isThere ? [deliveries.part.update(key, later, exists)] : []
    return [...own, ...(await attempts.keepParts(task, expiresAt))]
  }

  function keep(task: RouteTask | DeliveryTask): Promise<boolean> {
    return optimistically(async () => {
      const now = epochSeconds(clock)
      const event = await writer.needed(task)
      if (!event || event.expiresAt > now + SOON_SECONDS) return false
      const expiresAt = now + KEPT_SECONDS
      const ofDelivery = task.kind === 'deliver' ? await deliveryParts(task, expiresAt) : []
      await transact(db, [...writer.change(event, { expiresAt }).parts, ...ofDelivery])
      return true
    })
  }

  return {
    /** Those that expire soon are kept for a day more; says how many. */
    async keepOverdue(): Promise<number> {
      let kept = 0
      const shards = await dueShards.count()
      for (let shard = 0; shard < shards; shard++) {
        let next: Item | undefined
        do {
          const page = await dueWork.listOverdue(shard, clock.now() - OVERDUE_MS, next)
          for (const task of page.tasks) {
            const isAboutEvent = task.kind === 'route' || task.kind === 'deliver'
            if (isAboutEvent && (await keep(task))) kept += 1
          }
          next = page.next
        } while (next)
      }
      return kept
    },
  }
}

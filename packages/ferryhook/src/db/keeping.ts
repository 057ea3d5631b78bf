/**
 * Keeps events whose work is overdue: while no worker does it, their expiry comes nearer, and what was
 * acknowledged must not end undelivered because of that.
 */
import { epochSeconds } from '@strongroom/kit/clock'
import type { Item } from '@strongroom/kit/db'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { type Delivery, DeliveryItem, deliveryKey } from '../items/delivery.ts'
import type { DeliveryTask, DueTask, RouteTask } from '../items/task.ts'
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

/** So many are kept at once: beside them the process has its own work. */
const AT_ONCE = 4

/** What came of looking for overdue work. */
export interface Kept {
  /** Of how many tasks something was about to expire. */
  tasks: number
  /** How often that could not be read or written. */
  failures: number
  firstError?: unknown
}

export interface KeepingDeps extends Pick<DataLayerDeps, 'db' | 'clock'> {
  writer: EventWriter
  attempts: Pick<Attempts, 'keepParts'>
  dueShards: Pick<DueShards, 'count'>
  dueWork: Pick<DueWork, 'listOverdue'>
}

export function createKeeping(deps: KeepingDeps) {
  const { db, clock, writer, attempts, dueShards, dueWork } = deps
  const deliveries = entity(db, eventsTable, DeliveryItem)

  function deliveryPart(delivery: Delivery, expiresAt: number) {
    const attribute = deliveries.attr('expiresAt')
    const later = expr`SET ${attribute} = ${expiresAt}`
    const exists = expr`attribute_exists(${attribute})`
    return deliveries.part.update(deliveryKey.of(delivery), later, exists)
  }

  function keep(task: RouteTask | DeliveryTask): Promise<boolean> {
    return optimistically(async () => {
      const now = epochSeconds(clock)
      const event = await writer.needed(task)
      if (!event) return false
      const delivery =
        task.kind === 'deliver' ? await deliveries.get(deliveryKey.of(task)) : undefined
      // Another delivery may keep the event for long, and this one expires all the same.
      const first = Math.min(event.expiresAt, delivery?.expiresAt ?? event.expiresAt)
      if (first > now + SOON_SECONDS) return false
      const expiresAt = Math.max(event.expiresAt, now + KEPT_SECONDS)
      await transact(db, [
        ...writer.change(event, { expiresAt }).parts,
        ...(delivery ? [deliveryPart(delivery, expiresAt)] : []),
        ...(task.kind === 'deliver' ? await attempts.keepParts(task, expiresAt) : []),
      ])
      return true
    })
  }

  async function keepAll(tasks: readonly DueTask[], kept: Kept, signal?: AbortSignal) {
    const aboutEvents = tasks.filter((task) => task.kind === 'route' || task.kind === 'deliver')
    for (let from = 0; from < aboutEvents.length; from += AT_ONCE) {
      if (signal?.aborted) return
      const some = aboutEvents.slice(from, from + AT_ONCE)
      for (const result of await Promise.allSettled(some.map(keep))) {
        if (result.status === 'rejected') noteFailure(kept, result.reason)
        else if (result.value) kept.tasks += 1
      }
    }
  }

  async function keepShard(shard: number, kept: Kept, signal?: AbortSignal): Promise<void> {
    let next: Item | undefined
    do {
      if (signal?.aborted) return
      const page = await dueWork.listOverdue(shard, clock.now() - OVERDUE_MS, next)
      await keepAll(page.tasks, kept, signal)
      next = page.next
    } while (next)
  }

  return {
    /**
     * What expires soon is kept for a day more. What cannot be kept does not keep the rest from it;
     * the signal ends it before the next few.
     */
    async keepOverdue(signal?: AbortSignal): Promise<Kept> {
      const kept: Kept = { tasks: 0, failures: 0 }
      const shards = await dueShards.count()
      for (let shard = 0; shard < shards; shard++) {
        await keepShard(shard, kept, signal).catch((error: unknown) => noteFailure(kept, error))
      }
      return kept
    },
  }
}

function noteFailure(kept: Kept, error: unknown): void {
  kept.failures += 1
  kept.firstError ??= error
}

/** Tasks of the queue, sorted by due time. They have no TTL, because late work must not disappear. */
import * as z from 'zod'
import { keyTemplate } from '../storage/key-template.ts'
import { id, milliseconds, seconds } from '../storage/schemas.ts'

const aboutEvent = {
  eventId: id('evt'),
  sourceId: id('src'),
  userId: id('usr'),
  receivedAt: milliseconds,
}

export const routeTaskKey = keyTemplate({ PK: 'DUE#{shard}', SK: '{dueAt}#{eventId}#ROUTE' })

/**
 * Creates the deliveries of an event, and is due when it was received. While it is claimed, `dueAt` is
 * the end of the lease, and it stands for the first attempts of all deliveries: they are stored with
 * their outcome.
 */
export const RouteTaskItem = z.object({
  ...routeTaskKey.fields,
  kind: z.literal('route'),
  dueAt: milliseconds,
  ...aboutEvent,
  leaseId: id('lse').optional(),
  claimedAt: milliseconds.optional(),
})
export type RouteTask = z.infer<typeof RouteTaskItem>
export type ClaimedRoute = RouteTask & { leaseId: string; claimedAt: number }

export function isClaimed(task: RouteTask): task is ClaimedRoute {
  return task.leaseId !== undefined && task.claimedAt !== undefined
}

/** A worker's lease of a task. */
export interface Lease {
  leaseId: string
  claimedAt: number
  leaseUntil: number
}

const aboutDelivery = {
  ...aboutEvent,
  connectionId: id('conn'),
  run: z.number().int().positive(),
  /** The replay that started the run. */
  replayId: id('rpl').optional(),
  /** The number of the next attempt. */
  attemptNumber: z.number().int().min(1).max(8),
  /** `expiresAt` of the delivery. The same name would make the task expire. */
  keptUntil: seconds,
  /** When a worker first claimed it for this attempt. */
  claimedAt: milliseconds.optional(),
}

export const deliveryTaskKey = keyTemplate({
  PK: 'DUE#{shard}',
  SK: '{dueAt}#{eventId}#{connectionId}',
})

/** Attempts a delivery. While it is leased, `dueAt` is the end of the lease. */
export const DeliveryTaskItem = z.object({
  ...deliveryTaskKey.fields,
  kind: z.literal('deliver'),
  dueAt: milliseconds,
  ...aboutDelivery,
  leaseId: id('lse').optional(),
  /** When it was parked, if it was since its last attempt. */
  parkedAt: milliseconds.optional(),
})
export type DeliveryTask = z.infer<typeof DeliveryTaskItem>

/** A task of a worker. With `route` it is not stored, and the claimed route task stands for it. */
export type WorkerTask = DeliveryTask & { route?: ClaimedRoute | undefined }
export type LeasedTask = WorkerTask & { leaseId: string }

/** The task as it is stored. */
export function storedTask<T extends WorkerTask>(task: T): Omit<T, 'route'> {
  const { route: _route, ...stored } = task
  return stored
}

export function isLeased(task: DeliveryTask): task is LeasedTask {
  return task.leaseId !== undefined
}

/** Whether a replay started this run, not the receipt of the event. */
export function isReplay({ run, replayId }: Pick<DeliveryTask, 'run' | 'replayId'>): boolean {
  return run > 1 || replayId !== undefined
}

export const parkedTaskKey = keyTemplate({
  PK: 'WAIT#{connectionId}',
  SK: '{parkedAt}#{eventId}',
})

/** A delivery held by its owner sorts after all others, so that wake-ups do not read it. */
export const heldTaskKey = keyTemplate({
  PK: 'WAIT#{connectionId}',
  SK: '~{parkedAt}#{eventId}',
})

/** `keys`: its secrets cannot be decrypted now. `hold`: its owner holds it until they release it. */
export const parkReasons = ['paused', 'limit', 'circuit', 'keys', 'hold'] as const

/** A delivery that cannot be attempted now. */
export const ParkedTaskItem = z.object({
  ...parkedTaskKey.fields,
  kind: z.literal('wait'),
  ...aboutDelivery,
  parkedAt: milliseconds,
  reason: z.enum(parkReasons),
})
export type ParkedTask = z.infer<typeof ParkedTaskItem>

export const wakeUpTaskKey = keyTemplate({ PK: 'DUE#{shard}', SK: '{dueAt}#WAKE#{connectionId}' })

/** Returns parked deliveries of a connection to the queue. */
export const WakeUpTaskItem = z.object({
  ...wakeUpTaskKey.fields,
  kind: z.literal('wake'),
  dueAt: milliseconds,
  connectionId: id('conn'),
  /** New with each write, so that a worker cannot delete a wake-up that was written after its read. */
  wakeId: id('wak'),
})
export type WakeUpTask = z.infer<typeof WakeUpTaskItem>

export const meteringTaskKey = keyTemplate({ PK: 'DUE#{shard}', SK: '{dueAt}#COUNT#{sourceId}' })

/** Counts the events that a source has received. */
export const MeteringTaskItem = z.object({
  ...meteringTaskKey.fields,
  kind: z.literal('count'),
  dueAt: milliseconds,
  sourceId: id('src'),
  userId: id('usr'),
})
export type MeteringTask = z.infer<typeof MeteringTaskItem>

export const purgeTaskKey = keyTemplate({ PK: 'DUE#{shard}', SK: '{dueAt}#PURGE#{userId}' })

/** Deletes what is left of a deleted user. */
export const PurgeTaskItem = z.object({
  ...purgeTaskKey.fields,
  kind: z.literal('purge'),
  dueAt: milliseconds,
  userId: id('usr'),
})
export type PurgeTask = z.infer<typeof PurgeTaskItem>

export type DueTask = RouteTask | DeliveryTask | WakeUpTask | MeteringTask | PurgeTask

export const shardCountKey = keyTemplate({ PK: 'CONFIG', SK: 'DUE' })

/** The number of partitions that tasks are spread over. */
export const ShardCountItem = z.object({
  ...shardCountKey.fields,
  shards: z.number().int().min(1).max(1_024),
})

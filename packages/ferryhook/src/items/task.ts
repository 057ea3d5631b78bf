/**
 * Due work: what is to be done next, sorted by when. Tasks have no TTL, because work that is late
 * must not disappear.
 */
import * as z from 'zod'
import { keyTemplate } from './key-template.ts'
import { id, milliseconds, seconds } from './values.ts'

const aboutEvent = {
  eventId: id('evt'),
  sourceId: id('src'),
  userId: id('usr'),
  receivedAt: milliseconds,
}

export const routeTaskKey = keyTemplate({ PK: 'DUE#{shard}', SK: '{dueAt}#{eventId}#ROUTE' })

/** Find out where an event goes. */
export const RouteTaskItem = z.object({
  ...routeTaskKey.fields,
  kind: z.literal('route'),
  dueAt: milliseconds,
  ...aboutEvent,
})
export type RouteTask = z.infer<typeof RouteTaskItem>

const aboutDelivery = {
  ...aboutEvent,
  connectionId: id('conn'),
  run: z.number().int().positive(),
  /** The replay that began the run. */
  replayId: id('rpl').optional(),
  /** Of the attempt to be made. */
  attemptNumber: z.number().int().min(1).max(8),
  /** `expiresAt` of the delivery; not by that name, which would make the task expire. */
  keptUntil: seconds,
  /** When a worker first had it in this attempt. */
  claimedAt: milliseconds.optional(),
}

export const deliveryTaskKey = keyTemplate({
  PK: 'DUE#{shard}',
  SK: '{dueAt}#{eventId}#{connectionId}',
})

/** Attempt a delivery. While a worker has it, `dueAt` is the end of the lease. */
export const DeliveryTaskItem = z.object({
  ...deliveryTaskKey.fields,
  kind: z.literal('deliver'),
  dueAt: milliseconds,
  ...aboutDelivery,
  leaseId: id('lse').optional(),
  /** Since when it had to wait, if it did since its last attempt. */
  parkedAt: milliseconds.optional(),
})
export type DeliveryTask = z.infer<typeof DeliveryTaskItem>
export type LeasedTask = DeliveryTask & { leaseId: string }

/** Whether somebody asked for this run, rather than an event that came. */
export function isReplay({ run, replayId }: Pick<DeliveryTask, 'run' | 'replayId'>): boolean {
  return run > 1 || replayId !== undefined
}

export const waitingTaskKey = keyTemplate({
  PK: 'WAIT#{connectionId}',
  SK: '{parkedAt}#{eventId}',
})

/** Of one that its owner holds. It sorts after all others, which a wake lets go one after the other. */
export const heldTaskKey = keyTemplate({
  PK: 'WAIT#{connectionId}',
  SK: '~{parkedAt}#{eventId}',
})

/** `keys`: its secrets cannot be opened now; `hold`: by its owner, until they release it. */
export const waitReasons = ['paused', 'limit', 'circuit', 'keys', 'hold'] as const

/** A delivery that may not be attempted now. */
export const WaitingTaskItem = z.object({
  ...waitingTaskKey.fields,
  kind: z.literal('wait'),
  ...aboutDelivery,
  parkedAt: milliseconds,
  reason: z.enum(waitReasons),
})
export type WaitingTask = z.infer<typeof WaitingTaskItem>

export const wakeTaskKey = keyTemplate({ PK: 'DUE#{shard}', SK: '{dueAt}#WAKE#{connectionId}' })

/** Let some of the waiting deliveries of a connection go. */
export const WakeTaskItem = z.object({
  ...wakeTaskKey.fields,
  kind: z.literal('wake'),
  dueAt: milliseconds,
  connectionId: id('conn'),
  /** New with each put: who ends a wake must have seen the last one, or its waiter would sleep on. */
  wakeId: id('wak'),
})
export type WakeTask = z.infer<typeof WakeTaskItem>

export const countTaskKey = keyTemplate({ PK: 'DUE#{shard}', SK: '{dueAt}#COUNT#{sourceId}' })

/** Count the events that a source has received. */
export const CountTaskItem = z.object({
  ...countTaskKey.fields,
  kind: z.literal('count'),
  dueAt: milliseconds,
  sourceId: id('src'),
  userId: id('usr'),
})
export type CountTask = z.infer<typeof CountTaskItem>

export const purgeTaskKey = keyTemplate({ PK: 'DUE#{shard}', SK: '{dueAt}#PURGE#{userId}' })

/** Remove what a user who is gone has left. */
export const PurgeTaskItem = z.object({
  ...purgeTaskKey.fields,
  kind: z.literal('purge'),
  dueAt: milliseconds,
  userId: id('usr'),
})
export type PurgeTask = z.infer<typeof PurgeTaskItem>

export type DueTask = RouteTask | DeliveryTask | WakeTask | CountTask | PurgeTask

export const dueShardsKey = keyTemplate({ PK: 'CONFIG', SK: 'DUE' })

/** Over how many partitions due work is spread. */
export const DueShardsItem = z.object({
  ...dueShardsKey.fields,
  shards: z.number().int().min(1).max(1_024),
})

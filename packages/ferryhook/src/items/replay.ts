/** A replay of many events: which ones, and how far it has come. */
import * as z from 'zod'
import { eventStatuses } from './event.ts'
import { keyTemplate } from './key-template.ts'
import { count, id, isoTime, milliseconds, seconds } from './values.ts'

export const replayKey = keyTemplate({ PK: 'USER#{userId}', SK: 'RPL#{replayId}' })

export const replayStates = ['running', 'done', 'cancelled'] as const
export type ReplayState = (typeof replayStates)[number]

const position = z.object({ receivedAt: milliseconds, eventId: id('evt') })

/** No more than these are replayed between two writes of the progress. */
export const mostInStep = 100

/**
 * The events that are replayed next. They are chosen and written before the first of them is
 * replayed, because that changes by what they were chosen; whoever goes on after a crash does so with
 * the same ones.
 */
export const ReplayStepSchema = z.object({
  stepId: id('stp'),
  events: z.array(position).max(mostInStep),
  /** Up to where it was looked; absent if nothing was found. */
  upTo: position.optional(),
  examined: count,
  unverified: count,
  isLast: z.boolean(),
})
export type ReplayStep = z.infer<typeof ReplayStepSchema>

/** Events but for `replayed` and `runOpen`, which are deliveries: one for each connection. */
export const replayCounts = [
  'examined',
  'matched',
  'replayed',
  'runOpen',
  'unverified',
  'gone',
] as const
export type ReplayCounts = Record<(typeof replayCounts)[number], number>

export const ReplayItem = z.object({
  ...replayKey.fields,
  replayId: id('rpl'),
  userId: id('usr'),
  sourceId: id('src'),
  connectionIds: z.array(id('conn')).min(1).max(50),
  /** Times of receipt, both included. */
  from: milliseconds,
  to: milliseconds,
  status: z.enum(eventStatuses).optional(),
  /** Text that a header, or the body, has in it. */
  header: z.string().min(1).max(200).optional(),
  body: z.string().min(1).max(200).optional(),
  /** Deliveries. */
  perSecond: z.number().positive().max(1_000),
  state: z.enum(replayStates),
  /** The last event that is done with. */
  at: position.optional(),
  step: ReplayStepSchema.optional(),
  counts: z.record(z.enum(replayCounts), count),
  createdBy: z.string().min(1).max(100),
  createdAt: isoTime,
  updatedAt: isoTime,
  /** Raised by each change; a change holds only if nobody else made one meanwhile. */
  rev: count,
  expiresAt: seconds,
})
export type Replay = z.infer<typeof ReplayItem>

/** All in one partition: only those that run have a task. */
export const replayTaskKey = keyTemplate({ PK: 'REPLAYS', SK: '{dueAt}#{replayId}' })

/** Go on with a replay. While a worker does, `dueAt` is the end of its lease. */
export const ReplayTaskItem = z.object({
  ...replayTaskKey.fields,
  kind: z.literal('replay'),
  dueAt: milliseconds,
  replayId: id('rpl'),
  userId: id('usr'),
  leaseId: id('lse').optional(),
})
export type ReplayTask = z.infer<typeof ReplayTaskItem>

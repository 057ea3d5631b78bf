/** A replay job: which events it replays, and its progress. */
import * as z from 'zod'
import { MAX_EVENT_TYPE_CHARACTERS } from '../events/event-type.ts'
import { eventStatuses } from '../events/values.ts'
import { keyTemplate } from '../storage/key-template.ts'
import { count, id, isoTime, milliseconds, seconds } from '../storage/schemas.ts'

export const replayKey = keyTemplate({ PK: 'USER#{userId}', SK: 'RPL#{replayId}' })

export const replayStates = ['running', 'done', 'cancelled'] as const
export type ReplayState = (typeof replayStates)[number]

const position = z.object({ receivedAt: milliseconds, eventId: id('evt') })

/** How many events are replayed between two writes of the progress. */
export const MAX_STEP_EVENTS = 100

/**
 * The events that are replayed next. They are stored before the first of them is replayed, because a
 * replay changes the status by which they were selected. After a crash the same events are used.
 */
export const ReplayStepSchema = z.object({
  stepId: id('stp'),
  events: z.array(position).max(MAX_STEP_EVENTS),
  /** The last event that was examined; absent if there was none. */
  upTo: position.optional(),
  examined: count,
  unverified: count,
  isLast: z.boolean(),
})
export type ReplayStep = z.infer<typeof ReplayStepSchema>

/** `replayed` and `runOpen` count deliveries, the others events. */
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
  /** A type of events, or the beginning of types and an asterisk. */
  type: z.string().min(1).max(MAX_EVENT_TYPE_CHARACTERS).optional(),
  /** Also to the connections whose deliveries do not have the state that `status` selects. */
  allConnections: z.literal(true).optional(),
  /** Text that a header, or the body, must contain. */
  header: z.string().min(1).max(200).optional(),
  body: z.string().min(1).max(200).optional(),
  /** Deliveries per second. */
  perSecond: z.number().positive().max(1_000),
  state: z.enum(replayStates),
  /** The last event that was processed. */
  at: position.optional(),
  step: ReplayStepSchema.optional(),
  counts: z.record(z.enum(replayCounts), count),
  createdBy: z.string().min(1).max(100),
  createdAt: isoTime,
  updatedAt: isoTime,
  /** Increased by each change; a change requires the revision that it read. */
  rev: count,
  expiresAt: seconds,
})
export type Replay = z.infer<typeof ReplayItem>

/** All tasks are in one partition, because only running jobs have one. */
export const replayTaskKey = keyTemplate({ PK: 'REPLAYS', SK: '{dueAt}#{replayId}' })

/** The next step of a job. While a worker runs it, `dueAt` is the end of its lease. */
export const ReplayTaskItem = z.object({
  ...replayTaskKey.fields,
  kind: z.literal('replay'),
  dueAt: milliseconds,
  replayId: id('rpl'),
  userId: id('usr'),
  leaseId: id('lse').optional(),
})
export type ReplayTask = z.infer<typeof ReplayTaskItem>

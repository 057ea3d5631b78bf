/** An event: one received webhook. */
import * as z from 'zod'
import { deliveryStates } from '../deliveries/state.ts'
import { keyTemplate } from '../storage/key-template.ts'
import { EventType } from './event-type.ts'
import { eventStatuses, MAX_BODY_BYTES } from './values.ts'
import { bytes, count, id, json, milliseconds, seconds } from '../storage/schemas.ts'

export const eventKey = keyTemplate({ PK: 'SRC#{sourceId}', SK: 'EVT#{receivedAt}#{eventId}' })
export const eventById = keyTemplate({ GSI1PK: 'EVTID#{eventId}', GSI1SK: 'EVENT' })

export type EventStatus = (typeof eventStatuses)[number]

/** Earlier versions stored bodies up to this size in the event. */
const MAX_INLINE_BODY_BYTES = 4_096

/** The attempt that explains the status of its event, so that a list needs no other items. */
const LastAttempt = z.object({
  connectionId: id('conn'),
  number: z.number().int().min(1).max(8),
  /** Of the retry schedule at the time. */
  maxAttempts: z.number().int().min(1).max(8),
  /** 0 if there was no response. */
  statusCode: z.number().int().min(0).max(999),
  latencyMs: count,
  outcome: z.string().min(1).max(50),
  attemptedAt: milliseconds,
})
export type LastAttempt = z.infer<typeof LastAttempt>

export const EventItem = z.object({
  ...eventKey.fields,
  ...eventById.fields,
  eventId: id('evt'),
  sourceId: id('src'),
  userId: id('usr'),
  status: z.enum(eventStatuses),
  /** Explains the status where the status alone does not. */
  reason: z.string().min(1).max(200).optional(),
  headers: json('object', 65_536),
  /** Only in events of earlier versions: the body has its own item, which never changes. */
  body: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= MAX_INLINE_BODY_BYTES)
    .optional(),
  bodyBytes: count.max(MAX_BODY_BYTES),
  sourceIp: z.string().min(1).max(64),
  contentType: z.string().max(1_024).optional(),
  /** The provider's name of what happened, such as `invoice.paid`. */
  eventType: EventType.optional(),
  method: z.string().regex(/^[A-Z]{1,16}$/),
  /** The query string of the request, without its question mark. */
  query: z.string().max(8_192).optional(),
  receivedAt: milliseconds,
  processedAt: milliseconds.optional(),
  deliveredAt: milliseconds.optional(),
  /** When it was last replayed. */
  replayedAt: milliseconds.optional(),
  /** It failed verification and was replayed, so its status does not show the failure any more. */
  unverified: z.literal(true).optional(),
  expiresAt: seconds,
  /** The number of deliveries in each state; `status` follows from them. */
  counts: z.record(z.enum(deliveryStates), count),
  lastAttempt: LastAttempt.optional(),
  /** Incremented by each update. An update requires that it is unchanged. */
  rev: count,
})
export type Event = z.infer<typeof EventItem>

/** Whether it failed verification. It is never signed and delivered unless its owner accepts it. */
export function isUnverified(event: Pick<Event, 'status' | 'unverified'>): boolean {
  return event.status === 'signature_failed' || event.unverified === true
}

/** Identifies an event by the values of its key. */
export type EventLocator = Pick<Event, 'eventId' | 'sourceId' | 'receivedAt'>

export const eventRefKey = keyTemplate({ PK: 'EVT#{eventId}', SK: 'REF' })

/** Written by earlier versions; the body now locates an event that the index does not have yet. */
export const EventRefItem = z.object({
  ...eventRefKey.fields,
  eventId: id('evt'),
  sourceId: id('src'),
  receivedAt: milliseconds,
  expiresAt: seconds,
})

export const eventBodyKey = keyTemplate({ PK: 'EVT#{eventId}', SK: 'BODY' })

/**
 * The body of an event, beside it so that updates do not rewrite it. Also finds the event by its id,
 * like the index but with consistent reads.
 */
export const EventBodyItem = z.object({
  ...eventBodyKey.fields,
  eventId: id('evt'),
  /** Absent in items of earlier versions, like `receivedAt`. */
  sourceId: id('src').optional(),
  receivedAt: milliseconds.optional(),
  body: bytes,
  encoding: z.enum(['identity', 'gzip']),
  expiresAt: seconds,
})
export type EventBody = z.infer<typeof EventBodyItem>

export const dedupKey = keyTemplate({ PK: 'DEDUP#{sourceId}#{keyHash}', SK: 'DEDUP' })

/** The provider's id of an event, which detects duplicates. */
export const DedupItem = z.object({
  ...dedupKey.fields,
  eventId: id('evt'),
  expiresAt: seconds,
})

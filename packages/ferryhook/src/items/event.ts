/** An event: one webhook as it was received. */
import * as z from 'zod'
import { deliveryStates } from './delivery-state.ts'
import { keyTemplate } from './key-template.ts'
import { bytes, count, id, json, milliseconds, seconds } from './values.ts'

export const eventKey = keyTemplate({ PK: 'SRC#{sourceId}', SK: 'EVT#{receivedAt}#{eventId}' })
export const eventById = keyTemplate({ GSI1PK: 'EVTID#{eventId}', GSI1SK: 'EVENT' })

export const eventStatuses = [
  'received',
  'processing',
  'filtered',
  'delivered',
  'retrying',
  'failed',
  'held',
  'unrouted',
  'signature_failed',
] as const
export type EventStatus = (typeof eventStatuses)[number]

/** The longest body that is kept in the event item itself, in bytes. */
export const longestInlineBody = 4_096
/** The longest body at all, in bytes. */
export const longestBody = 262_144

export const EventItem = z.object({
  ...eventKey.fields,
  ...eventById.fields,
  eventId: id('evt'),
  sourceId: id('src'),
  userId: id('usr'),
  status: z.enum(eventStatuses),
  /** Why it has that status, where the status does not say it all. */
  reason: z.string().min(1).max(200).optional(),
  headers: json('object', 65_536),
  /** Absent where the body is an item of its own. */
  body: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= longestInlineBody)
    .optional(),
  bodyBytes: count.max(longestBody),
  sourceIp: z.string().min(1).max(64),
  contentType: z.string().max(1_024).optional(),
  method: z.string().regex(/^[A-Z]{1,16}$/),
  /** The query string of the request, without its question mark. */
  query: z.string().max(8_192).optional(),
  receivedAt: milliseconds,
  processedAt: milliseconds.optional(),
  deliveredAt: milliseconds.optional(),
  /** Of the last replay. */
  replayedAt: milliseconds.optional(),
  /** It failed verification and was replayed all the same, so that its status does not tell any more. */
  unverified: z.literal(true).optional(),
  expiresAt: seconds,
  /** How many of its deliveries are in each state; `status` follows from them. */
  counts: z.record(z.enum(deliveryStates), count),
  /** Raised by each change; a change holds only if nobody else made one meanwhile. */
  rev: count,
})
export type Event = z.infer<typeof EventItem>

/** Whether its sender is not who it claims to be: it must not be signed by us unasked. */
export function isUnverified(event: Pick<Event, 'status' | 'unverified'>): boolean {
  return event.status === 'signature_failed' || event.unverified === true
}

/** The key of an event, wherever it is carried along. */
export type EventAddress = Pick<Event, 'eventId' | 'sourceId' | 'receivedAt'>

export const eventRefKey = keyTemplate({ PK: 'EVT#{eventId}', SK: 'REF' })

/** Where the event of an id is: what the index says too, but never behind. */
export const EventRefItem = z.object({
  ...eventRefKey.fields,
  eventId: id('evt'),
  sourceId: id('src'),
  receivedAt: milliseconds,
  expiresAt: seconds,
})

export const eventBodyKey = keyTemplate({ PK: 'EVT#{eventId}', SK: 'BODY' })

/** A body too long for the event item, or not text. */
export const EventBodyItem = z.object({
  ...eventBodyKey.fields,
  eventId: id('evt'),
  body: bytes,
  encoding: z.enum(['identity', 'gzip']),
  expiresAt: seconds,
})
export type EventBody = z.infer<typeof EventBodyItem>

export const dedupKey = keyTemplate({ PK: 'DEDUP#{sourceId}#{keyHash}', SK: 'DEDUP' })

/** What the provider calls the event, so that its second sending is known as such. */
export const DedupItem = z.object({
  ...dedupKey.fields,
  eventId: id('evt'),
  expiresAt: seconds,
})

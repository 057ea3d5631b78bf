/** The delivery of one event to one connection, and its attempts. */
import * as z from 'zod'
import { deliveryStates } from './state.ts'
import { keyTemplate } from '../storage/key-template.ts'
import { MAX_RESPONSE_HEADERS_CHARACTERS } from '../outbound/response-headers.ts'
import { MAX_SENT_HEADERS_CHARACTERS } from '../outbound/sent-headers.ts'
import { count, id, json, milliseconds, seconds } from '../storage/schemas.ts'

export const deliveryKey = keyTemplate({ PK: 'EVT#{eventId}', SK: 'DLV#{connectionId}' })

export const DeliveryItem = z.object({
  ...deliveryKey.fields,
  eventId: id('evt'),
  connectionId: id('conn'),
  sourceId: id('src'),
  userId: id('usr'),
  receivedAt: milliseconds,
  /** 1, and one more for each replay. */
  run: z.number().int().positive(),
  state: z.enum(deliveryStates),
  reason: z.string().min(1).max(200).optional(),
  /** The replay that started this run; undefined for the first run of a routed event. */
  replayId: id('rpl').optional(),
  /** Attempts made in this run. */
  attemptsMade: count.max(8),
  /** The key under which the task of its next attempt was stored. The task may have moved since. */
  waitsAt: z.object({ PK: z.string(), SK: z.string() }).optional(),
  /** When that attempt is due; undefined while the delivery is parked. */
  nextAttemptAt: milliseconds.optional(),
  updatedAt: milliseconds,
  expiresAt: seconds,
})
export type Delivery = z.infer<typeof DeliveryItem>

export const attemptKey = keyTemplate({
  PK: 'EVT#{eventId}',
  SK: 'ATT#{attemptNumber}#{connectionId}#{run}',
})

/** The stored part of a response body or an error message. */
export const MAX_TEXT_CHARACTERS = 1_000

export const AttemptItem = z.object({
  ...attemptKey.fields,
  eventId: id('evt'),
  connectionId: id('conn'),
  attemptNumber: z.number().int().min(1).max(8),
  run: z.number().int().positive(),
  destinationUrl: z.string().min(1).max(2_048),
  /** 0 if there was no response. */
  statusCode: z.number().int().min(0).max(999),
  /** JSON: names and values, without credentials; `true` is the value of the event's header. */
  requestHeaders: json('object', MAX_SENT_HEADERS_CHARACTERS).optional(),
  /** SHA-256 in base64url of the body, unless it was the event's. */
  requestBodyHash: z.string().length(43).optional(),
  /** JSON: names and values, without credentials. */
  responseHeaders: json('object', MAX_RESPONSE_HEADERS_CHARACTERS).optional(),
  responseBody: z.string().max(MAX_TEXT_CHARACTERS).optional(),
  latencyMs: count,
  error: z.string().min(1).max(MAX_TEXT_CHARACTERS).optional(),
  attemptedAt: milliseconds,
  expiresAt: seconds,
})
export type Attempt = z.infer<typeof AttemptItem>

/** The delivery of one event to one connection, and its attempts. */
import * as z from 'zod'
import { deliveryStates } from './delivery-state.ts'
import { keyTemplate } from './key-template.ts'
import { count, id, milliseconds, seconds } from './values.ts'

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
  /** The replay that began this run; the first run of an event that was routed has none. */
  replayId: id('rpl').optional(),
  /** Attempts made in this run. */
  attemptsMade: count.max(8),
  /** Where the task of its next attempt was put to wait; whether it still lies there only the key tells. */
  waitsAt: z.object({ PK: z.string(), SK: z.string() }).optional(),
  /** When that attempt is due, unless nobody knows. */
  nextAttemptAt: milliseconds.optional(),
  updatedAt: milliseconds,
  expiresAt: seconds,
})
export type Delivery = z.infer<typeof DeliveryItem>

export const attemptKey = keyTemplate({
  PK: 'EVT#{eventId}',
  SK: 'ATT#{attemptNumber}#{connectionId}#{run}',
})

/** Of a response or an error, how many characters are kept. */
export const longestText = 1_000

export const AttemptItem = z.object({
  ...attemptKey.fields,
  eventId: id('evt'),
  connectionId: id('conn'),
  attemptNumber: z.number().int().min(1).max(8),
  run: z.number().int().positive(),
  destinationUrl: z.string().min(1).max(2_048),
  /** 0 if there was no answer. */
  statusCode: z.number().int().min(0).max(999),
  responseBody: z.string().max(longestText).optional(),
  latencyMs: count,
  error: z.string().min(1).max(longestText).optional(),
  attemptedAt: milliseconds,
  expiresAt: seconds,
})
export type Attempt = z.infer<typeof AttemptItem>

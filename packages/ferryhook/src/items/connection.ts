/** A connection: where the events of a source go, and what happens to them on the way. */
import * as z from 'zod'
import { keyTemplate } from './key-template.ts'
import { lifecycle } from './source.ts'
import { count, id, isoTime, json, sealed } from './values.ts'

export const connectionKey = keyTemplate({ PK: 'SRC#{sourceId}', SK: 'CONN#{connectionId}' })
export const connectionById = keyTemplate({ GSI3PK: 'CONNID#{connectionId}', GSI3SK: 'CONN' })

/** Delays in seconds before each attempt; eight attempts at most. */
const retryConfig = json('array', 1_000).refine((text) => {
  const delays: unknown[] = JSON.parse(text)
  const fits = (delay: unknown) => typeof delay === 'number' && delay >= 0 && delay <= 86_400 * 7
  return delays.length >= 1 && delays.length <= 8 && delays.every(fits)
})

export const ConnectionItem = z.object({
  ...connectionKey.fields,
  ...connectionById.fields,
  connectionId: id('conn'),
  sourceId: id('src'),
  userId: id('usr'),
  name: z.string().min(1).max(100),
  destinationUrl: z.url({ protocol: /^https?$/ }).max(2_048),
  /** A sealed JSON list of the secrets in force. */
  signingSecret: sealed,
  filters: json('array', 65_536).optional(),
  transform: json('object', 65_536).optional(),
  retryConfig: retryConfig.optional(),
  /** JSON: `concurrency` and `perSecond`, how much the destination is given at once. */
  limits: json('object', 1_000).optional(),
  /** A sealed JSON object: headers to send along, which may be credentials. */
  customHeaders: sealed.optional(),
  status: lifecycle,
  /** Why it is paused, when nobody asked for it: `gone` (410), `failing`, … */
  statusReason: z.string().min(1).max(200).optional(),
  deliveryCount: count,
  failureCount: count,
  /** Since when no attempt has succeeded, and how many failed since; absent while all is well. */
  failingSince: isoTime.optional(),
  failedAttempts: count.optional(),
  /** When its owner was told of that. */
  warnedAt: isoTime.optional(),
  createdAt: isoTime,
  updatedAt: isoTime,
  /** Raised by each change, so that a task is parked on what its worker really saw. */
  rev: count,
})
export type Connection = z.infer<typeof ConnectionItem>

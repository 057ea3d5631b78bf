/** A connection: the destination of a source's events, and how they are filtered and transformed. */
import * as z from 'zod'
import { keyTemplate } from '../storage/key-template.ts'
import { resourceStatus } from '../sources/item.ts'
import { count, id, isoTime, json, milliseconds, sealed, seconds } from '../storage/schemas.ts'

export const connectionKey = keyTemplate({ PK: 'SRC#{sourceId}', SK: 'CONN#{connectionId}' })
export const connectionById = keyTemplate({ GSI3PK: 'CONNID#{connectionId}', GSI3SK: 'CONN' })

/** Delays in seconds before each attempt, at most eight. */
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
  /** `test:STATUS` is the built-in test destination. */
  destinationUrl: z.url({ protocol: /^(?:https?|test)$/ }).max(2_048),
  /** The active secrets: a JSON list, sealed. */
  signingSecret: sealed,
  filters: json('array', 65_536).optional(),
  transform: json('object', 65_536).optional(),
  retryConfig: retryConfig.optional(),
  /** JSON: the destination's limits, `concurrency` and `perSecond`. */
  limits: json('object', 1_000).optional(),
  /** A JSON object, sealed: headers to send with each delivery, which may be credentials. */
  customHeaders: sealed.optional(),
  status: resourceStatus,
  /** Why Ferryhook paused it: `gone` (410), `failing`, …; absent if its owner did. */
  statusReason: z.string().min(1).max(200).optional(),
  /** Deliveries that have ended, up to `countedEnds`. */
  deliveryCount: count,
  failureCount: count,
  /** The sums of the end counters that are contained in the two counts. */
  countedEnds: z.object({ delivered: count, failed: count }).optional(),
  /** The first failed attempt since the last success, and the number of failures since. */
  failingSince: isoTime.optional(),
  failedAttempts: count.optional(),
  /** The last successful attempt; written within seconds. */
  lastDeliveredAt: isoTime.optional(),
  /** When its owner was notified of the failures. */
  warnedAt: isoTime.optional(),
  createdAt: isoTime,
  updatedAt: isoTime,
  /** Incremented by each change, so that a worker parks a task only on the version it read. */
  rev: count,
})
export type Connection = z.infer<typeof ConnectionItem>

export const endCountKey = keyTemplate({ PK: 'CONN#{connectionId}', SK: 'COUNT#{slot}' })

/** How many deliveries have ended; the counts of a connection are the sums of its slots. */
export const EndCountItem = z.object({
  ...endCountKey.fields,
  connectionId: id('conn'),
  delivered: count.optional(),
  failed: count.optional(),
})
export type EndCounts = NonNullable<Connection['countedEnds']>

export const circuitKey = keyTemplate({ PK: 'CONN#{connectionId}', SK: 'CIRCUIT#{workerId}' })

/** The open circuit breaker of a worker. */
export const CircuitItem = z.object({
  ...circuitKey.fields,
  connectionId: id('conn'),
  workerId: id('wrk'),
  since: milliseconds,
  /** When it lets a probe through. */
  nextAttemptAt: milliseconds,
  expiresAt: seconds,
})
export type Circuit = z.infer<typeof CircuitItem>

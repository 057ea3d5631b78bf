/** Statistics of a source by hour and day, and monthly quotas. */
import * as z from 'zod'
import { deliveryStates } from '../deliveries/state.ts'
import { eventStatuses } from '../events/values.ts'
import { keyTemplate } from '../storage/key-template.ts'
import { count, id, milliseconds, seconds } from '../storage/schemas.ts'

export const rollupKey = keyTemplate({ PK: 'STAT#{sourceId}', SK: '{span}#{startsAt}' })

export const RollupItem = z.object({
  ...rollupKey.fields,
  sourceId: id('src'),
  span: z.enum(['hour', 'day']),
  startsAt: milliseconds,
  events: z.partialRecord(z.enum(eventStatuses), count),
  deliveries: z.partialRecord(z.enum(deliveryStates), count),
  /** Delivered events by latency class. */
  latencies: z.record(z.string().regex(/^\d{1,3}$/), count),
  /** Hours only: when its first event expires, after which a recount would find fewer. */
  countableUntil: milliseconds.optional(),
  expiresAt: seconds,
})
export type Rollup = z.infer<typeof RollupItem>

export const rollupWatermarkKey = keyTemplate({ PK: 'STAT#{sourceId}', SK: 'MARK' })

/** Up to where the hours of a source are counted. */
export const RollupWatermarkItem = z.object({
  ...rollupWatermarkKey.fields,
  sourceId: id('src'),
  /** Hours that start before it are counted. */
  countedUntil: milliseconds,
  /** Hours that will be counted again, and when, because some of their events are pending. */
  again: z.record(z.string().regex(/^\d{13}$/), milliseconds),
  /** Incremented by each update. An update requires that it is unchanged. */
  rev: count,
  expiresAt: seconds,
})
export type RollupWatermark = z.infer<typeof RollupWatermarkItem>

export const quotaKey = keyTemplate({ PK: 'QUOTA#{userId}', SK: '{month}' })

/** The number of events of a user in a month, for plans that reject events beyond their limit. */
export const QuotaItem = z.object({ ...quotaKey.fields, events: count, expiresAt: seconds })

/** What became of the events that a source received in an hour, or on a day. */
import * as z from 'zod'
import { deliveryStates } from './delivery-state.ts'
import { eventStatuses } from './event.ts'
import { keyTemplate } from './key-template.ts'
import { count, id, milliseconds, seconds } from './values.ts'

export const statKey = keyTemplate({ PK: 'STAT#{sourceId}', SK: '{span}#{startsAt}' })

export const StatItem = z.object({
  ...statKey.fields,
  sourceId: id('src'),
  span: z.enum(['hour', 'day']),
  startsAt: milliseconds,
  events: z.partialRecord(z.enum(eventStatuses), count),
  deliveries: z.partialRecord(z.enum(deliveryStates), count),
  /** How many were delivered how fast, by the number of a class of times. */
  latencies: z.record(z.string().regex(/^\d{1,3}$/), count),
  /** Of an hour. Its first event expires then: counting again would find fewer. */
  countableUntil: milliseconds.optional(),
  expiresAt: seconds,
})
export type Stat = z.infer<typeof StatItem>

export const statMarkKey = keyTemplate({ PK: 'STAT#{sourceId}', SK: 'MARK' })

/** How far the hours of a source are counted. */
export const StatMarkItem = z.object({
  ...statMarkKey.fields,
  sourceId: id('src'),
  /** Hours that begin before it are. */
  countedUntil: milliseconds,
  /** Hours that are to be counted again, and when: some of their events have not come to their end. */
  again: z.record(z.string().regex(/^\d{13}$/), milliseconds),
  /** Raised by each change; a change holds only if nobody else made one meanwhile. */
  rev: count,
  expiresAt: seconds,
})
export type StatMark = z.infer<typeof StatMarkItem>

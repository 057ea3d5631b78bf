/** What a source was sent and is not among its events, or not as its owner expects. */
import * as z from 'zod'
import { keyTemplate } from './key-template.ts'
import { count, id, milliseconds, seconds } from './values.ts'

export const tallyKey = keyTemplate({ PK: 'SRC#{sourceId}', SK: 'TALLY#{hour}#{writerId}' })

/** Each process has its own item of an hour, which it writes again with higher counts. */
export const TallyItem = z.object({
  ...tallyKey.fields,
  sourceId: id('src'),
  userId: id('usr'),
  /** The first millisecond of the hour. */
  hour: milliseconds,
  writerId: id('wrt'),
  /** Refused because the minute was full. */
  minute: count,
  /** Refused because the month was full. */
  month: count,
  /** Refused because of the signature, and not kept since there were too many such. */
  unverified: count,
  /** Accepted although the month was full. */
  beyondMonth: count,
  expiresAt: seconds,
})
export type Tally = z.infer<typeof TallyItem>

export const tallyCounts = ['minute', 'month', 'unverified', 'beyondMonth'] as const
export type TallyCount = (typeof tallyCounts)[number]
export type TallyCounts = Record<TallyCount, number>

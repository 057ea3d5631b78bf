/** Hourly counts of requests that left no event, or exceeded the monthly limit. */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import * as z from 'zod'
import { keyTemplate } from '../storage/key-template.ts'
import { count, id, milliseconds, seconds } from '../storage/schemas.ts'
import { HOUR_MS, isUnexpired } from '../storage/time.ts'
import type { StoreDeps } from '../stores.ts'
import { eventsTable } from '../tables.ts'

const RETENTION_SECONDS = 30 * 86_400

export const ingestCounterKey = keyTemplate({ PK: 'SRC#{sourceId}', SK: 'TALLY#{hour}#{writerId}' })

/** Each process has its own item for an hour, which it overwrites with higher counts. */
export const IngestCounterItem = z.object({
  ...ingestCounterKey.fields,
  sourceId: id('src'),
  userId: id('usr'),
  /** The first millisecond of the hour. */
  hour: milliseconds,
  writerId: id('wrt'),
  /** Rejected: limit per minute. */
  minute: count,
  /** Rejected: limit per month. */
  month: count,
  /** Rejected: invalid signature, and not stored because there were too many. */
  unverified: count,
  /** Accepted beyond the limit per month. */
  beyondMonth: count,
  expiresAt: seconds,
})
export type IngestCounter = z.infer<typeof IngestCounterItem>

export const ingestCounts = ['minute', 'month', 'unverified', 'beyondMonth'] as const
export type IngestCountName = (typeof ingestCounts)[number]
export type IngestCounts = Record<IngestCountName, number>

export const zeroCounts: Readonly<IngestCounts> = {
  minute: 0,
  month: 0,
  unverified: 0,
  beyondMonth: 0,
}

export interface HourlyCounts extends IngestCounts {
  /** The first millisecond of the hour. */
  hour: number
}

export function createIngestCounterStore({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const counters = entity(db, eventsTable, IngestCounterItem)

  return {
    /** Replaces the counts of one process for one hour. */
    put: (counter: Omit<IngestCounter, 'PK' | 'SK' | 'expiresAt'>): Promise<void> =>
      counters.put({
        ...ingestCounterKey.of(counter),
        ...counter,
        expiresAt: Math.floor(counter.hour / 1000) + RETENTION_SECONDS,
      }),

    /** The hours since a time that have counts, oldest first. */
    async listBySource(sourceId: string, since: number): Promise<HourlyCounts[]> {
      const [PK, SK] = [counters.attr('PK'), counters.attr('SK')]
      const first = `TALLY#${Math.floor(Math.max(since, 0) / HOUR_MS) * HOUR_MS}`
      const partition = ingestCounterKey.of({ sourceId, hour: '', writerId: '' }).PK
      const { items } = await counters.query({
        key: expr`${PK} = ${partition} AND ${SK} BETWEEN ${first} AND ${'TALLY#~'}`,
      })
      const hours = new Map<number, HourlyCounts>()
      for (const counter of items.filter((item) => isUnexpired(clock, item))) {
        const hour = hours.get(counter.hour) ?? { hour: counter.hour, ...zeroCounts }
        for (const name of ingestCounts) hour[name] += counter[name]
        hours.set(counter.hour, hour)
      }
      return [...hours.values()]
    },
  }
}

export type IngestCounterStore = ReturnType<typeof createIngestCounterStore>

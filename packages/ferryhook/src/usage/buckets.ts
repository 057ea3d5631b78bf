/** Statistics of one source over time, in buckets of equal length. */
import type { Stores } from '../stores.ts'
import { addEvent, emptyStatistics, type EventStatistics, mergeStatistics } from './event-counts.ts'
import type { Rollup } from './item.ts'

export interface Bucket {
  startsAt: number
  statistics: EventStatistics
  /** Requests that were rejected, and so are not events. */
  refused: number
}

export interface BucketRange {
  /** What was received since, but before `from`, is summed up as the previous period. */
  since: number
  /** The start of the first bucket. */
  from: number
  to: number
  bucketMs: number
  /** The rollups that are read; buckets are multiples of them. */
  rollup: Rollup['span']
}

/** Usually a worker has counted them long before. */
const MAX_REFRESHED_HOURS = 24

export function createBucketCounter({
  stores: { statistics, eventCounts },
}: {
  stores: Pick<Stores, 'statistics' | 'eventCounts'>
}) {
  /** Combines the stored rollups with the events that were received since the last one. */
  return async function countBuckets(
    sourceId: string,
    range: BucketRange,
    { maxEvents }: { maxEvents: number },
  ) {
    const { since, from, to, bucketMs, rollup: span } = range
    const buckets = emptyBuckets(range)
    const previous = emptyStatistics()
    const statisticsAt = (at: number) =>
      at < from ? previous : buckets[Math.floor((at - from) / bucketMs)]?.statistics
    await statistics.refresh(sourceId, { maxHours: MAX_REFRESHED_HOURS })
    for (const rollup of await statistics.list(sourceId, span, { from: since, until: to + 1 })) {
      const sum = statisticsAt(rollup.startsAt)
      if (sum) mergeStatistics(sum, rollup)
    }
    const countedUntil = await statistics.countedUntil(sourceId)
    const { events, isComplete } = await eventCounts.count(
      { sourceId, from: Math.max(since, countedUntil), until: to + 1 },
      {
        max: Math.max(maxEvents, 1),
        onEvent(event) {
          const sum = statisticsAt(event.receivedAt)
          if (sum) addEvent(sum, event)
        },
      },
    )
    return { buckets, previous, counted: events, isComplete }
  }
}

export function emptyBuckets({
  from,
  to,
  bucketMs,
}: Pick<BucketRange, 'from' | 'to' | 'bucketMs'>): Bucket[] {
  const buckets: Bucket[] = []
  for (let startsAt = from; startsAt <= to; startsAt += bucketMs) {
    buckets.push({ startsAt, statistics: emptyStatistics(), refused: 0 })
  }
  return buckets
}

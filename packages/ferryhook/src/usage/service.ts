/** The usage of a user's plan. */
import type { Clock } from '@strongroom/platform/clock'
import pLimit from 'p-limit'
import type { Principal } from '../accounts/authentication.ts'
import { type Plan, planLimits, type PlanLimits } from '../plans.ts'
import { DAY_MS, monthStart, nextMonthStart } from '../storage/time.ts'
import type { Stores } from '../stores.ts'
import { createBucketCounter, emptyBuckets } from './buckets.ts'
import { totalEvents } from './event-counts.ts'
import type { Figures } from './figures.ts'

export interface Usage {
  plan: Plan
  limits: PlanLimits
  /** Dates in UTC. */
  periodStart: string
  periodEnd: string
  /** Received in the period, except those that failed verification. */
  events: number
  /** Some sources received too many events since the last count to count them now. */
  isLowerBound: boolean
  sources: number
  /** Events of each day so far, by the statistics. */
  days: { startsAt: number; events: number }[]
  /** False if there were too many events to count them by day in one request. */
  isDailyComplete: boolean
}

/** Events that no rollup contains yet, and that are counted in the request. */
const MAX_COUNTED_EVENTS = 50_000
const SOURCE_CONCURRENCY = 10

export function createUsageService(deps: {
  stores: Pick<Stores, 'sources' | 'statistics' | 'eventCounts'>
  figures: Pick<Figures, 'usage'>
  clock: Clock
}) {
  const { stores, figures, clock } = deps
  const countBuckets = createBucketCounter(deps)

  async function countDays(sourceIds: readonly string[], now: number) {
    const from = Date.parse(monthStart(now))
    const range = { since: from, from, to: now, bucketMs: DAY_MS, rollup: 'day' } as const
    const days = emptyBuckets(range).map(({ startsAt }) => ({ startsAt, events: 0 }))
    let left = MAX_COUNTED_EVENTS
    let isDailyComplete = true
    await pLimit(SOURCE_CONCURRENCY).map([...sourceIds], async (sourceId) => {
      const { buckets, counted, isComplete } = await countBuckets(sourceId, range, {
        maxEvents: left,
      })
      left -= counted
      isDailyComplete &&= isComplete
      for (const [index, { statistics }] of buckets.entries()) {
        const day = days[index]
        // Events that failed verification do not count.
        if (day) day.events += totalEvents(statistics) - statistics.events.signature_failed
      }
    })
    return { days, isDailyComplete }
  }

  return {
    async usage({ user: { userId, plan } }: Principal): Promise<Usage> {
      const now = clock.now()
      const sources = await stores.sources.listByUser(userId, { includeDeleted: true })
      const [{ events, isLowerBound }, daily] = await Promise.all([
        figures.usage(userId),
        countDays(
          sources.map(({ sourceId }) => sourceId),
          now,
        ),
      ])
      return {
        plan,
        limits: planLimits[plan],
        periodStart: monthStart(now),
        periodEnd: monthStart(nextMonthStart(now)),
        events,
        isLowerBound,
        sources: sources.filter(({ status }) => status !== 'deleted').length,
        ...daily,
      }
    },
  }
}

export type UsageService = ReturnType<typeof createUsageService>

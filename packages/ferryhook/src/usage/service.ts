/** Delivery statistics of a user's sources, and the usage of their plan. */
import type { Clock } from '@strongroom/platform/clock'
import pLimit from 'p-limit'
import type { Principal } from '../accounts/authentication.ts'
import type { EventService } from '../events/service.ts'
import { type IngestCounts, ingestCounts, zeroCounts } from '../ingest/counter-store.ts'
import { type Plan, planLimits, type PlanLimits } from '../plans.ts'
import type { Source } from '../sources/item.ts'
import { DAY_MS, HOUR_MS, monthStart, nextMonthStart } from '../storage/time.ts'
import type { Stores } from '../stores.ts'
import {
  emptyStatistics,
  type EventStatistics,
  latencyPercentile,
  mergeStatistics,
} from './event-counts.ts'

export const periods = ['24h', '7d', '30d'] as const
export type Period = (typeof periods)[number]

export interface Overview extends Pick<EventStatistics, 'events' | 'deliveries'> {
  /** In milliseconds; the start of an hour or a day. */
  from: number
  to: number
  /** Delivered among all finished deliveries; undefined if none has finished. */
  successRate: number | undefined
  /** From the receipt of an event to its last delivery, in milliseconds. */
  latency: { p50: number | undefined; p99: number | undefined }
  /** Requests that were rejected, and so are not events. */
  refused: IngestCounts
  /** False if there were too many events to count in one request. */
  isComplete: boolean
}

export interface Usage {
  plan: Plan
  limits: PlanLimits
  /** Dates in UTC. */
  periodStart: string
  periodEnd: string
  /** Received in the period, except those that failed verification. */
  events: number
  sources: number
}

/** Events that no rollup contains yet, and that are counted in the request. */
const MAX_COUNTED_EVENTS = 50_000
/** Usually a worker has counted them long before. */
const MAX_REFRESHED_HOURS = 24
const SOURCE_CONCURRENCY = 10

/** Workers count every few minutes. A source this far behind has no worker, or had no events for long. */
const BEHIND_MS = HOUR_MS
const MAX_USAGE_READS = 5

export function createUsageService(deps: {
  stores: Pick<
    Stores,
    'users' | 'sources' | 'metering' | 'statistics' | 'eventCounts' | 'ingestCounters'
  >
  eventService: Pick<EventService, 'getSource'>
  clock: Clock
}) {
  const { stores, eventService, clock } = deps
  const { statistics, eventCounts, ingestCounters, metering } = stores

  async function sourcesOf(principal: Principal, sourceId: string | undefined): Promise<Source[]> {
    if (sourceId !== undefined) return [await eventService.getSource(principal, sourceId)]
    return stores.sources.listByUser(principal.user.userId, { includeDeleted: true })
  }

  /** Events that are not in the user's stored usage yet. */
  async function uncountedEvents(source: Source): Promise<number> {
    const found = await metering.pending(source)
    const isBehind = clock.now() - (source.countedUntil ?? 0) > BEHIND_MS
    if (found === 0 || !isBehind) return found
    await metering.catchUp(source)
    const { sourceId, userId } = source
    const current = await stores.sources.getOwned(sourceId, userId, { includeDeleted: true })
    return current ? metering.pending(current) : 0
  }

  async function countedEvents(userId: string): Promise<number> {
    const user = await stores.users.getById(userId)
    // The first event of a month resets the count; until then it belongs to an earlier month.
    return user?.usagePeriodStart === monthStart(clock.now()) ? user.usageThisMonth : 0
  }

  return {
    /** Combines the stored rollups with the events that were received since the last one. */
    async overview(
      principal: Principal,
      { period, sourceId }: { period: Period; sourceId?: string | undefined },
    ): Promise<Overview> {
      const sources = await sourcesOf(principal, sourceId)
      const now = clock.now()
      const from = startOf(period, now)
      const sum = emptyStatistics()
      const refused: IngestCounts = { ...zeroCounts }
      let left = MAX_COUNTED_EVENTS
      let isComplete = true

      async function add({ sourceId: id }: Source): Promise<void> {
        await statistics.refresh(id, { maxHours: MAX_REFRESHED_HOURS })
        const span = period === '24h' ? 'hour' : 'day'
        const rollups = await statistics.list(id, span, { from, until: now })
        for (const rollup of rollups) mergeStatistics(sum, rollup)
        const since = Math.max(from, await statistics.countedUntil(id))
        const range = { sourceId: id, from: since, until: now + 1 }
        const recent = await eventCounts.count(range, Math.max(left, 1))
        mergeStatistics(sum, recent.statistics)
        left -= recent.events
        isComplete &&= recent.isComplete
        for (const hour of await ingestCounters.listBySource(id, from)) {
          for (const name of ingestCounts) refused[name] += hour[name]
        }
      }

      await pLimit(SOURCE_CONCURRENCY).map(sources, add)
      const { delivered, failed } = sum.deliveries
      return {
        from,
        to: now,
        events: sum.events,
        deliveries: sum.deliveries,
        successRate: delivered + failed === 0 ? undefined : delivered / (delivered + failed),
        latency: { p50: latencyPercentile(0.5, sum), p99: latencyPercentile(0.99, sum) },
        refused,
        isComplete,
      }
    },

    async usage({ user: { userId, plan } }: Principal): Promise<Usage> {
      let [before, sources, uncounted] = [-1, [] as Source[], 0]
      let counted = await countedEvents(userId)
      // A worker that counts concurrently moves events from `uncounted` to `counted`: read again.
      for (let reads = 0; counted !== before && reads < MAX_USAGE_READS; reads++) {
        before = counted
        sources = await stores.sources.listByUser(userId, { includeDeleted: true })
        const events = await pLimit(SOURCE_CONCURRENCY).map(sources, uncountedEvents)
        uncounted = events.reduce((sum, each) => sum + each, 0)
        counted = await countedEvents(userId)
      }
      const now = clock.now()
      return {
        plan,
        limits: planLimits[plan],
        periodStart: monthStart(now),
        periodEnd: monthStart(nextMonthStart(now)),
        events: counted + uncounted,
        sources: sources.filter(({ status }) => status !== 'deleted').length,
      }
    },
  }
}

export type UsageService = ReturnType<typeof createUsageService>

/** A whole hour or day, so a period is at least as long as its name says. */
function startOf(period: Period, now: number): number {
  if (period === '24h') return Math.floor(now / HOUR_MS) * HOUR_MS - DAY_MS
  return Math.floor(now / DAY_MS) * DAY_MS - (period === '7d' ? 7 : 30) * DAY_MS
}

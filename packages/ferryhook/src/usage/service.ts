/** What became of a user's events: counted hours and days, and what came since, counted now. */
import type { Clock } from '@strongroom/platform/clock'
import type { Principal } from '../accounts/authentication.ts'
import type { EventService } from '../events/service.ts'
import { HOUR_MS, type IngestCounts, ingestCounts, zeroCounts } from '../ingest/counter-store.ts'
import type { Source } from '../sources/item.ts'
import type { Stores } from '../stores.ts'
import {
  mergeStatistics,
  type EventStatistics,
  latencyPercentile,
  emptyStatistics,
} from './event-counts.ts'
import { DAY_MS } from './statistics-store.ts'

export const periods = ['24h', '7d', '30d'] as const
export type Period = (typeof periods)[number]

export interface Overview extends Pick<EventStatistics, 'events' | 'deliveries'> {
  /** In milliseconds; the first hour, or day, is a whole one. */
  from: number
  to: number
  /** Of the deliveries that came to an end by an attempt; undefined if none did. */
  successRate: number | undefined
  /** From the receipt of an event to its last delivery, in milliseconds. */
  latency: { p50: number | undefined; p99: number | undefined }
  /** What was refused, and so is no event. */
  refused: IngestCounts
  /** False if there was more to count than could be for one answer. */
  isComplete: boolean
}

/** Of events that are not in any figure yet. */
const MOST_COUNTED_NOW = 50_000
/** Usually a worker has counted them long before. */
const MAX_HOURS_REFRESHED = 24
const SOURCES_AT_ONCE = 10

export function createOverview(deps: {
  stores: Pick<Stores, 'sources' | 'statistics' | 'eventCounts' | 'ingestCounters'>
  eventService: Pick<EventService, 'getSource'>
  clock: Clock
}) {
  const { stores, eventService, clock } = deps
  const { statistics: stats, eventCounts: scan, ingestCounters: tallies } = stores

  async function sourcesOf(principal: Principal, sourceId: string | undefined): Promise<Source[]> {
    if (sourceId !== undefined) return [await eventService.getSource(principal, sourceId)]
    return stores.sources.listByUser(principal.user.userId, { includeDeleted: true })
  }

  return async (
    principal: Principal,
    { period, sourceId }: { period: Period; sourceId?: string | undefined },
  ): Promise<Overview> => {
    const sources = await sourcesOf(principal, sourceId)
    const now = clock.now()
    const from = startOf(period, now)
    const sum = emptyStatistics()
    const refused: IngestCounts = { ...zeroCounts }
    let left = MOST_COUNTED_NOW
    let isComplete = true

    async function add(id: string): Promise<void> {
      await stats.refresh(id, { maxHours: MAX_HOURS_REFRESHED })
      const span = period === '24h' ? 'hour' : 'day'
      for (const stat of await stats.list(id, span, { from, until: now }))
        mergeStatistics(sum, stat)
      const since = Math.max(from, await stats.countedUntil(id))
      const most = Math.max(left, 1)
      const recent = await scan.count({ sourceId: id, from: since, until: now + 1 }, most)
      mergeStatistics(sum, recent.figures)
      left -= recent.events
      isComplete &&= recent.isComplete
      for (const hour of await tallies.listBySource(id, from)) {
        for (const name of ingestCounts) refused[name] += hour[name]
      }
    }

    for (let at = 0; at < sources.length; at += SOURCES_AT_ONCE) {
      const some = sources.slice(at, at + SOURCES_AT_ONCE)
      await Promise.all(some.map(({ sourceId: id }) => add(id)))
    }
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
  }
}

export type OverviewOf = ReturnType<typeof createOverview>

/** At least as long as it says: whole hours, or whole days, and the running one. */
function startOf(period: Period, now: number): number {
  if (period === '24h') return Math.floor(now / HOUR_MS) * HOUR_MS - DAY_MS
  return Math.floor(now / DAY_MS) * DAY_MS - (period === '7d' ? 7 : 30) * DAY_MS
}

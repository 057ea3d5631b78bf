/** Statistics of a user's sources over time, and the connections that need attention. */
import type { Clock } from '@strongroom/platform/clock'
import pLimit from 'p-limit'
import type { Principal } from '../accounts/authentication.ts'
import { toHealthState } from '../connections/account-connections.ts'
import type { CurrentConnection } from '../connections/activity-store.ts'
import type { Connection } from '../connections/item.ts'
import type { EventService } from '../events/service.ts'
import { type IngestCounts, ingestCounts, zeroCounts } from '../ingest/counter-store.ts'
import type { Source } from '../sources/item.ts'
import { DAY_MS, HOUR_MS } from '../storage/time.ts'
import type { Stores } from '../stores.ts'
import { type Bucket, type BucketRange, createBucketCounter, emptyBuckets } from './buckets.ts'
import {
  emptyStatistics,
  type EventStatistics,
  mergeStatistics,
  totalEvents,
} from './event-counts.ts'
import type { Figures, SourceWithFigures } from './figures.ts'

export const periods = ['24h', '7d', '30d'] as const
export type Period = (typeof periods)[number]

interface Span extends Pick<BucketRange, 'bucketMs' | 'rollup'> {
  ms: number
  /** Rollups are retained for 40 days, so nothing is known of the 30 days before the last 30. */
  hasPrevious: boolean
}

const spans: Readonly<Record<Period, Span>> = {
  '24h': { ms: DAY_MS, bucketMs: HOUR_MS, rollup: 'hour', hasPrevious: true },
  '7d': { ms: 7 * DAY_MS, bucketMs: 6 * HOUR_MS, rollup: 'hour', hasPrevious: true },
  '30d': { ms: 30 * DAY_MS, bucketMs: DAY_MS, rollup: 'day', hasPrevious: false },
}

export interface SourceOverview {
  source: SourceWithFigures
  statistics: EventStatistics
  /** The number of events in each bucket. */
  events: number[]
}

export interface NamedConnection {
  connection: CurrentConnection
  sourceName: string
}

export interface Overview {
  /** In milliseconds; the start of the first bucket. */
  from: number
  to: number
  bucketMs: number
  statistics: EventStatistics
  /** Oldest first; the last one is not over. */
  buckets: Bucket[]
  /** The time before `from` that is as long as the period. */
  previous: { from: number; statistics: EventStatistics } | undefined
  refused: IngestCounts
  /** Deleted ones only if they received events in the period. */
  sources: SourceOverview[]
  /** Those that fail or are paused, longest failing first. */
  attention: NamedConnection[]
  connections: { total: number; failing: number; paused: number }
  /** False if there were too many events to count in one request. */
  isComplete: boolean
}

/** Events that no rollup contains yet, and that are counted in the request. */
const MAX_COUNTED_EVENTS = 50_000
const MAX_ATTENTION = 50
const SOURCE_CONCURRENCY = 10

export type GetOverview = ReturnType<typeof createOverview>

export function createOverview(deps: {
  stores: Pick<
    Stores,
    | 'sources'
    | 'statistics'
    | 'eventCounts'
    | 'ingestCounters'
    | 'connections'
    | 'connectionActivity'
  >
  figures: Pick<Figures, 'sources'>
  eventService: Pick<EventService, 'getSource'>
  clock: Clock
}) {
  const { stores, figures, eventService, clock } = deps
  const { ingestCounters } = stores
  const countBuckets = createBucketCounter(deps)

  async function sourcesOf(principal: Principal, sourceId: string | undefined): Promise<Source[]> {
    if (sourceId !== undefined) return [await eventService.getSource(principal, sourceId)]
    return stores.sources.listByUser(principal.user.userId, { includeDeleted: true })
  }

  async function connectionHealth(sources: readonly Source[]) {
    const counts = { total: 0, failing: 0, paused: 0 }
    const needing: { connection: Connection; sourceName: string }[] = []
    await pLimit(SOURCE_CONCURRENCY).map(sources, async ({ sourceId, name, status }) => {
      if (status === 'deleted') return
      for (const connection of await stores.connections.listBySource(sourceId)) {
        counts.total += 1
        const health = toHealthState(connection)
        if (health === 'active') continue
        counts[health] += 1
        needing.push({ connection, sourceName: name })
      }
    })
    const listed = needing
      .toSorted((a, b) => compareUrgency(a.connection, b.connection))
      .slice(0, MAX_ATTENTION)
    const attention = await pLimit(SOURCE_CONCURRENCY).map(
      listed,
      async ({ connection, sourceName }) => ({
        connection: await stores.connectionActivity.current(connection),
        sourceName,
      }),
    )
    return { counts, attention }
  }

  return async function getOverview(
    principal: Principal,
    { period, sourceId }: { period: Period; sourceId?: string | undefined },
  ): Promise<Overview> {
    const stored = await sourcesOf(principal, sourceId)
    const span = spans[period]
    const to = clock.now()
    // Whole buckets, so a period is at least as long as its name says.
    const from = Math.floor(to / span.bucketMs) * span.bucketMs - span.ms
    const since = span.hasPrevious ? from - span.ms : from
    const range = { since, from, to, ...span }
    const buckets = emptyBuckets(range)
    const [sum, previous] = [emptyStatistics(), emptyStatistics()]
    const refused: IngestCounts = { ...zeroCounts }
    let left = MAX_COUNTED_EVENTS
    let isComplete = true

    async function addSource(source: SourceWithFigures): Promise<SourceOverview> {
      const found = await countBuckets(source.sourceId, range, { maxEvents: left })
      left -= found.counted
      isComplete &&= found.isComplete
      mergeStatistics(previous, found.previous)
      const own = emptyStatistics()
      for (const [index, { statistics: each }] of found.buckets.entries()) {
        mergeStatistics(own, each)
        const bucket = buckets[index]
        if (bucket) mergeStatistics(bucket.statistics, each)
      }
      mergeStatistics(sum, own)
      for (const hour of await ingestCounters.listBySource(source.sourceId, from)) {
        for (const name of ingestCounts) refused[name] += hour[name]
        const bucket = buckets[Math.floor((hour.hour - from) / span.bucketMs)]
        if (bucket) bucket.refused += hour.minute + hour.month + hour.unverified
      }
      return {
        source,
        statistics: own,
        events: found.buckets.map(({ statistics: each }) => totalEvents(each)),
      }
    }

    const [sources, health] = await Promise.all([
      pLimit(SOURCE_CONCURRENCY).map(await figures.sources(stored), addSource),
      connectionHealth(stored),
    ])
    return {
      from,
      to,
      bucketMs: span.bucketMs,
      statistics: sum,
      buckets,
      previous: span.hasPrevious ? { from: since, statistics: previous } : undefined,
      refused,
      sources: sources.filter(
        ({ source, events }) => source.status !== 'deleted' || events.some((count) => count > 0),
      ),
      attention: health.attention,
      connections: health.counts,
      isComplete,
    }
  }
}

/** Failing before paused, longest failing first. ISO times compare as text. */
function compareUrgency(a: Connection, b: Connection): number {
  const rank = ({ status, failingSince = '' }: Connection) =>
    status === 'paused' ? `1 ${failingSince}` : `0 ${failingSince}`
  return rank(a) < rank(b) ? -1 : 1
}

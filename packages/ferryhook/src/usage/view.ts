import { z } from '@hono/zod-openapi'
import { CircuitView, toCircuitView } from '../connections/view.ts'
import { deliveryStates } from '../deliveries/state.ts'
import { eventStatuses } from '../events/values.ts'
import { plans } from '../plans.ts'
import { resourceStatus } from '../sources/item.ts'
import { providers } from '../sources/values.ts'
import {
  type EventStatistics,
  latencyPercentile,
  successRate,
  totalEvents,
} from './event-counts.ts'
import { type NamedConnection, type Overview, type Period, periods } from './overview.ts'
import type { Usage } from './service.ts'

const EventTotals = z.object({
  total: z.int(),
  byStatus: z.record(z.enum(eventStatuses), z.int()),
})
const DeliveryTotals = z.record(z.enum(deliveryStates), z.int())
const SuccessRate = z.number().min(0).max(1).nullable().openapi({
  description: 'The share of finished deliveries that succeeded',
})
const Latency = z
  .object({ p50: z.int().nullable(), p95: z.int().nullable(), p99: z.int().nullable() })
  .openapi({ description: 'From receipt to delivery, accurate to 5 %' })

const Statistics = z.object({
  events: EventTotals,
  deliveries: DeliveryTotals,
  successRate: SuccessRate,
  latencyMs: Latency,
})

const AttentionView = z.object({
  id: z.string(),
  name: z.string(),
  sourceId: z.string(),
  sourceName: z.string(),
  destinationUrl: z.string(),
  status: z.enum(['failing', 'paused']),
  statusReason: z.string().nullable().openapi({
    description: 'Why Ferryhook paused it; null if its owner did',
    example: 'gone',
  }),
  failingSince: z.string().nullable().openapi({
    description: 'The first failed attempt since the last success',
  }),
  failedAttempts: z.int().openapi({ description: 'Failed attempts since the last success' }),
  updatedAt: z.string(),
  circuit: CircuitView,
})

export const OverviewView = Statistics.extend({
  period: z.enum(periods),
  from: z.string(),
  to: z.string(),
  bucketSeconds: z.int(),
  buckets: z
    .array(
      Statistics.extend({
        startsAt: z.string(),
        refused: z.int().openapi({ description: 'Rejected events' }),
      }),
    )
    .openapi({ description: 'Oldest first; the last one is not over' }),
  previous: Statistics.extend({ from: z.string(), to: z.string() }).nullable().openapi({
    description:
      'The time before, as long as all buckets but the last; null for 30 days, of which no statistics are retained',
  }),
  sources: z.array(
    Statistics.extend({
      id: z.string(),
      name: z.string(),
      provider: z.enum(providers),
      status: resourceStatus,
      lastEventAt: z.string().nullable(),
      buckets: z
        .array(z.int())
        .openapi({ description: 'The number of events in each bucket of the overview' }),
    }),
  ),
  connections: z.object({
    total: z.int(),
    failing: z.int(),
    paused: z.int(),
    attention: z.array(AttentionView).openapi({
      description: 'At most 50 that fail or are paused, longest failing first',
    }),
  }),
  refused: z
    .object({ minuteLimit: z.int(), monthLimit: z.int(), unverified: z.int() })
    .openapi({ description: 'Rejected events by reason' }),
  beyondMonth: z.int().openapi({ description: 'Events accepted over the monthly limit' }),
  isComplete: z.boolean().openapi({
    description: 'False if there were too many events to count in one request',
  }),
}).openapi('FerryhookOverview')

const lowerBound = z.boolean().openapi({
  description:
    'Whether there are more: of each source, at most 1,000 events since the last stored count are counted',
})

export const UsageView = z
  .object({
    plan: z.enum(plans),
    periodStart: z.string().openapi({ example: '2026-01-01' }),
    periodEnd: z
      .string()
      .openapi({ description: 'The first day after the period', example: '2026-02-01' }),
    events: z.object({
      used: z.int(),
      isLowerBound: lowerBound,
      limit: z.int(),
      remaining: z.int(),
      isExceeded: z.boolean(),
      refusesBeyond: z
        .boolean()
        .openapi({ description: 'Whether events over the limit are rejected' }),
    }),
    days: z
      .array(z.object({ date: z.string().openapi({ example: '2026-01-31' }), events: z.int() }))
      .openapi({ description: 'Each day of the period so far, in UTC, from the statistics' }),
    isDailyComplete: z.boolean().openapi({
      description: 'False if there were too many events to count by day in one request',
    }),
    sources: z.object({ used: z.int(), limit: z.int() }),
    connectionsPerSource: z.int(),
    eventsPerMinute: z.int().openapi({ description: 'Per source' }),
  })
  .openapi('FerryhookUsage')

const time = (ms: number) => new Date(ms).toISOString()

function toStatistics(statistics: EventStatistics): z.infer<typeof Statistics> {
  const percentile = (share: number) => latencyPercentile(share, statistics) ?? null
  return {
    events: { total: totalEvents(statistics), byStatus: statistics.events },
    deliveries: statistics.deliveries,
    successRate: successRate(statistics) ?? null,
    latencyMs: { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) },
  }
}

function toAttentionView({
  connection,
  sourceName,
}: NamedConnection): z.infer<typeof AttentionView> {
  const { connectionId: id, name, sourceId, destinationUrl, updatedAt } = connection
  const { statusReason = null, failingSince = null, failedAttempts = 0 } = connection
  return {
    id,
    name,
    sourceId,
    sourceName,
    destinationUrl,
    status: connection.status === 'paused' ? 'paused' : 'failing',
    statusReason,
    failingSince,
    failedAttempts,
    updatedAt,
    circuit: toCircuitView(connection.circuit),
  }
}

export function toOverviewView(period: Period, overview: Overview): z.infer<typeof OverviewView> {
  const { from, to, previous } = overview
  const { minute, month, unverified, beyondMonth } = overview.refused
  return {
    period,
    from: time(from),
    to: time(to),
    bucketSeconds: overview.bucketMs / 1000,
    ...toStatistics(overview.statistics),
    buckets: overview.buckets.map(({ startsAt, statistics, refused }) => ({
      startsAt: time(startsAt),
      ...toStatistics(statistics),
      refused,
    })),
    previous: previous
      ? { from: time(previous.from), to: time(from), ...toStatistics(previous.statistics) }
      : null,
    sources: overview.sources.map(({ source, statistics, events }) => ({
      id: source.sourceId,
      name: source.name,
      provider: source.provider,
      status: source.status,
      lastEventAt: source.lastEventAt ?? null,
      ...toStatistics(statistics),
      buckets: events,
    })),
    connections: {
      ...overview.connections,
      attention: overview.attention.map(toAttentionView),
    },
    refused: { minuteLimit: minute, monthLimit: month, unverified },
    beyondMonth,
    isComplete: overview.isComplete,
  }
}

export function toUsageView(usage: Usage): z.infer<typeof UsageView> {
  const { plan, limits, periodStart, periodEnd, events, isLowerBound, isDailyComplete } = usage
  const { eventsPerMonth: limit, connectionsPerSource, eventsPerMinute } = limits
  return {
    plan,
    periodStart,
    periodEnd,
    events: {
      used: events,
      isLowerBound,
      limit,
      remaining: Math.max(0, limit - events),
      isExceeded: events > limit,
      refusesBeyond: limits.refusesBeyondMonth,
    },
    days: usage.days.map((day) => ({ date: time(day.startsAt).slice(0, 10), events: day.events })),
    isDailyComplete,
    sources: { used: usage.sources, limit: limits.sources },
    connectionsPerSource,
    eventsPerMinute,
  }
}

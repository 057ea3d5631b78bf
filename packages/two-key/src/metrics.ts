/** The metrics of Two-key. Dashboards of the existence check use these names. */
import { Counter, Histogram, type Metrics } from '@strongroom/kit/metrics'
import type { ExistenceMetrics } from './existence/checker.ts'

export type ForwardOutcome =
  | 'delivered'
  | 'duplicate'
  | 'in_progress'
  | 'failed'
  | 'answered'
  | 'unanswered'

export interface TwoKeyMetrics extends ExistenceMetrics {
  forwarded(outcome: ForwardOutcome): void
}

export function createTwoKeyMetrics({ registry }: Metrics): TwoKeyMetrics {
  const registers = [registry]
  const hits = new Counter({
    name: 'ExistenceCheckCacheHit',
    help: 'Requests whose ids were verified in the last five minutes',
    registers,
  })
  const misses = new Counter({
    name: 'ExistenceCheckCacheMiss',
    help: 'Requests whose ids were not in the cache',
    registers,
  })
  const failures = new Counter({
    name: 'ExistenceCheckFailed',
    help: 'Requests that failed the existence check, by reason',
    labelNames: ['reason'] as const,
    registers,
  })
  const latency = new Histogram({
    name: 'SlackAPILatency',
    help: 'Duration of calls to Slack in milliseconds',
    labelNames: ['method'] as const,
    buckets: [25, 50, 100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000],
    registers,
  })
  const forwards = new Counter({
    name: 'strongroom_two_key_hand_overs_total',
    help: 'Verified requests sent to apps, by outcome',
    labelNames: ['outcome'] as const,
    registers,
  })
  return {
    cacheHit: () => hits.inc(),
    cacheMiss: () => misses.inc(),
    failed: (reason) => failures.inc({ reason }),
    slackResponded: (method, milliseconds) => latency.observe({ method }, milliseconds),
    forwarded: (outcome) => forwards.inc({ outcome }),
  }
}

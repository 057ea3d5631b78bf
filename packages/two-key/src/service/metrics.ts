/** The metrics of Two-key, with the names that dashboards of the check have. */
import { Counter, Histogram, type Metrics } from '@strongroom/kit/metrics'
import type { ExistenceMetrics } from '../existence/metrics.ts'

export type HandOver =
  | 'delivered'
  | 'duplicate'
  | 'in_progress'
  | 'failed'
  | 'answered'
  | 'unanswered'

export interface TwoKeyMetrics extends ExistenceMetrics {
  handedOver(outcome: HandOver): void
}

export function createTwoKeyMetrics({ registry }: Metrics): TwoKeyMetrics {
  const registers = [registry]
  const hits = new Counter({
    name: 'ExistenceCheckCacheHit',
    help: 'Requests whose ids were verified less than five minutes before',
    registers,
  })
  const misses = new Counter({
    name: 'ExistenceCheckCacheMiss',
    help: 'Requests for which that was not so',
    registers,
  })
  const failures = new Counter({
    name: 'ExistenceCheckFailed',
    help: 'Requests that did not pass the check, by the reason',
    labelNames: ['reason'] as const,
    registers,
  })
  const latency = new Histogram({
    name: 'SlackAPILatency',
    help: 'Milliseconds until Slack answered',
    labelNames: ['method'] as const,
    buckets: [25, 50, 100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000],
    registers,
  })
  const handOvers = new Counter({
    name: 'strongroom_two_key_hand_overs_total',
    help: 'Verified requests, by what came of handing them over',
    labelNames: ['outcome'] as const,
    registers,
  })
  return {
    cacheHit: () => hits.inc(),
    cacheMiss: () => misses.inc(),
    failed: (reason) => failures.inc({ reason }),
    slackAnswered: (method, milliseconds) => latency.observe({ method }, milliseconds),
    handedOver: (outcome) => handOvers.inc({ outcome }),
  }
}

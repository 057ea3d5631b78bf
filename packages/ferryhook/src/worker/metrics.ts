/** Metrics of a worker. They never name a user, source, connection or event. */
import { Counter, Gauge, Histogram, type Metrics } from '@strongroom/kit/metrics'
import type { SendOutcome } from '../outbound/exchange.ts'

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>

export function createWorkerMetrics({ registry }: Metrics, inFlight: () => number) {
  const registers = [registry]
  const attempts = new Counter({
    name: 'strongroom_ferryhook_attempts_total',
    help: 'Delivery attempts, by result',
    labelNames: ['end'] as const,
    registers,
  })
  const durations = new Histogram({
    name: 'strongroom_ferryhook_attempt_duration_seconds',
    help: 'Time from the start of an attempt to the end of its response',
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  const delays = new Histogram({
    name: 'strongroom_ferryhook_first_attempt_delay_seconds',
    help: 'Time from the receipt of an event to its first attempt',
    buckets: [0.005, 0.01, 0.025, 0.1, 0.5, 1, 5, 30, 120],
    registers,
  })
  const deliveries = new Counter({
    name: 'strongroom_ferryhook_deliveries_total',
    help: 'Finished deliveries, by state',
    labelNames: ['state'] as const,
    registers,
  })
  const parked = new Counter({
    name: 'strongroom_ferryhook_parked_total',
    help: 'Parked deliveries, by reason',
    labelNames: ['reason'] as const,
    registers,
  })
  const lost = new Counter({
    name: 'strongroom_ferryhook_leases_lost_total',
    help: 'Writes rejected because another worker had claimed the task',
    registers,
  })
  const replaced = new Counter({
    name: 'strongroom_ferryhook_runs_replaced_total',
    help: 'Tasks that ended because a replay had replaced their expired delivery',
    registers,
  })
  const failed = new Counter({
    name: 'strongroom_ferryhook_task_errors_total',
    help: 'Tasks that failed in the worker and are retried, by kind',
    labelNames: ['kind'] as const,
    registers,
  })
  const missing = new Counter({
    name: 'strongroom_ferryhook_events_gone_total',
    help: 'Tasks that ended because their event was deleted or had expired, by kind',
    labelNames: ['kind'] as const,
    registers,
  })
  const inFlightGauge: Gauge = new Gauge({
    name: 'strongroom_ferryhook_deliveries_in_hand',
    help: 'Deliveries that are queued or running in this worker',
    registers: [],
    collect: () => inFlightGauge.set(inFlight()),
  })
  registry.registerMetric(inFlightGauge)
  return {
    attempted(end: SendOutcome, seconds: number) {
      attempts.inc({ end })
      durations.observe(seconds)
    },
    firstAttempt: (delaySeconds: number) => delays.observe(delaySeconds),
    ended: (state: 'delivered' | 'failed' | 'filtered', count = 1) =>
      deliveries.inc({ state }, count),
    parked: (reason: 'paused' | 'limit' | 'circuit' | 'keys') => parked.inc({ reason }),
    leaseLost: () => lost.inc(),
    runReplaced: () => replaced.inc(),
    eventMissing: (kind: 'route' | 'deliver' | 'wait', count: number) =>
      missing.inc({ kind }, count),
    taskFailed: (kind: string) => failed.inc({ kind }),
  }
}

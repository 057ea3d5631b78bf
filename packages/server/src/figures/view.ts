/** Figures as responses show them: times as text, durations in milliseconds. */
import type { FiguresView, ServiceFiguresView } from './routes.ts'
import type { Figures, ServiceFigures } from './service.ts'

export function toFiguresView(figures: Figures, metrics: readonly string[]): FiguresView {
  const { period, from, to, stepSeconds, all, services, gauges, counts, dropped } = figures
  const steps = Math.round((to - from) / (stepSeconds * 1000))
  const gauge = (name: string) => gauges.get(name) ?? Array.from({ length: steps }, () => null)
  return {
    period,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    stepSeconds,
    all: toServiceView(all, steps),
    services: Array.from(services, ([name, each]) => ({
      name,
      figures: toServiceView(each, steps),
    })),
    work: {
      due: gauge('work_due'),
      waiting: gauge('work_waiting'),
      overdue: gauge('work_overdue'),
      inHand: gauge('strongroom_ferryhook_deliveries_in_hand'),
    },
    eventLoopDelayMs: gauge('event_loop_delay_seconds').map(toMilliseconds),
    memoryBytes: gauge('memory_bytes'),
    storeBytes: gauge('store_bytes'),
    metrics: [...counts]
      .filter(([series]) => metrics.includes(series.replace(/\{.*$/, '')))
      .map(([series, values]) => ({ series, values })),
    droppedSeries: dropped,
  }
}

function toServiceView(figures: ServiceFigures, steps: number): ServiceFiguresView {
  const { requests, p50, p95, total, current } = figures
  // Without any figures there are no minutes to sum up.
  const counts = (values: number[]) =>
    values.length > 0 ? values : Array.from({ length: steps }, () => 0)
  const latencies = (values: (number | null)[]) =>
    values.length > 0 ? values.map(toMilliseconds) : Array.from({ length: steps }, () => null)
  return {
    requests: {
      '2xx': counts(requests['2xx']),
      '3xx': counts(requests['3xx']),
      '4xx': counts(requests['4xx']),
      '5xx': counts(requests['5xx']),
    },
    latencyMs: { p50: latencies(p50), p95: latencies(p95) },
    total: {
      requests: total.requests,
      errors: total.errors,
      p50Ms: toMilliseconds(total.p50),
      p95Ms: toMilliseconds(total.p95),
    },
    current: {
      perSecond: Math.round(current.perSecond * 1000) / 1000,
      errors: current.errors,
      p95Ms: toMilliseconds(current.p95),
    },
  }
}

function toMilliseconds(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 100_000) / 100
}

/**
 * Turns the metrics of a process into series for charts. It reads what metrics have counted already, so a
 * request costs nothing more.
 */
import type { Metrics } from '@strongroom/kit/metrics'
import { statusMetricNames } from '../status/metrics.ts'
import { MAX_SERIES } from './item.ts'

export interface Sample {
  /** Since the previous sample. */
  counts: Map<string, number>
  gauges: Map<string, number>
  /** Series that exceed the limit. */
  dropped: number
}

const REQUESTS = 'strongroom_http_requests_total'
const DURATIONS = 'strongroom_http_request_duration_seconds'
/** The only metrics of the process: others are for Prometheus. */
const PROCESS_GAUGES: Readonly<Record<string, string>> = {
  nodejs_eventloop_lag_p99_seconds: 'event_loop_delay_seconds',
  process_resident_memory_bytes: 'memory_bytes',
}

export interface MetricValue {
  value: number
  labels: Readonly<Record<string, string | number | undefined>>
  metricName?: string
}

interface SampledMetric {
  name: string
  type: string
  get(): Promise<{ values: MetricValue[] }>
}

export function createSampler(metrics: Pick<Metrics, 'registry'>) {
  const totals = new Map<string, number>()
  const known = new Set<string>()
  const refused = new Set<string>()

  /** The first series that a process has stay, so that a chart has no holes. */
  function isAllowed(name: string): boolean {
    if (known.has(name)) return true
    if (known.size >= MAX_SERIES) {
      // The number of names is limited like those of the metrics themselves.
      refused.add(name)
      return false
    }
    known.add(name)
    return true
  }

  return async (gauges: Readonly<Record<string, number>> = {}): Promise<Sample> => {
    const sample: Sample = { counts: new Map(), gauges: new Map(), dropped: 0 }
    const now = new Map<string, number>()
    for (const [name, value] of Object.entries(gauges)) {
      if (isAllowed(name)) sample.gauges.set(name, value)
    }
    for (const metric of inOrder(metrics.registry.getMetricsAsArray() as never)) {
      const name = PROCESS_GAUGES[metric.name] ?? metric.name
      for (const each of (await metric.get()).values) {
        if (metric.type === 'gauge') {
          const series = seriesName(name, each.labels)
          if (Number.isFinite(each.value) && isAllowed(series))
            sample.gauges.set(series, each.value)
          continue
        }
        const series = countSeries(name, each)
        if (series !== undefined) now.set(series, (now.get(series) ?? 0) + each.value)
      }
    }
    for (const [series, total] of now) {
      const count = total - (totals.get(series) ?? 0)
      totals.set(series, total)
      if (count > 0 && isAllowed(series)) sample.counts.set(series, count)
    }
    sample.dropped = refused.size
    return sample
  }
}

/** Requests and the process come first, because the limit refuses what comes last. */
function inOrder(metrics: readonly SampledMetric[]): SampledMetric[] {
  const rank = ({ name }: SampledMetric) =>
    name === REQUESTS ? 0 : name === DURATIONS ? 1 : name in PROCESS_GAUGES ? 2 : 3
  return metrics
    .filter(({ name }) => name in PROCESS_GAUGES || !/^(?:process|nodejs)_/.test(name))
    .filter(({ name }) => !statusMetricNames.has(name))
    .toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

/** Requests are summed over routes and methods, buckets of durations over everything but the service. */
function countSeries(name: string, { labels, metricName }: MetricValue): string | undefined {
  const { service, status } = labels
  if (name === REQUESTS) {
    return seriesName('requests', { service, class: `${String(status).charAt(0)}xx` })
  }
  const isBucket = metricName?.endsWith('_bucket') ?? false
  if (name === DURATIONS) {
    return isBucket ? seriesName('latency', { service, le: labels['le'] }) : undefined
  }
  // The sum and the count of other histograms are not charted.
  if (metricName !== undefined && metricName !== name && !isBucket) return undefined
  return seriesName(name, labels)
}

/** As in Prometheus: `requests{service="sealed",class="2xx"}`. */
export function seriesName(name: string, labels: MetricValue['labels']): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`
}

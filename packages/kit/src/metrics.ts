/**
 * Prometheus metrics. Labels are route patterns, never paths, ids or tenants: metrics reveal nothing
 * about single secrets or customers, and a scanner cannot create endless series.
 */
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'

/** For the metrics of services, so that they do not depend on the library. */
export { Counter, Gauge, Histogram } from 'prom-client'

export interface HttpObservation {
  service: string
  /** The pattern of the route, such as `/sealed/v1/secrets/:id`. */
  route: string
  method: string
  status: number
  durationSeconds: number
}

export interface Metrics {
  /** For the metrics of a service: `new Counter({ registers: [metrics.registry], … })`. */
  readonly registry: Registry
  observeHttp(observation: HttpObservation): void
  readonly contentType: string
  /** All metrics in the Prometheus text format. */
  text(): Promise<string>
}

export interface MetricsOptions {
  /** Adds metrics of the process: memory, event loop, garbage collection. Once per process. */
  process?: boolean
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const labelNames = ['service', 'route', 'method', 'status'] as const

export function createMetrics(options: MetricsOptions = {}): Metrics {
  const registry = new Registry()
  if (options.process) collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'strongroom_http_requests_total',
    help: 'HTTP requests',
    labelNames,
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'strongroom_http_request_duration_seconds',
    help: 'Time from the request to the first byte of the response',
    labelNames,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  return {
    registry,
    observeHttp({ service, route, method, status, durationSeconds }) {
      // The method is the only label that clients choose freely.
      const labels = { service, route, method: METHODS.has(method) ? method : 'other', status }
      requests.inc(labels)
      durations.observe(labels, durationSeconds)
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
  }
}

import { Counter, type Metrics } from '@strongroom/kit/metrics'

export type IngestOutcome =
  | 'received'
  | 'duplicate'
  | 'unverified'
  | 'looped'
  | 'limited'
  | 'handshake'

/** Counts the outcomes of requests to sources, without naming a source. */
export function createIngestMetrics({ registry }: Metrics): (outcome: IngestOutcome) => void {
  // Summed up here until metrics are collected: looking up a labelled counter costs more than counting.
  const counts = new Map<IngestOutcome, number>()
  const requests = new Counter({
    name: 'strongroom_ferryhook_ingest_total',
    help: 'Requests to sources, by outcome',
    labelNames: ['outcome'] as const,
    registers: [],
    collect() {
      for (const [outcome, count] of counts) this.inc({ outcome }, count)
      counts.clear()
    },
  })
  registry.registerMetric(requests)
  return (outcome) => void counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
}

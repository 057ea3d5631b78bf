/** The figures of all processes together, by step of a period. */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { decodeHour, type FiguresItem, type HourValues, MINUTES_PER_HOUR } from './item.ts'
import { seriesName } from './sampler.ts'
import type { FiguresStore } from './store.ts'

const MINUTE_MS = 60_000

/** Steps are chosen so that a chart has 60 to 96 points. */
export const periods = {
  '1h': { hours: 1, stepMinutes: 1 },
  '6h': { hours: 6, stepMinutes: 5 },
  '24h': { hours: 24, stepMinutes: 15 },
} as const
export type Period = keyof typeof periods

/** What is happening now is read from this many of the last whole minutes. */
const CURRENT_MINUTES = 5

export interface Figures {
  period: Period
  from: number
  to: number
  stepSeconds: number
  all: ServiceFigures
  services: Map<string, ServiceFigures>
  /** Null where nothing was recorded. */
  gauges: Map<string, (number | null)[]>
  counts: Map<string, number[]>
  dropped: number
}

export interface ServiceFigures {
  /** By status class and step. */
  requests: Record<StatusClass, number[]>
  p50: (number | null)[]
  p95: (number | null)[]
  /** Over the whole period. */
  total: { requests: number; errors: number; p50: number | null; p95: number | null }
  /** Over the last minutes. */
  current: { requests: number; perSecond: number; errors: number; p95: number | null }
}

export const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const
export type StatusClass = (typeof statusClasses)[number]

/** Gauges that each process has a part of; the others are the same for all, so the highest counts. */
const SUMMED_GAUGES = new Set(['strongroom_ferryhook_deliveries_in_hand', 'memory_bytes'])

export function createFiguresService({ store, clock }: { store: FiguresStore; clock: Clock }) {
  return {
    async read(period: Period): Promise<Figures> {
      const { hours, stepMinutes } = periods[period]
      const stepMs = stepMinutes * MINUTE_MS
      // Ends with the running step, which is not complete yet.
      const to = (Math.floor(clock.now() / stepMs) + 1) * stepMs
      const from = to - hours * 3_600_000
      const items = await store.listSince(from)
      const minutes = createMinutes(from, (to - from) / MINUTE_MS)
      for (const item of items) minutes.add(item)
      return summarize(minutes, { period, from, to, stepMinutes, now: clock.now(), items })
    },

    /** The last item of each process that wrote in the last day, newest first. */
    async processes(): Promise<FiguresItem[]> {
      const since = (epochSeconds(clock) - 24 * 3_600) * 1000
      const newest = new Map<string, FiguresItem>()
      for (const item of await store.listSince(since)) newest.set(processOf(item), item)
      return [...newest.values()].toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
    },
  }
}

export type FiguresService = ReturnType<typeof createFiguresService>

function processOf({ SK }: FiguresItem): string {
  return SK.slice(SK.indexOf('#') + 1)
}

/** Adds up the minutes of all processes. */
function createMinutes(from: number, length: number) {
  const counts = new Map<string, number[]>()
  const gauges = new Map<string, (number | null)[]>()

  function addGauge(name: string, minute: number, value: number): void {
    const all = gauges.get(name) ?? Array.from<number | null>({ length }).fill(null)
    gauges.set(name, all)
    const before = all[minute] ?? null
    if (before === null) all[minute] = value
    else all[minute] = SUMMED_GAUGES.has(name) ? before + value : Math.max(before, value)
  }

  return {
    counts,
    gauges,
    add(item: FiguresItem): void {
      const hour: HourValues = decodeHour(item)
      const first = (Date.parse(`${item.SK.slice(0, 13)}:00:00.000Z`) - from) / MINUTE_MS
      for (let each = 0; each < MINUTES_PER_HOUR; each++) {
        const minute = first + each
        if (minute < 0 || minute >= length) continue
        for (const [name, values] of Object.entries(hour.counts)) {
          const all = counts.get(name) ?? Array.from<number>({ length }).fill(0)
          counts.set(name, all)
          all[minute] = (all[minute] ?? 0) + (values[each] ?? 0)
        }
        for (const [name, values] of Object.entries(hour.gauges)) {
          const value = values[each] ?? null
          if (value !== null) addGauge(name, minute, value)
        }
      }
    },
  }
}

type Minutes = Pick<ReturnType<typeof createMinutes>, 'counts' | 'gauges'>

interface Range {
  period: Period
  from: number
  to: number
  stepMinutes: number
  now: number
  items: readonly FiguresItem[]
}

function summarize({ counts, gauges }: Minutes, range: Range): Figures {
  const { period, from, to, stepMinutes, now, items } = range
  const names = new Set([...counts.keys()].flatMap((name) => SERVICE.exec(name)?.[1] ?? []))
  const current = Math.floor((now - from) / MINUTE_MS)
  const services = new Map(
    [...names].toSorted().map((service) => {
      return [service, summarizeService(counts, { service, stepMinutes, current })] as const
    }),
  )
  const others = [...counts].filter(([name]) => !SERVICE.test(name))
  return {
    period,
    from,
    to,
    stepSeconds: stepMinutes * 60,
    all: summarizeService(counts, { stepMinutes, current }),
    services,
    gauges: new Map([...gauges].map(([name, values]) => [name, lastOf(values, stepMinutes)])),
    counts: new Map(others.map(([name, values]) => [name, sumSteps(values, stepMinutes)])),
    dropped: Math.max(0, ...items.map(({ dropped }) => dropped)),
  }
}

const SERVICE = /^(?:requests|latency)\{service="([^"]+)"/

function summarizeService(
  counts: Minutes['counts'],
  { service, stepMinutes, current }: { service?: string; stepMinutes: number; current: number },
): ServiceFigures {
  const length = counts.values().next().value?.length ?? 0
  const minutesOf = (status: StatusClass) =>
    sumSeries(length, seriesOf(counts, service, { class: status }))
  const requests = Object.fromEntries(
    statusClasses.map((status) => [status, minutesOf(status)]),
  ) as Record<StatusClass, number[]>
  const buckets = latencyBuckets(counts, service, length)
  const since = Math.max(0, current - CURRENT_MINUTES)
  const recent = statusClasses.map((status) => total(requests[status].slice(since, current)))
  const recentBuckets = new Map(
    [...buckets].map(([le, values]) => [le, total(values.slice(since, current))]),
  )
  const steps = new Map([...buckets].map(([le, values]) => [le, sumSteps(values, stepMinutes)]))
  const at = (step: number) => new Map([...steps].map(([le, values]) => [le, values[step] ?? 0]))
  const stepCount = Math.ceil(length / stepMinutes)
  const eachStep = (share: number) =>
    Array.from({ length: stepCount }, (_, step) => percentile(at(step), share))
  const everything = new Map([...buckets].map(([le, values]) => [le, total(values)]))
  const minutes = Math.max(1, current - since)
  return {
    requests: Object.fromEntries(
      statusClasses.map((status) => [status, sumSteps(requests[status], stepMinutes)]),
    ) as Record<StatusClass, number[]>,
    p50: eachStep(0.5),
    p95: eachStep(0.95),
    total: {
      requests: total(statusClasses.map((status) => total(requests[status]))),
      errors: total(requests['5xx']),
      p50: percentile(everything, 0.5),
      p95: percentile(everything, 0.95),
    },
    current: {
      requests: total(recent),
      perSecond: total(recent) / (minutes * 60),
      errors: recent[statusClasses.indexOf('5xx')] ?? 0,
      p95: percentile(recentBuckets, 0.95),
    },
  }
}

function seriesOf(
  counts: Minutes['counts'],
  service: string | undefined,
  { class: status }: { class: StatusClass },
): number[][] {
  if (service !== undefined) {
    const values = counts.get(seriesName('requests', { service, class: status }))
    return values ? [values] : []
  }
  return [...counts].flatMap(([name, values]) =>
    name.startsWith('requests{') && name.endsWith(`,class="${status}"}`) ? [values] : [],
  )
}

const BUCKET = /^latency\{service="([^"]+)",le="([^"]+)"\}$/

/** Cumulative, by the upper bound in seconds. */
function latencyBuckets(
  counts: Minutes['counts'],
  service: string | undefined,
  length: number,
): Map<number, number[]> {
  const found = new Map<number, number[]>()
  for (const [name, values] of counts) {
    const [, of, bound = ''] = BUCKET.exec(name) ?? []
    if (of === undefined || (service !== undefined && of !== service)) continue
    const le = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)
    found.set(le, sumSeries(length, [found.get(le) ?? [], values]))
  }
  return new Map([...found].toSorted(([a], [b]) => a - b))
}

/** In seconds, interpolated within its bucket as Prometheus does; null without requests. */
function percentile(cumulative: ReadonlyMap<number, number>, share: number): number | null {
  // A bound that was never reached by a process is not stored, so counts may not increase.
  const bounds: [le: number, count: number][] = []
  let highest = 0
  for (const [le, count] of cumulative) bounds.push([le, (highest = Math.max(highest, count))])
  if (highest === 0) return null
  const rank = share * highest
  let [lower, below] = [0, 0]
  for (const [le, count] of bounds) {
    if (count >= rank) {
      if (!Number.isFinite(le) || count === below) return lower
      return lower + (le - lower) * ((rank - below) / (count - below))
    }
    ;[lower, below] = [Number.isFinite(le) ? le : lower, count]
  }
  return lower
}

function sumSeries(length: number, series: readonly (readonly number[])[]): number[] {
  return Array.from({ length }, (_, at) => total(series.map((values) => values[at] ?? 0)))
}

function sumSteps(values: readonly number[], stepMinutes: number): number[] {
  return chunks(values, stepMinutes).map(total)
}

function lastOf(values: readonly (number | null)[], stepMinutes: number): (number | null)[] {
  return chunks(values, stepMinutes).map((step) => step.findLast((value) => value !== null) ?? null)
}

function chunks<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, step) =>
    values.slice(step * size, (step + 1) * size),
  )
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

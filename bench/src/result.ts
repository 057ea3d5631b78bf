// The result of a section: figures for the table, and targets that are met or missed.

import { bestRatio, cpuRatio, type Figures, pairedRatio } from './rounds.ts'

export interface Target {
  text: string
  /** The minimum, or the maximum if `atMost`. */
  required: number
  atMost?: boolean
  /** `actual` must equal `required`. */
  exactly?: boolean
  unit: Unit
  actual: number
  /** The same ratio for the best rounds, and by CPU time; only for rates. */
  best?: number
  cpu?: number
  met: boolean
  /** A promise to users; listed before the targets that only developers need. */
  isMain?: boolean
  /** `actual` of each run, if there were several; then `actual` is their median. */
  runs?: number[]
}

export type Unit =
  | '%'
  | '×'
  | 'µs'
  | 'ms'
  | 'MB'
  | 'KB'
  | 'calls'
  | 'races'
  | 'requests'
  | 'requests/s'

export interface Result {
  title: string
  figures: Figures[]
  targets: Target[]
  /** Lines to print below the table. */
  notes: string[]
  /** Shows the figures as bars in docs/performance.md. */
  chart?: Chart
  /** What the first paragraph of docs/performance.md tells, if the section measures it. */
  expectations?: Expectations
}

export interface Chart {
  title: string
  value: 'calls/s' | 'calls per CPU second'
  /** Logarithmic if systems are orders of magnitude apart. */
  scale: 'linear' | 'logarithmic'
  /** Only figures with this concurrency. */
  concurrency?: number
}

export type Expectations = Partial<Record<Expectation, number>>

export type Expectation =
  | 'webhooksReceivedPerCpuSecond'
  | 'webhooksReceivedAndDeliveredPerCpuSecond'
  | 'secretsCreatedPerCpuSecond'
  | 'secretsReadPerCpuSecond'
  | 'saturationPerSecond'
  | 'overloadP99Ms'
  | 'refusalP99Ms'
  | 'secondStartMs'
  | 'idleCpuPercent'
  | 'idleMemoryMb'
  | 'kilobytesPerEvent'

/** Compares rates: `left` must reach `required` times (or percent of) `right`. */
export function rateTarget(
  text: string,
  [left, right]: readonly [Figures, Figures],
  required: number,
  unit: '%' | '×',
): Target {
  const scale = unit === '%' ? 100 : 1
  return {
    ...leastTarget(text, scale * pairedRatio(left, right), required, unit),
    best: scale * bestRatio(left, right),
    cpu: scale * cpuRatio(left, right),
  }
}

/** Compares by CPU time only: `left` must do `required` times as much per CPU second. */
export function cpuTarget(
  text: string,
  pair: readonly [Figures, Figures],
  required: number,
  unit: '%' | '×' = '×',
): Target {
  return leastTarget(text, (unit === '%' ? 100 : 1) * cpuRatio(...pair), required, unit)
}

export function leastTarget(text: string, actual: number, required: number, unit: Unit): Target {
  return withActual({ text, required, unit }, actual)
}

/** At most `limit`. */
export function limitTarget(text: string, actual: number, limit: number, unit: Unit): Target {
  return withActual({ text, required: limit, atMost: true, unit }, actual)
}

export function exactTarget(text: string, actual: number, required: number, unit: Unit): Target {
  return withActual({ text, required, exactly: true, unit }, actual)
}

export function mainTarget(target: Target): Target {
  return { ...target, isMain: true }
}

export function withActual(target: Omit<Target, 'actual' | 'met'>, actual: number): Target {
  const { required, atMost, exactly } = target
  const met = exactly ? actual === required : atMost ? actual <= required : actual >= required
  return { ...target, actual, met }
}

/** The targets of several sections, main targets first. */
export function targetsOf(results: readonly Result[]): Target[] {
  const all = results.flatMap(({ targets }) => targets)
  return [...all.filter(({ isMain }) => isMain), ...all.filter(({ isMain }) => !isMain)]
}

// What a section of the benchmark gives: figures for the table, and bars that are met or not.

import { bestRatio, cpuRatio, type Figures, pairedRatio } from './rounds.ts'

export interface Bar {
  text: string
  /** At least, or at most, this. */
  required: number
  atMost?: boolean
  /** Neither more nor less. */
  exactly?: boolean
  unit: '%' | '×' | 'µs' | 'ms' | 'MB' | 'calls' | 'races' | 'requests'
  actual: number
  /** The same figure from the best rounds, and from CPU time; only for rates. */
  best?: number
  cpu?: number
  met: boolean
}

export interface Result {
  title: string
  figures: Figures[]
  bars: Bar[]
  /** Lines to print below the table. */
  notes: string[]
}

/** Compares rates: `left` is to reach `required` times (or percent of) `right`. */
export function rateBar(
  text: string,
  [left, right]: readonly [Figures, Figures],
  required: number,
  unit: '%' | '×',
): Bar {
  const scale = unit === '%' ? 100 : 1
  const actual = scale * pairedRatio(left, right)
  return {
    text,
    required,
    unit,
    actual,
    best: scale * bestRatio(left, right),
    cpu: scale * cpuRatio(left, right),
    met: actual >= required,
  }
}

/** Compares by CPU time alone: `left` is to do `required` times as much with each second of it. */
export function cpuBar(
  text: string,
  [left, right]: readonly [Figures, Figures],
  required: number,
  unit: '%' | '×' = '×',
): Bar {
  const actual = (unit === '%' ? 100 : 1) * cpuRatio(left, right)
  return { text, required, unit, actual, met: actual >= required }
}

export function limitBar(text: string, actual: number, limit: number, unit: Bar['unit']): Bar {
  return { text, required: limit, atMost: true, unit, actual, met: actual < limit }
}

export function exactBar(text: string, actual: number, required: number, unit: Bar['unit']): Bar {
  return { text, required, exactly: true, unit, actual, met: actual === required }
}

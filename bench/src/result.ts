// The result of a section: figures for the table, and targets that are met or missed.

import { bestRatio, cpuRatio, type Figures, pairedRatio } from './rounds.ts'

export interface Target {
  text: string
  /** The minimum, or the maximum if `atMost`. */
  required: number
  atMost?: boolean
  /** `actual` must equal `required`. */
  exactly?: boolean
  unit: '%' | '×' | 'µs' | 'ms' | 'MB' | 'calls' | 'races' | 'requests'
  actual: number
  /** The same ratio for the best rounds, and by CPU time; only for rates. */
  best?: number
  cpu?: number
  met: boolean
}

export interface Result {
  title: string
  figures: Figures[]
  targets: Target[]
  /** Lines to print below the table. */
  notes: string[]
}

/** Compares rates: `left` must reach `required` times (or percent of) `right`. */
export function rateTarget(
  text: string,
  [left, right]: readonly [Figures, Figures],
  required: number,
  unit: '%' | '×',
): Target {
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

/** Compares by CPU time only: `left` must do `required` times as much per CPU second. */
export function cpuTarget(
  text: string,
  [left, right]: readonly [Figures, Figures],
  required: number,
  unit: '%' | '×' = '×',
): Target {
  const actual = (unit === '%' ? 100 : 1) * cpuRatio(left, right)
  return { text, required, unit, actual, met: actual >= required }
}

export function limitTarget(
  text: string,
  actual: number,
  limit: number,
  unit: Target['unit'],
): Target {
  return { text, required: limit, atMost: true, unit, actual, met: actual < limit }
}

export function exactTarget(
  text: string,
  actual: number,
  required: number,
  unit: Target['unit'],
): Target {
  return { text, required, exactly: true, unit, actual, met: actual === required }
}

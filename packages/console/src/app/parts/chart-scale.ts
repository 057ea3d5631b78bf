/** Round numbers for the axes of charts. */

const MAX_INTERVALS = 4
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** What a value is: decides which numbers are round. */
export type Unit = 'count' | 'ms' | 'share' | 'bytes'

/** The labelled values from 0 up to the first that is not below the maximum: at most five. */
export function valueTicks(max: number, unit: Unit): number[] {
  const step = stepFor(max, unit)
  const intervals = Math.max(1, Math.ceil(max / step - 1e-9))
  return Array.from({ length: intervals + 1 }, (_, index) => index * step)
}

function stepFor(max: number, unit: Unit): number {
  if (unit === 'share') return 0.25
  const wanted = Math.max(max, unit === 'count' ? MAX_INTERVALS : 1) / MAX_INTERVALS
  if (unit === 'ms' && wanted > 20_000) return roundOf(wanted, TIME_STEPS)
  const power = 10 ** Math.floor(Math.log10(wanted))
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * power >= wanted - 1e-9) ?? 10
  const step = factor * power
  return unit === 'count' ? Math.ceil(step) : step
}

const TIME_STEPS: readonly number[] = [
  [0.5, 1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  [1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  [1, 2, 5, 7, 14, 30, 91].map((days) => days * DAY_MS),
].flat()

function roundOf(wanted: number, steps: readonly number[]): number {
  return steps.find((step) => step >= wanted) ?? steps.at(-1) ?? wanted
}

const MAX_TIME_LABELS = 9

/** Times to label between two times: at round hours or days of the zone that is `offsetMs` from UTC. */
export function timeTicks(from: number, to: number, offsetMs: number): number[] {
  const step = roundOf((to - from) / MAX_TIME_LABELS, TIME_STEPS)
  const first = Math.ceil((from + offsetMs) / step) * step - offsetMs
  const ticks: number[] = []
  for (let at = first; at <= to; at += step) ticks.push(at)
  return ticks
}

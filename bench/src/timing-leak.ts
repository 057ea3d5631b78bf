// Checks whether response times distinguish kinds of requests: Welch's t-test on many interleaved calls,
// without the slowest tenth, which is noise of the machine.

import { performance } from 'node:perf_hooks'
import type { Call, Caller } from './http/call.ts'

/** Above this value an attacker with as many calls could distinguish the two kinds. */
const SUSPICIOUS = 4.5

export async function timings(
  caller: Caller,
  calls: number,
  kinds: Record<string, () => Call>,
): Promise<Map<string, number[]>> {
  const times = new Map(Object.keys(kinds).map((kind) => [kind, [] as number[]]))
  for (let n = 0; n < calls; n++) {
    for (const [kind, call] of shuffled(Object.entries(kinds))) {
      const made = call()
      const start = performance.now()
      // oxlint-disable-next-line no-await-in-loop -- one at a time, or they disturb each other
      await caller.post(made)
      times.get(kind)?.push(performance.now() - start)
    }
  }
  return times
}

/** Compares each kind with the first. */
export function timingNotes(times: ReadonlyMap<string, readonly number[]>): string[] {
  const [first, ...others] = [...times].map(([kind, all]) => ({ kind, ...summary(all) }))
  if (!first) return []
  return others.map((other) => {
    const t = (other.mean - first.mean) / Math.sqrt(other.error + first.error)
    const micros = Math.round(1000 * (other.mean - first.mean))
    const verdict = Math.abs(t) < SUSPICIOUS ? 'not distinguishable' : 'DISTINGUISHABLE'
    return `timing, ${other.kind} and ${first.kind}: ${micros} µs apart, t = ${t.toFixed(1)} of ${other.count} calls each: ${verdict}`
  })
}

function summary(all: readonly number[]) {
  const kept = all.toSorted((a, b) => a - b).slice(0, Math.ceil(all.length * 0.9))
  const mean = kept.reduce((sum, time) => sum + time, 0) / kept.length
  const variance = kept.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (kept.length - 1)
  return { mean, error: variance / kept.length, count: kept.length }
}

function shuffled<T>(list: T[]): T[] {
  return list
    .map((value) => ({ value, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ value }) => value)
}

// Targets measured in turns: round by round, so that whatever else the machine does meets all alike.

import type { Case } from './cases.ts'
import type { WorkerProcess } from './worker-process.ts'

export interface Timing {
  /** Compilers and caches settle first; what is measured meanwhile is thrown away. */
  warmUpSeconds: number
  rounds: number
  /** All rounds together. */
  seconds: number
}

/** What one target did in one case, round by round. */
export interface Figures {
  target: string
  what: Case
  concurrency: number
  /** Calls per second. */
  rates: number[]
  /** Microseconds of CPU per call. */
  cpu: number[]
}

export async function measureInTurns(
  workers: readonly WorkerProcess[],
  what: Case,
  concurrency: number,
  { warmUpSeconds, rounds, seconds }: Timing,
): Promise<Figures[]> {
  const figures = new Map<WorkerProcess, Figures>()
  for (let round = 0; round <= rounds; round++) {
    const milliseconds = 1000 * (round === 0 ? warmUpSeconds : seconds / rounds)
    for (const worker of workers) {
      // oxlint-disable-next-line no-await-in-loop -- one at a time is the point
      const measured = await worker.measure(what, concurrency, milliseconds)
      if (measured === undefined || round === 0) continue
      let found = figures.get(worker)
      if (found === undefined) {
        found = { target: worker.name, what, concurrency, rates: [], cpu: [] }
        figures.set(worker, found)
      }
      found.rates.push((1000 * measured.calls) / measured.wallMs)
      found.cpu.push((1000 * measured.cpuMs) / measured.calls)
    }
  }
  return [...figures.values()]
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** How much faster `left` is than `right`: the median of the rounds, each compared with its neighbour. */
export function pairedRatio(left: Figures, right: Figures): number {
  return median(left.rates.map((rate, round) => rate / right.rates[round]!))
}

export function bestRatio(left: Figures, right: Figures): number {
  return Math.max(...left.rates) / Math.max(...right.rates)
}

/** The same by CPU time: how much less of it `left` takes. */
export function cpuRatio(left: Figures, right: Figures): number {
  return median(right.cpu) / median(left.cpu)
}

// Targets measured in turns: round by round, so that whatever else the machine does meets all alike.

import { type Case, CASE_TEXT } from './cases.ts'
import type { Measurement } from './measure.ts'
import type { WorkerProcess } from './worker-process.ts'

export interface Timing {
  /** Compilers and caches settle first; what is measured meanwhile is thrown away. */
  warmUpSeconds: number
  /** One unless told; more where a round is a number of calls rather than a time. */
  warmUpRounds?: number
  rounds: number
  /** All rounds together. */
  seconds: number
}

/** One of the things that are compared in a case. */
export interface Contender {
  name: string
  /** Undefined if it cannot do this at all. */
  measure(concurrency: number, milliseconds: number): Promise<Measurement | undefined>
}

/** What one target did in one case, round by round. */
export interface Figures {
  target: string
  /** The case, in words. */
  what: string
  concurrency: number
  /** Calls per second. */
  rates: number[]
  /** Microseconds of CPU per call. */
  cpu: number[]
}

export async function measureInTurns(
  contenders: readonly Contender[],
  what: string,
  concurrency: number,
  { warmUpSeconds, warmUpRounds = 1, rounds, seconds }: Timing,
): Promise<Figures[]> {
  const figures = new Map<Contender, Figures>()
  for (let round = -warmUpRounds; round < rounds; round++) {
    const isWarmUp = round < 0
    const milliseconds = 1000 * (isWarmUp ? warmUpSeconds : seconds / rounds)
    for (const contender of contenders) {
      // oxlint-disable-next-line no-await-in-loop -- one at a time is the point
      const measured = await contender.measure(concurrency, milliseconds)
      if (measured === undefined || isWarmUp) continue
      let found = figures.get(contender)
      if (found === undefined) {
        found = { target: contender.name, what, concurrency, rates: [], cpu: [] }
        figures.set(contender, found)
      }
      found.rates.push((1000 * measured.calls) / measured.wallMs)
      found.cpu.push((1000 * measured.cpuMs) / measured.calls)
    }
  }
  return [...figures.values()]
}

/** The same for a case of DynamoDB calls, each store in a process of its own. */
export function measureStoresInTurns(
  workers: readonly WorkerProcess[],
  what: Case,
  concurrency: number,
  timing: Timing,
): Promise<Figures[]> {
  const contenders = workers.map((worker) => storeContender(worker, what))
  return measureInTurns(contenders, CASE_TEXT[what], concurrency, timing)
}

export function storeContender(worker: WorkerProcess, what: Case): Contender {
  return {
    name: worker.name,
    measure: (concurrency, milliseconds) => worker.measure(what, concurrency, milliseconds),
  }
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

/** Ours and the other's, of two that were measured in turns. */
export function pair(figures: readonly Figures[]): [Figures, Figures] {
  const [ours, theirs] = figures
  if (!ours || !theirs) throw new Error('Both have to be measured')
  return [ours, theirs]
}

// Measures systems in turns, round by round, so that other load on the machine affects all of them equally.

import { type Case, CASE_TEXT } from './cases.ts'
import type { Measurement } from './measure.ts'
import type { WorkerProcess } from './worker-process.ts'

export interface Timing {
  /** Lets compilers and caches settle; these measurements are discarded. */
  warmUpSeconds: number
  /** Default 1; more if a round is a number of calls instead of a time. */
  warmUpRounds?: number
  rounds: number
  /** All rounds together. */
  seconds: number
}

/** One of the systems that are compared in a case. */
export interface Contender {
  name: string
  /** Undefined if it does not support the case. */
  measure(concurrency: number, milliseconds: number): Promise<Measurement | undefined>
}

/** The results of one system in one case, by round. */
export interface Figures {
  system: string
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
        found = { system: contender.name, what, concurrency, rates: [], cpu: [] }
        figures.set(contender, found)
      }
      found.rates.push((1000 * measured.calls) / measured.wallMs)
      found.cpu.push((1000 * measured.cpuMs) / measured.calls)
    }
  }
  return [...figures.values()]
}

/** The same for a case of DynamoDB calls, each store in its own process. */
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

/** How much faster `left` is than `right`: the median over the rounds. */
export function pairedRatio(left: Figures, right: Figures): number {
  return median(left.rates.map((rate, round) => rate / right.rates[round]!))
}

export function bestRatio(left: Figures, right: Figures): number {
  return Math.max(...left.rates) / Math.max(...right.rates)
}

/** The same by CPU time. */
export function cpuRatio(left: Figures, right: Figures): number {
  return median(left.cpu.map((cpu, round) => right.cpu[round]! / cpu))
}

/** The figures of our system and of the other one. */
export function pair(figures: readonly Figures[]): [Figures, Figures] {
  const [ours, theirs] = figures
  if (!ours || !theirs) throw new Error('Both systems must be measured')
  return [ours, theirs]
}

// Calls a function concurrently for a given time and measures wall time and CPU time, of all threads of
// this process (lmdb commits on another thread) and of the server processes.

import { readdirSync, readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import type { Call } from './cases.ts'

export interface Measurement {
  calls: number
  wallMs: number
  cpuMs: number
}

export async function measure(
  call: Call,
  concurrency: number,
  milliseconds: number,
  processes: readonly number[] = [],
): Promise<Measurement> {
  let calls = 0
  const cpuBefore = process.cpuUsage()
  const othersBefore = cpuOf(processes)
  const start = performance.now()
  const end = start + milliseconds

  const caller = async (): Promise<void> => {
    // The clock is not read for each call, because a get takes little longer than that.
    const perLook = concurrency === 1 ? 16 : 1
    while (performance.now() < end) {
      for (let n = 0; n < perLook; n++) {
        const answer = call(calls++)
        // oxlint-disable-next-line no-await-in-loop -- the next call comes after the answer
        if (answer instanceof Promise) await answer
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, caller))

  const wallMs = performance.now() - start
  const { user, system } = process.cpuUsage(cpuBefore)
  return { calls, wallMs, cpuMs: (user + system) / 1000 + cpuOf(processes) - othersBefore }
}

const TICK_MS = 10
const NANOSECONDS_PER_MS = 1_000_000

/** CPU time of other processes and their ended children in milliseconds; 0 without /proc. */
export function cpuOf(processes: readonly number[]): number {
  let total = 0
  for (const pid of processes) {
    try {
      const { own, children } = processTimes(pid)
      // Both are too low: one is rounded to ticks, the other lacks threads that have ended.
      total += Math.max(own, threadTimes(pid)) + children
    } catch {
      return 0
    }
  }
  return total
}

/** In milliseconds, in whole ticks. */
function processTimes(pid: number): { own: number; children: number } {
  // The fields after the name, which may contain anything. Ended children follow the process itself.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number)
  return { own: (user + system) * TICK_MS, children: (childUser + childSystem) * TICK_MS }
}

/** In milliseconds, exactly; 0 if the kernel does not record it. */
function threadTimes(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')
      nanoseconds += Number(text.split(' ')[0])
    } catch {
      // The thread has just ended, or the kernel has no such file.
    }
  }
  return nanoseconds / NANOSECONDS_PER_MS
}

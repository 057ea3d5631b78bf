// Calls a function concurrently for a given time and measures wall time and CPU time, of all threads of
// this process (lmdb commits on another thread) and of the server processes.

import { readFileSync } from 'node:fs'
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

/** CPU time of other processes and their ended children in milliseconds; 0 without /proc. */
export function cpuOf(processes: readonly number[]): number {
  let ticks = 0
  for (const pid of processes) {
    try {
      // User and system time are fields 12 and 13 after the name, which may contain anything; those of the
      // children follow.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      for (const field of fields.slice(11, 15)) ticks += Number(field)
    } catch {
      return 0
    }
  }
  return ticks * TICK_MS
}

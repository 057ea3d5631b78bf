// A system that delivers from a full queue, measured in rounds. Its worker process is stopped between rounds, so
// that systems take turns although none of them can pause.

import { cpuOf } from '../measure.ts'
import type { Contender } from '../rounds.ts'
import type { Sink } from './sink.ts'

export interface DeliverySystem {
  name: string
  sink: Sink
  worker: number
  /** All processes of the system, including the worker. */
  processes: readonly number[]
}

export function stopWorker({ worker }: DeliverySystem): void {
  process.kill(worker, 'SIGSTOP')
}

export function continueWorker({ worker }: DeliverySystem): void {
  process.kill(worker, 'SIGCONT')
}

/** Measures `count` deliveries; attempts that are in flight at the end belong to the next round. */
export function deliveries(system: DeliverySystem, count: number): Contender {
  const { name, sink, processes } = system
  return {
    name,
    async measure() {
      const arrivedBefore = sink.count
      const cpuBefore = cpuOf(processes)
      const start = performance.now()
      continueWorker(system)
      await sink.until(arrivedBefore + count)
      stopWorker(system)
      const wallMs = performance.now() - start
      const cpuMs = cpuOf(processes) - cpuBefore
      return { calls: sink.count - arrivedBefore, wallMs, cpuMs }
    },
  }
}

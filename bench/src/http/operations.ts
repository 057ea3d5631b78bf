// A system of one or several processes that does a number of operations in each round, each of one or several
// requests.

import { cpuOf } from '../measure.ts'
import { inParallel } from '../parallel.ts'
import type { Contender } from '../rounds.ts'
import type { Answer } from './call.ts'

interface Operations {
  /** All processes of the system; no others are measured. */
  processes: readonly number[]
  connections: number
  /** Operations in a round. */
  count: number
  operate(): Promise<unknown>
  /** Resolves when the work that the responses did not wait for is done; counts as CPU time only. */
  settle?(): Promise<unknown>
}

export function operations(
  name: string,
  { processes, connections, count, operate, settle }: Operations,
): Contender {
  return {
    name,
    async measure() {
      const cpuBefore = cpuOf(processes)
      const start = performance.now()
      await inParallel(count, connections, async () => {
        await operate()
      })
      const wallMs = performance.now() - start
      await settle?.()
      return { calls: count, wallMs, cpuMs: cpuOf(processes) - cpuBefore }
    },
  }
}

export async function expectStatus(status: number, response: Promise<Answer>): Promise<Answer> {
  const answer = await response
  if (answer.status !== status) {
    throw new Error(`A server answered ${answer.status}: ${answer.body.slice(0, 200)}`)
  }
  return answer
}

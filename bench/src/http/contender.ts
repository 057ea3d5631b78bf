// One of two servers that get the same requests in turns.

import { cpuOf, type Measurement } from '../measure.ts'
import { inParallel } from '../parallel.ts'
import type { Contender } from '../rounds.ts'
import type { Answer, Call, Caller } from './call.ts'
import type { ServerProcess } from './server-process.ts'

type Measured = (caller: Caller, calls: readonly Call[], status: number) => Promise<Answer[]>

/** Measures only the calls, and only the CPU time of the server process. */
export function contender(
  name: string,
  { pid }: Pick<ServerProcess, 'pid'>,
  connections: number,
  run: (measured: Measured) => Promise<Answer[]>,
): Contender {
  return {
    name,
    async measure() {
      let measurement: Measurement | undefined
      await run(async (caller, calls, status) => {
        const cpuBefore = cpuOf([pid])
        const start = performance.now()
        const answers: Answer[] = []
        await inParallel(calls.length, connections, async (n) => {
          const answer = await caller.post(calls[n]!)
          if (answer.status !== status) throw new Error(`${name} answered ${answer.status}`)
          answers.push(answer)
        })
        const wallMs = performance.now() - start
        measurement = { calls: calls.length, wallMs, cpuMs: cpuOf([pid]) - cpuBefore }
        return answers
      })
      return measurement
    },
  }
}

// A process for one system, so that its code, garbage collection and memory do not affect others.
// The parent sends it one command at a time.

import type { Case } from './cases.ts'
import { Sample } from './data.ts'
import { measure } from './measure.ts'
import { anonymousMb } from './memory.ts'
import { openSystem, type SystemName } from './systems/open.ts'

export type Order =
  | { do: 'load'; count: number }
  | { do: 'measure'; what: Case; concurrency: number; milliseconds: number }
  | { do: 'memory' }
  | { do: 'close' }

/** The message that a worker sends when its system is open. */
export interface Opened {
  available: boolean
  startMs?: number | undefined
  /** Anonymous memory before the system was opened, and of processes behind it. */
  idleMb?: number | undefined
}

const [name, directory = '', count = '0'] = process.argv.slice(2)
const sample = new Sample(Number(count))
const idleMb = anonymousMb()
const system = await openSystem(name as SystemName, directory, sample)

process.on('message', (order: Order) => {
  execute(order).then(
    (answer) => process.send!({ answer }),
    (error: unknown) =>
      process.send!({ error: error instanceof Error ? error.stack : String(error) }),
  )
})

const opened: Opened = { available: system !== undefined, startMs: system?.startMs, idleMb }
process.send!({ answer: opened })

async function execute(order: Order): Promise<unknown> {
  if (system === undefined) throw new Error(`${name} is not available`)
  switch (order.do) {
    case 'load':
      await system.load(order.count)
      return undefined
    case 'measure': {
      const call = system.calls[order.what]
      if (call === undefined) return undefined
      return measure(call, order.concurrency, order.milliseconds, system.processes)
    }
    case 'memory':
      return memoryMb()
    case 'close':
      await system.close()
      setImmediate(() => process.disconnect())
      return undefined
  }
}

function memoryMb(): number {
  let sum = 0
  for (const pid of system?.processes ?? (['self'] as const)) sum += anonymousMb(pid) ?? 0
  return sum
}

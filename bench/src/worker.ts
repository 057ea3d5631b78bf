// A process for one target, so that no target's code, garbage or memory shows in another's figures.
// It is told by its parent what to do, one thing at a time.

import type { Case } from './cases.ts'
import { Sample } from './data.ts'
import { measure } from './measure.ts'
import { anonymousMb } from './memory.ts'
import { openTarget, type TargetName } from './targets/open.ts'

export type Order =
  | { do: 'load'; count: number }
  | { do: 'measure'; what: Case; concurrency: number; milliseconds: number }
  | { do: 'memory' }
  | { do: 'close' }

/** What a worker says of itself once its target is open. */
export interface Opened {
  available: boolean
  startMs?: number | undefined
  /** Anonymous memory before the target was opened, and of processes behind it. */
  idleMb?: number | undefined
}

const [name, directory = '', count = '0'] = process.argv.slice(2)
const sample = new Sample(Number(count))
const idleMb = anonymousMb()
const target = await openTarget(name as TargetName, directory, sample)

process.on('message', (order: Order) => {
  execute(order).then(
    (answer) => process.send!({ answer }),
    (error: unknown) =>
      process.send!({ error: error instanceof Error ? error.stack : String(error) }),
  )
})

const opened: Opened = { available: target !== undefined, startMs: target?.startMs, idleMb }
process.send!({ answer: opened })

async function execute(order: Order): Promise<unknown> {
  if (target === undefined) throw new Error(`${name} is not available`)
  switch (order.do) {
    case 'load':
      await target.load(order.count)
      return undefined
    case 'measure': {
      const call = target.calls[order.what]
      if (call === undefined) return undefined
      return measure(call, order.concurrency, order.milliseconds, target.processes)
    }
    case 'memory':
      return memoryMb()
    case 'close':
      await target.close()
      setImmediate(() => process.disconnect())
      return undefined
  }
}

function memoryMb(): number {
  let sum = 0
  for (const pid of target?.processes ?? (['self'] as const)) sum += anonymousMb(pid) ?? 0
  return sum
}

// The cost of a call as a table grows, and the memory that the engine uses.

import type { Case } from '../cases.ts'
import type { Options } from '../options.ts'
import { limitTarget, type Target, type Result } from '../result.ts'
import { type Figures, measureStoresInTurns, pairedRatio, cpuRatio } from '../rounds.ts'
import type { WorkerProcess } from '../worker-process.ts'
import type { Workspace } from '../workspace.ts'

const SIZES = [1000, 100_000]
const LARGE = 1_000_000

/** Only the cost of single calls has targets: concurrent puts share a commit, whose cost is LMDB's. */
const PLAN: { what: Case; concurrency: number; times?: number }[] = [
  { what: 'get', concurrency: 1, times: 2 },
  { what: 'put', concurrency: 1, times: 2 },
  { what: 'put', concurrency: 32 },
]

export async function growthSection(workspace: Workspace, options: Options): Promise<Result> {
  const sizes = options.large ? [...SIZES, LARGE] : SIZES
  const smallest = sizes[0]!
  const largest = sizes.at(-1)!
  const engines: WorkerProcess[] = []
  // oxlint-disable-next-line no-await-in-loop -- loading is heavy enough one at a time
  for (const size of sizes) engines.push(await workspace.on('engine', size))
  const floor = [await workspace.on('lmdb', smallest), await workspace.on('lmdb', largest)]

  const timing = { warmUpSeconds: 0.7, rounds: 7, seconds: options.seconds }
  const figures: Figures[] = []
  const targets: Target[] = []
  const notes = options.large ? [] : ['use --large for 1,000,000 items']
  for (const { what, concurrency, times } of PLAN) {
    // oxlint-disable-next-line no-await-in-loop -- one case after the other
    const bySize = await measureStoresInTurns([...engines, ...floor], what, concurrency, timing)
    const growths = [
      growthOf(bySize[0]!, bySize[sizes.length - 1]!),
      growthOf(bySize.at(-2)!, bySize.at(-1)!),
    ]
    const named = [...sizes, smallest, largest].map(text)
    figures.push(
      ...bySize.map((found, at) => ({ ...found, system: `${found.system}, ${named[at]} items` })),
    )
    const subject = `${what} @${concurrency}: cost with ${text(largest)} items relative to ${text(smallest)}`
    const [ours, theirs] = growths as [Growth, Growth]
    if (times !== undefined)
      targets.push({ ...limitTarget(subject, ours.wall, times, '×'), cpu: ours.cpu })
    notes.push(`${subject}: engine ${shown(ours)}; raw lmdb ${shown(theirs)}`)
  }

  const last = engines.at(-1)!
  const { idleMb } = last.opened
  if (idleMb !== undefined) {
    const used = (await last.memoryMb()) - idleMb
    const subject = `anonymous memory added to an idle process, ${text(largest)} items, after these calls`
    targets.push(limitTarget(subject, used, 60, 'MB'))
  }
  // oxlint-disable-next-line no-await-in-loop
  for (const worker of [...engines, ...floor]) await worker.close()
  return { title: 'The engine in process as a table grows', figures, targets, notes }
}

interface Growth {
  wall: number
  cpu: number
}

function growthOf(few: Figures, many: Figures): Growth {
  return { wall: pairedRatio(few, many), cpu: cpuRatio(few, many) }
}

function shown({ wall, cpu }: Growth): string {
  return `${wall.toFixed(1)} × (CPU ${cpu.toFixed(1)} ×)`
}

function text(size: number): string {
  return size.toLocaleString('en')
}

// What the size of a table does to the cost of a call, and how much memory it takes.

import type { Case } from '../cases.ts'
import type { Options } from '../options.ts'
import { limitBar, type Bar, type Result } from '../result.ts'
import { type Figures, measureInTurns, pairedRatio, cpuRatio } from '../rounds.ts'
import type { WorkerProcess } from '../worker-process.ts'
import type { Workspace } from '../workspace.ts'

const SIZES = [1000, 100_000]
const LARGE = 1_000_000

const PLAN: { what: Case; concurrency: number }[] = [
  { what: 'get', concurrency: 1 },
  { what: 'put', concurrency: 1 },
  { what: 'put', concurrency: 32 },
]

export async function growthSection(workspace: Workspace, options: Options): Promise<Result> {
  const sizes = options.large ? [...SIZES, LARGE] : SIZES
  const workers: WorkerProcess[] = []
  // oxlint-disable-next-line no-await-in-loop -- loading is heavy enough one at a time
  for (const size of sizes) workers.push(await workspace.on('engine', size))

  const figures: Figures[] = []
  const bars: Bar[] = []
  for (const { what, concurrency } of PLAN) {
    // oxlint-disable-next-line no-await-in-loop -- one case after the other
    const bySize = await measureInTurns(workers, what, concurrency, options.seconds)
    bySize.forEach((found, at) => figures.push({ ...found, target: `${named(sizes[at]!)} items` }))
    const [least, most] = [bySize[0]!, bySize.at(-1)!]
    const text = `${what} @${concurrency}, cost of ${named(sizes.at(-1)!)} items over ${named(sizes[0]!)}`
    bars.push({
      ...limitBar(text, pairedRatio(least, most), 2, '×'),
      cpu: 1 / cpuRatio(most, least),
    })
  }

  const largest = workers.at(-1)!
  const { idleMb } = largest.opened
  if (idleMb !== undefined) {
    const used = (await largest.memoryMb()) - idleMb
    bars.push(
      limitBar(
        `anonymous memory, ${named(sizes.at(-1)!)} items, after the calls above`,
        used,
        60,
        'MB',
      ),
    )
  }
  // oxlint-disable-next-line no-await-in-loop
  for (const worker of workers) await worker.close()
  return {
    title: 'The engine in process as a table grows',
    figures,
    bars,
    notes: options.large ? [] : ['--large goes on to 1,000,000 items'],
  }
}

function named(size: number): string {
  return size.toLocaleString('en')
}

// The overhead of the engine over the underlying store: both in process, on disk, durable.

import { CASE_TEXT, type Case } from '../cases.ts'
import type { Options } from '../options.ts'
import { type Target, rateTarget, type Result } from '../result.ts'
import { type Figures, measureStoresInTurns } from '../rounds.ts'
import type { Workspace } from '../workspace.ts'

const ITEMS = 100_000

const PLAN: { what: Case; concurrency: number; percent?: number }[] = [
  { what: 'get', concurrency: 1, percent: 40 },
  { what: 'query', concurrency: 1, percent: 40 },
  { what: 'put', concurrency: 1 },
  { what: 'put', concurrency: 32, percent: 50 },
  { what: 'update', concurrency: 32, percent: 50 },
  { what: 'transaction', concurrency: 32, percent: 50 },
]

export async function engineSection(workspace: Workspace, options: Options): Promise<Result> {
  const engine = await workspace.on('engine', ITEMS)
  const lmdb = await workspace.on('lmdb', ITEMS)
  const timing = { warmUpSeconds: 1.5, rounds: 7, seconds: options.seconds }
  const figures: Figures[] = []
  const targets: Target[] = []
  for (const { what, concurrency, percent } of PLAN) {
    // oxlint-disable-next-line no-await-in-loop -- one case after the other
    const pair = await measureStoresInTurns([engine, lmdb], what, concurrency, timing)
    figures.push(...pair)
    if (percent === undefined) continue
    const text = `${CASE_TEXT[what]} @${concurrency}, share of raw lmdb's rate`
    targets.push(rateTarget(text, pair as [Figures, Figures], percent, '%'))
  }
  await engine.close()
  await lmdb.close()
  return {
    title: 'In process, on disk, durable, 100,000 items of 1 KB: the engine and raw lmdb',
    figures,
    targets,
    notes: [],
  }
}

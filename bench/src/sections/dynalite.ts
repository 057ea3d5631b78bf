// The engine in process and durable, compared with dynalite in memory through the AWS SDK.

import { CASE_TEXT, type Case } from '../cases.ts'
import type { Options } from '../options.ts'
import { type Target, rateTarget, type Result } from '../result.ts'
import { type Figures, measureStoresInTurns } from '../rounds.ts'
import type { Workspace } from '../workspace.ts'

const ITEMS = 5000

const PLAN: { what: Case; concurrency: number; times?: number }[] = [
  { what: 'get', concurrency: 1, times: 20 },
  { what: 'get', concurrency: 32, times: 20 },
  { what: 'put', concurrency: 32, times: 8 },
  { what: 'update', concurrency: 32 },
]

export async function dynaliteSection(workspace: Workspace, options: Options): Promise<Result> {
  const title = 'The engine in process (durable) and dynalite in memory through the AWS SDK'
  const dynalite = await workspace.fresh('dynalite', ITEMS)
  if (dynalite === undefined) {
    return { title, figures: [], targets: [], notes: ['dynalite is not installed'] }
  }
  const engine = await workspace.on('engine', ITEMS)
  const timing = { warmUpSeconds: 0.5, rounds: 7, seconds: options.seconds }
  const figures: Figures[] = []
  const targets: Target[] = []
  for (const { what, concurrency, times } of PLAN) {
    // oxlint-disable-next-line no-await-in-loop -- one case after the other
    const pair = await measureStoresInTurns([engine, dynalite], what, concurrency, timing)
    figures.push(...pair)
    if (times === undefined) continue
    const text = `${CASE_TEXT[what]} @${concurrency}, times dynalite's rate`
    targets.push(rateTarget(text, pair as [Figures, Figures], times, '×'))
  }
  await engine.close()
  await dynalite.close()
  return { title, figures, targets, notes: [] }
}

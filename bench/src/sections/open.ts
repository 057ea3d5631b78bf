// The time to open a directory with data, until the response to the first get.

import { limitTarget, type Result } from '../result.ts'
import { median } from '../rounds.ts'
import type { Workspace } from '../workspace.ts'

const ITEMS = 100_000
const TIMES = 9

export async function openSection(workspace: Workspace): Promise<Result> {
  const times: number[] = []
  for (let n = 0; n < TIMES; n++) {
    // A new process each time.
    // oxlint-disable-next-line no-await-in-loop
    const worker = await workspace.on('engine', ITEMS)
    times.push(worker.opened.startMs ?? Infinity)
    // oxlint-disable-next-line no-await-in-loop
    await worker.close()
  }
  const shown = times.map((time) => time.toFixed(1)).join(', ')
  return {
    title: 'Opening a directory with 100,000 items, until the first response',
    figures: [],
    targets: [limitTarget('open 100,000 items', median(times), 50, 'ms')],
    notes: [`milliseconds, each in a new process: ${shown}`],
  }
}

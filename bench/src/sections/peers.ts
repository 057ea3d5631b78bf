// Every face of the engine and other implementations of DynamoDB, with the same SDK client.

import { CASES } from '../cases.ts'
import type { Options } from '../options.ts'
import type { Result } from '../result.ts'
import { type Figures, measureStoresInTurns } from '../rounds.ts'
import type { SystemName } from '../systems/open.ts'
import type { WorkerProcess } from '../worker-process.ts'
import type { Workspace } from '../workspace.ts'

const ITEMS = 2000
const SYSTEMS: SystemName[] = [
  'engine',
  'engine-sdk',
  'engine-http',
  'dynalite',
  'dynoxide',
  'dynamodb-local',
]

export async function peersSection(workspace: Workspace, options: Options): Promise<Result> {
  const workers: WorkerProcess[] = []
  const notes: string[] = []
  for (const name of SYSTEMS) {
    // oxlint-disable-next-line no-await-in-loop -- one start at a time
    const worker = await workspace.fresh(name, ITEMS)
    if (worker === undefined) notes.push(`${name}: not installed`)
    else workers.push(worker)
  }
  const timing = { warmUpSeconds: 0.2, rounds: 3, seconds: options.seconds / 4 }
  const figures: Figures[] = []
  for (const what of CASES) {
    const able = workers.filter(({ name }) => name !== 'dynalite' || what !== 'transaction')
    for (const concurrency of [1, 32]) {
      // oxlint-disable-next-line no-await-in-loop -- one case after the other
      figures.push(...(await measureStoresInTurns(able, what, concurrency, timing)))
    }
  }
  for (const worker of workers) {
    const { startMs } = worker.opened
    // oxlint-disable-next-line no-await-in-loop
    const memory = await worker.memoryMb()
    const start = startMs === undefined ? '' : `first response after ${startMs.toFixed(0)} ms, `
    notes.push(`${worker.name}: ${start}${memory.toFixed(0)} MB of anonymous memory at the end`)
    // oxlint-disable-next-line no-await-in-loop
    await worker.close()
  }
  return {
    title:
      'Faces of the engine (durable) and other engines (in memory), all but the first through the AWS SDK',
    figures,
    targets: [],
    notes,
    chart: {
      title:
        'The engine and others through the AWS SDK, 32 concurrent calls (the engine also directly)',
      value: 'calls/s',
      scale: 'logarithmic',
      concurrency: 32,
    },
  }
}

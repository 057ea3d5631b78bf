/** The code of a worker thread that runs scripts, one at a time. */
import { createEnginePool, loadEngineFactory } from './engine.ts'
import { runScript } from './run-script.ts'
import type { ScriptJob } from './sandbox.ts'
import { serveJobs } from './thread-jobs.ts'

async function main() {
  const engines = createEnginePool(await loadEngineFactory())
  serveJobs((job: ScriptJob) => runScript(engines, job))
}

void main()

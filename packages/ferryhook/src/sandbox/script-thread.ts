/** The code of a thread that runs scripts, one after the other. */
import { createEngines } from './engines.ts'
import { loadQuickJs } from './quickjs.ts'
import { runScript } from './run-script.ts'
import type { ScriptJob } from './script-job.ts'
import { serveJobs } from './thread-jobs.ts'

async function main() {
  const engines = createEngines(await loadQuickJs())
  serveJobs((job: ScriptJob) => runScript(engines, job))
}

void main()

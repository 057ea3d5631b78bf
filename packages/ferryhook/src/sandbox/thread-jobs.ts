/** The thread's side of a thread pool. */
import { parentPort } from 'node:worker_threads'

/**
 * The first message says that jobs can be done from now on, each other one answers one job. What
 * fails here is nobody's to handle: it ends the thread, and the pool starts another.
 */
export function serveJobs<Job, Answer>(answer: (job: Job) => Answer | Promise<Answer>): void {
  const port = parentPort
  if (!port) throw new TypeError('This is the code of a thread')
  async function reply(job: Job) {
    port?.postMessage(await answer(job))
  }
  port.on('message', (job: Job) => void reply(job))
  port.postMessage('ready')
}

/** The worker thread's side of a thread pool. */
import { parentPort } from 'node:worker_threads'

/**
 * The first message announces that the thread is ready; each further message is the result of one
 * job. Errors are not caught here: they end the thread, and the pool starts another.
 */
export function serveJobs<Job, Result>(run: (job: Job) => Result | Promise<Result>): void {
  const port = parentPort
  if (!port) throw new TypeError('serveJobs must be called in a worker thread')
  async function reply(job: Job) {
    port?.postMessage(await run(job))
  }
  port.on('message', (job: Job) => void reply(job))
  port.postMessage('ready')
}

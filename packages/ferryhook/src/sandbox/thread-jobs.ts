/** The worker thread's side of a thread pool. */
import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/**
 * The first message announces that the thread is ready; each further message is the result of one
 * job. Errors are not caught here: they end the thread, and the pool starts another.
 */
export function serveJobs<Job, Result>(run: (job: Job) => Result | Promise<Result>): void {
  const port = parentPort
  if (!port) throw new TypeError('serveJobs must be called in a worker thread')
  lowerPriority()
  async function reply(job: Job) {
    port?.postMessage(await run(job))
  }
  port.on('message', (job: Job) => void reply(job))
  port.postMessage('ready')
}

/**
 * Requests of all users come before jobs of one. Linux has a priority for each thread; elsewhere this
 * would lower that of the whole process.
 */
function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
}

/** Scripts of users, run beside the event loop where they can do no harm. */
import type { ScriptAnswer, ScriptJob } from './script-job.ts'
import { type After, createThreadPool } from './thread-pool.ts'

export interface Sandbox {
  /** Throws `ThreadFailed` if the script could not be run, or not to its end. */
  run(job: ScriptJob): Promise<ScriptAnswer>
  close(): Promise<void>
}

export interface SandboxOptions {
  /** Two, also on one core: one owner's script that hangs leaves the other to the others. */
  threads?: number
  after?: After
}

export function createSandbox({ threads = 2, after }: SandboxOptions = {}): Sandbox {
  const pool = createThreadPool<ScriptJob, ScriptAnswer>({
    code: async () => (await import('./script-thread.ts?thread')).default,
    threads,
    threadsPerOwner: Math.max(1, threads - 1),
    // Each who waits holds a body in memory.
    queue: { total: 200, perOwner: 20 },
    // Only for what the engine cannot interrupt; far more than any script may take.
    patience: 5_000,
    ...(after && { after }),
  })
  return {
    run: (job) => pool.run(job, job.owner),
    close: () => pool.close(),
  }
}

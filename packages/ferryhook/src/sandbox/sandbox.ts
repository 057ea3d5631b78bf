/** Runs scripts of users in worker threads, isolated from the event loop and from each other. */
import { type Clock, systemClock } from '@strongroom/platform/clock'
import type { StartTimer } from '@strongroom/platform/timers'
import { createThreadPool, type JobResult, type ThreadPoolOptions } from './thread-pool.ts'

export interface ScriptJob {
  /** The user whose script it is. */
  owner: string
  code: string
  /** Without an event, the code is only checked: whether it loads and defines `transform`. */
  event?: ScriptEvent
}

export interface ScriptEvent {
  /** JSON of the body as the script sees it. */
  body: string
  headers: Readonly<Record<string, string>>
  query: Readonly<Record<string, string | string[]>>
  method: string
  id: string
  receivedAt: string
}

export type ScriptOutcome =
  | { type: 'checked' }
  | { type: 'dropped' }
  /** `body` is JSON, also for a text; `headers` is JSON that is not validated yet. */
  | { type: 'json' | 'text'; body: string; headers?: string }
  | { type: 'failed'; code: ScriptFailure; message: string }

export type ScriptFailure =
  | 'invalid_code'
  | 'threw'
  | 'never_settled'
  | 'time_limit'
  | 'memory_limit'
  | 'stack_limit'
  | 'output_limit'
  | 'invalid_output'
  | 'crashed'

export interface ScriptResult {
  outcome: ScriptOutcome
  console: readonly string[]
}

export interface Sandbox {
  run(job: ScriptJob): Promise<JobResult<ScriptResult>>
  close(): Promise<void>
}

export interface SandboxOptions {
  /** Two even on one core, so that a script that hangs leaves a thread to other owners. */
  threads?: number
  clock?: Clock
  startTimer?: StartTimer
  /** Tests replace threads. */
  startThread?: ThreadPoolOptions['startThread']
}

/**
 * The engine interrupts most scripts much earlier; this is for what it cannot interrupt, such as
 * a search in a large text.
 */
export const SCRIPT_TIMEOUT_MS = 1_000
/** Another owner's script gets a spare thread when all threads have been occupied for this long. */
export const SLOW_SCRIPT_MS = 100

export function createSandbox({
  threads = 2,
  clock = systemClock,
  startTimer,
  startThread,
}: SandboxOptions = {}): Sandbox {
  const pool = createThreadPool<ScriptJob, ScriptResult>({
    code: async () => (await import('./script-thread.ts?thread')).default,
    threads,
    threadsPerOwner: Math.max(1, threads - 1),
    // Every queued job holds a body in memory.
    queue: { total: 200, perOwner: 20 },
    timeoutMs: SCRIPT_TIMEOUT_MS,
    spare: { threads: 2, slowMs: SLOW_SCRIPT_MS },
    backOff: { clock, baseMs: 10_000, maxMs: 600_000, suspectMs: 3_600_000 },
    ...(startTimer && { startTimer }),
    ...(startThread && { startThread }),
  })
  return {
    run: (job) => pool.run(job, job.owner),
    close: () => pool.close(),
  }
}

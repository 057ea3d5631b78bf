/**
 * Runs the steps of jobs that are due. Any number of processes share the work: a step runs under a
 * lease, and when its process stops, another one repeats it from the last stored position.
 */
import type { Clock } from '@strongroom/platform/clock'
import type { StartTimer } from '@strongroom/platform/timers'
import type { Db } from '../db.ts'
import { ApiError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { JobKind } from './kind.ts'
import { createJobStore, type LeasedJob } from './store.ts'

/** After this long, a process finds jobs that others started or left behind. */
export const POLL_MS = 5_000
/** A step takes a few seconds. */
export const LEASE_MS = 60_000
/** Starts of one step, by failing processes or after errors, before the job fails. */
export const MAX_ATTEMPTS = 12
const MAX_BACKOFF_MS = 60_000

export interface JobRunner {
  start(): void
  /** Looks for due steps immediately, if the runner is started. */
  wake(): void
  /** Runs steps until none is due. Resolves with the time when the next one is. */
  runDue(): Promise<number>
  /** Stops after the running step. */
  close(): Promise<void>
}

export function createJobRunner(deps: {
  db: Db
  clock: Clock
  log: Log
  startTimer: StartTimer
  kinds: readonly JobKind[]
}): JobRunner {
  const { clock, log, startTimer } = deps
  const store = createJobStore(deps)
  const kinds = new Map(deps.kinds.map((kind) => [kind.name, kind]))
  let running: Promise<void> | undefined
  let isStarted = false
  let isClosed = false
  /** Called during a run, which may have missed what is due. */
  let wasWoken = false
  let stopTimer = () => {}

  /** Runs one step. Resolves with the time of the next one, or undefined if there is none to run. */
  async function runStep(kind: JobKind, id: string): Promise<number | undefined> {
    const job = await store.claim(id, LEASE_MS)
    if (!job) return undefined
    if (job.cancelledBy !== undefined) {
      await store.settle(job, { next: { state: 'cancelled' } })
      log.info('job cancelled', { kind: job.kind })
      return undefined
    }
    if (job.attempts > MAX_ATTEMPTS) return fail(job, 'Its process stopped several times')
    try {
      const results = await kind.runStep({
        input: JSON.parse(job.input) as object,
        position: job.position === undefined ? undefined : (JSON.parse(job.position) as object),
        startedAt: Date.parse(job.createdAt),
        by: { actor: job.createdBy, address: job.address },
      })
      const waitMs = results.waitMs ?? 0
      const isDone = results.position === undefined
      const next = isDone ? ({ state: 'done' } as const) : ({ state: 'running', waitMs } as const)
      const state = await store.settle(job, { results, next })
      if (state === undefined) log.warn('lease of a job lost', { kind: job.kind })
      if (state === 'done') log.info('job done', { kind: job.kind })
      return state === 'running' ? clock.now() + waitMs : undefined
    } catch (error) {
      return retryLater(job, error)
    }
  }

  async function retryLater(job: LeasedJob, error: unknown): Promise<number | undefined> {
    // What a client may see is for operators too; anything else is only in the log.
    const isKnown = error instanceof ApiError
    const problem = isKnown ? error.message : 'An internal error. See the log of the server.'
    if (!isKnown) log.error('job step failed', { kind: job.kind, error })
    const isFinal = isKnown && error.status < 500
    if (isFinal || job.attempts >= MAX_ATTEMPTS) return fail(job, problem)
    const waitMs = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** (job.attempts - 1))
    await store.settle(job, { next: { state: 'running', waitMs, problem } })
    return clock.now() + waitMs
  }

  async function fail(job: LeasedJob, problem: string): Promise<undefined> {
    await store.settle(job, { next: { state: 'failed', problem } })
    log.warn('job failed', { kind: job.kind })
  }

  /** Runs steps of one job until the next one is not due yet. */
  async function runJob(kind: JobKind, id: string): Promise<number> {
    for (;;) {
      const nextAt = await runStep(kind, id)
      if (nextAt === undefined) return Number.POSITIVE_INFINITY
      if (nextAt > clock.now() || isClosed) return nextAt
    }
  }

  async function runDue(): Promise<number> {
    const due = [...(await store.listRunning())].flatMap(([name, id]) => {
      const kind = kinds.get(name)
      return kind ? [runJob(kind, id)] : []
    })
    return Math.min(Number.POSITIVE_INFINITY, ...(await Promise.all(due)))
  }

  async function runAndSchedule(): Promise<void> {
    let nextAt = Number.POSITIVE_INFINITY
    try {
      nextAt = await runDue()
    } catch (error) {
      log.error('reading jobs failed, retrying', { error })
    }
    running = undefined
    const waitMs = wasWoken ? 0 : Math.max(0, nextAt - clock.now())
    wasWoken = false
    schedule(Math.min(POLL_MS, waitMs))
  }

  function poll(): void {
    if (!isStarted || isClosed || running) return
    stopTimer()
    running = runAndSchedule()
  }

  function schedule(ms: number): void {
    if (!isClosed) stopTimer = startTimer(ms, poll)
  }

  return {
    start() {
      isStarted = true
      schedule(POLL_MS)
    },

    wake() {
      if (running) wasWoken = true
      else poll()
    },

    runDue,

    async close() {
      isClosed = true
      stopTimer()
      await running
    },
  }
}

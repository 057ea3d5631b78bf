/**
 * Runs the work of users in small parts, so that no user blocks the event loop for others. Cheap work
 * runs on the event loop: owners take turns, and after a few milliseconds other callbacks of the
 * process run before the next job. A filter or field map that turns out to be expensive starts again
 * in a thread.
 */
import { serverError } from '@strongroom/kit/http/errors'
import { type Budget, BUDGET_EXCEEDED, createBudget } from '../filters/budget.ts'
import { evaluate, type EvaluationJob, type EvaluationResults } from './evaluation.ts'
import type { ThreadEvaluation } from './evaluation-thread.ts'
import { createFairQueue } from './fair-queue.ts'
import { createThreadPool, type ThreadPoolOptions } from './thread-pool.ts'

export interface WorkScheduler {
  /**
   * Runs `work` on the event loop when it is the owner's turn. `work` charges what it does to the
   * budget.
   */
  run<Result>(owner: string, work: (budget: Budget) => Result): Promise<Result>
  /** Runs a filter or field map where it delays nobody. */
  evaluate<Kind extends EvaluationJob['kind']>(
    owner: string,
    job: EvaluationJob & { kind: Kind },
  ): Promise<EvaluationResults[Kind]>
  close(): Promise<void>
}

export interface WorkSchedulerOptions {
  /** Calls back after pending callbacks of the event loop have run. */
  yieldTurn?: (resume: () => void) => void
  /** Observes the units that each uninterrupted turn of the event loop has spent. */
  onTurn?: (units: number) => void
  /** Observes the units that each job of the thread has spent. */
  onThreadJob?: (units: number) => void
  /** Tests replace threads. */
  startThread?: ThreadPoolOptions['startThread']
}

/** No job starts in a turn that has spent this much. */
export const MAX_UNITS_BEFORE_YIELD = 50_000
/** What one job may spend on the event loop. */
export const MAX_UNITS_PER_JOB = 70_000
/** What a filter or field map may spend on the event loop before it continues in a thread. */
const MAX_UNITS_BEFORE_THREAD = 30_000
/** Charged to the turn for each job in addition to its own work. */
const UNITS_PER_JOB = 500

/** The most that one turn can spend. */
export const MAX_UNITS_PER_TURN = MAX_UNITS_BEFORE_YIELD + UNITS_PER_JOB + MAX_UNITS_PER_JOB

/** The budget bounds each job, so this is only exceeded if the machine is overloaded. */
const THREAD_TIMEOUT_MS = 30_000

/** The workers' tasks in flight bound the queues. */
const unlimited = { total: Number.POSITIVE_INFINITY, perOwner: Number.POSITIVE_INFINITY }

export function createWorkScheduler(options: WorkSchedulerOptions = {}): WorkScheduler {
  const { yieldTurn = setImmediate, onTurn, onThreadJob, startThread } = options
  const queue = createFairQueue<() => void>(unlimited)
  const threads = createThreadPool<EvaluationJob, ThreadEvaluation>({
    code: async () => (await import('./evaluation-thread.ts?thread')).default,
    threads: 1,
    threadsPerOwner: 1,
    queue: unlimited,
    timeoutMs: THREAD_TIMEOUT_MS,
    ...(startThread && { startThread }),
  })
  let spent = 0
  let isYielding = false

  /** Work of the same turn runs in one callback of the event loop. */
  function beginTurn(): void {
    isYielding = false
    onTurn?.(spent)
    spent = 0
    runTurn()
  }

  const hasRoom = () => spent < MAX_UNITS_BEFORE_YIELD

  function runTurn(): void {
    for (let job = queue.take(hasRoom); job; job = queue.take(hasRoom)) job()
    if (spent === 0 || isYielding) return
    isYielding = true
    yieldTurn(beginTurn)
  }

  function runWithin<Result>(owner: string, units: number, work: (budget: Budget) => Result) {
    return new Promise<Result>((resolve, reject) => {
      queue.add(owner, () => {
        const budget = createBudget(units)
        try {
          resolve(work(budget))
        } catch (error) {
          reject(error)
        } finally {
          spent += UNITS_PER_JOB + budget.spent
        }
      })
      runTurn()
    })
  }

  async function evaluateInThread(owner: string, job: EvaluationJob) {
    const run = await threads.run(
      { ...job, event: withOwnBuffer(job.event) } as EvaluationJob,
      owner,
    )
    if (run.kind === 'failed') {
      const { failure, cause } = run
      // Says nothing about the event: a task or a request has to be repeated.
      throw serverError('unavailable', {
        cause: new Error(`An evaluation in a thread failed: ${failure}`, { cause }),
        headers: { 'retry-after': '1' },
      })
    }
    onThreadJob?.(run.result.units)
    return run.result.result
  }

  return {
    run: (owner, work) => runWithin(owner, MAX_UNITS_PER_JOB, work),
    async evaluate<Kind extends EvaluationJob['kind']>(
      owner: string,
      job: EvaluationJob & { kind: Kind },
    ) {
      const here = await runWithin(owner, MAX_UNITS_BEFORE_THREAD, (budget) =>
        tryToEvaluate(job, budget),
      )
      return (here?.result ?? (await evaluateInThread(owner, job))) as EvaluationResults[Kind]
    },
    close: () => threads.close(),
  }
}

/** Undefined if the budget does not suffice. */
function tryToEvaluate(job: EvaluationJob, budget: Budget) {
  try {
    const result = evaluate(job, budget)
    return budget.isExceeded ? undefined : { result }
  } catch (error) {
    if (error !== BUDGET_EXCEEDED) throw error
    return undefined
  }
}

/** A message to a thread copies the whole buffer that a body is a part of. */
function withOwnBuffer<Event extends { body: Uint8Array }>(event: Event): Event {
  const { body } = event
  return body.byteLength === body.buffer.byteLength ? event : { ...event, body: body.slice() }
}

/**
 * Runs short synchronous work on the event loop, such as filters and field maps. Owners take turns,
 * and after a few milliseconds of work other callbacks of the process run before the next job.
 */
import { type Budget, createBudget, MAX_UNITS } from '../filters/budget.ts'
import { createFairQueue } from './fair-queue.ts'

export interface WorkScheduler {
  /** Runs `work` when it is the owner's turn. `work` charges what it does to the budget. */
  run<Result>(owner: string, work: (budget: Budget) => Result): Promise<Result>
}

export interface WorkSchedulerOptions {
  /** Calls back after pending callbacks of the event loop have run. */
  yieldTurn?: (resume: () => void) => void
  /** Observes the units that each uninterrupted turn has spent. */
  onTurn?: (units: number) => void
}

/** No job starts in a turn that has spent this much, so a turn is at most this and one budget. */
export const MAX_UNITS_BEFORE_YIELD = 50_000
/** Charged to the turn for each job in addition to its own work. */
const UNITS_PER_JOB = 500

/** The workers' tasks in flight bound the queue. */
const unlimited = { total: Number.POSITIVE_INFINITY, perOwner: Number.POSITIVE_INFINITY }

/** The most that one turn can spend. */
export const MAX_UNITS_PER_TURN = MAX_UNITS_BEFORE_YIELD + UNITS_PER_JOB + MAX_UNITS

export function createWorkScheduler({
  yieldTurn = setImmediate,
  onTurn,
}: WorkSchedulerOptions = {}): WorkScheduler {
  const queue = createFairQueue<() => void>(unlimited)
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

  return {
    run(owner, work) {
      return new Promise((resolve, reject) => {
        queue.add(owner, () => {
          const budget = createBudget()
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
    },
  }
}

/** The code of a worker thread that runs expensive filters and field maps. */
import { createBudget } from '../filters/budget.ts'
import { evaluate, type EvaluationJob, type EvaluationResult } from './evaluation.ts'
import { serveJobs } from './thread-jobs.ts'

export interface ThreadEvaluation {
  result: EvaluationResult
  units: number
}

serveJobs((job: EvaluationJob): ThreadEvaluation => {
  const budget = createBudget()
  return { result: evaluate(job, budget), units: budget.spent }
})

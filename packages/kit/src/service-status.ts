/** What a running service reports to operators. The server adds its own and knows no service's internals. */

export interface ServiceStatus {
  /** What is worth knowing now, such as "3 connections fail". */
  note?: string | undefined
  problems: readonly Problem[]
  work?: WorkStatus | undefined
}

export interface Problem {
  /** `bad`: something does not work. `warn`: it will not, or it should be better. */
  severity: 'bad' | 'warn'
  /** "42 deliveries are overdue" */
  title: string
  /** Why, what it means and what to do, in plain sentences. No secrets. */
  explanation: string
  /** Milliseconds since the epoch, if known. */
  since?: number | undefined
  /** The page of the console that shows it: `/server/failing`. */
  page?: string | undefined
  /** The command that fixes it, as it is typed. */
  command?: string | undefined
}

/** Background work. Numbers are at least this if `isComplete` is false. */
export interface WorkStatus {
  due: number
  /** Cannot run now: paused, limited or failing. */
  waiting: number
  overdue: number
  oldestDueAt?: number | undefined
  isComplete: boolean
}

/** Deadlines that share a clock and timers, which tests control. */
import type { Clock } from '@strongroom/platform/clock'
import { type Deadline, startDeadline } from '@strongroom/kit/deadline'
import type { StartTimer } from '@strongroom/platform/timers'

export type StartDeadline = (at: { ms: number } | { until: number }) => Deadline

export function createDeadlines(deps: { clock: Clock; startTimer: StartTimer }): StartDeadline {
  const error = () => new Error('The deadline passed.')
  return (at) => startDeadline(at, { ...deps, error })
}

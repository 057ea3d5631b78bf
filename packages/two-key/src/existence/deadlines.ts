import type { Clock } from '@strongroom/kit/clock'
import type { StartTimer } from '@strongroom/kit/safe-fetch/deadline'

/** Waits for work until a moment of the clock and no longer. */
export interface Deadlines {
  within<T>(deadline: number, work: Promise<T>): Promise<{ value: T } | 'late'>
}

export function createDeadlines(deps: { clock: Clock; startTimer: StartTimer }): Deadlines {
  return {
    async within(deadline, work) {
      let stop: (() => void) | undefined
      const late = new Promise<'late'>((resolve) => {
        const left = Math.max(0, deadline - deps.clock.now())
        stop = deps.startTimer(left, () => resolve('late'))
      })
      const done = work.then((value) => ({ value }))
      // What fails when nobody waits any more is nobody's.
      done.catch(() => {})
      return Promise.race([done, late]).finally(stop)
    },
  }
}

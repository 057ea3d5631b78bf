/**
 * Answers that must not tell by their time what there was to look at: reading a secret takes some
 * microseconds longer than finding none, and whoever asks often enough could measure them. So the
 * time is kept exactly: what a timer is late by depends on the work before it.
 */
import type { Timers } from './timers.ts'

export interface EvenAnswers {
  /** What the work results in; if it throws, no sooner than after the fixed time. */
  refuse<T>(work: () => Promise<T>): Promise<T>
  /** The same for work whose result tells nothing either: it too comes after the fixed time. */
  always<T>(work: () => Promise<T>): Promise<T>
}

export function evenAnswers(options: {
  timers: Pick<Timers, 'untilOver'>
  ms: number
}): EvenAnswers {
  const { timers, ms } = options
  const counting = () => (ms === 0 ? async () => {} : timers.untilOver(ms))
  return {
    async refuse(work) {
      const timeIsOver = counting()
      try {
        return await work()
      } catch (error) {
        await timeIsOver()
        throw error
      }
    },
    async always(work) {
      const timeIsOver = counting()
      try {
        return await work()
      } finally {
        await timeIsOver()
      }
    },
  }
}

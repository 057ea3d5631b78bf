/**
 * Answers that must not tell by their time what there was to look at: reading a secret takes some
 * microseconds longer than finding none, and whoever asks often enough could measure them.
 */
import type { Timers } from './timers.ts'

export interface EvenAnswers {
  /** What the work results in; if it throws, no sooner than after the fixed time. */
  refuse<T>(work: () => Promise<T>): Promise<T>
  /** The same for work whose result tells nothing either: it too comes after the fixed time. */
  always<T>(work: () => Promise<T>): Promise<T>
}

export function evenAnswers({ timers, ms }: { timers: Timers; ms: number }): EvenAnswers {
  // Begun before the work: a wait that began after it would end that much later.
  const fixedTime = async () =>
    ms === 0 ? undefined : new Promise<void>((resolve) => void timers.after(ms, resolve))
  return {
    async refuse(work) {
      const time = fixedTime()
      try {
        return await work()
      } catch (error) {
        await time
        throw error
      }
    },
    async always(work) {
      const time = fixedTime()
      try {
        return await work()
      } finally {
        await time
      }
    },
  }
}

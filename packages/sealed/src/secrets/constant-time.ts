/**
 * Keeps response times from revealing whether a secret exists. A read takes some microseconds
 * longer than a miss, and repeated requests could measure that. The wait ends at an exact time after
 * the request started, because the lateness of an ordinary timer depends on the work before it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Starts a wait now. The returned function resolves when `ms` have passed, to some microseconds. */
export type StartWait = (ms: number) => () => Promise<void>

/**
 * Node's timers count whole milliseconds and are late by a fraction that depends on when the process
 * was last idle. The last milliseconds are therefore a busy wait.
 */
const BUSY_WAIT_MS = 2

export const startWait: StartWait = (ms) => {
  const end = performance.now() + ms
  return async () => {
    const sleepMs = Math.floor(end - performance.now() - BUSY_WAIT_MS)
    if (sleepMs > 0) await new Promise((resolve) => setTimeout(resolve, sleepMs).unref())
    while (performance.now() < end) await nextTurn()
  }
}

export interface ConstantTime {
  /** Delays errors. A success is not delayed: its content says that the secret exists. */
  delayErrors<T>(work: () => Promise<T>): Promise<T>
  /** Delays a false result. Whoever gets true already knows that the secret exists. */
  delayUnless(work: () => Promise<boolean>): Promise<void>
  /** Delays every outcome, for work whose success must not be noticeable either. */
  delayAlways<T>(work: () => Promise<T>): Promise<T>
}

export function createConstantTime(options: { startWait: StartWait; ms: number }): ConstantTime {
  const { ms } = options
  const start = () => (ms === 0 ? async () => {} : options.startWait(ms))
  return {
    async delayErrors(work) {
      const untilElapsed = start()
      try {
        return await work()
      } catch (error) {
        await untilElapsed()
        throw error
      }
    },
    async delayUnless(work) {
      const untilElapsed = start()
      let isDelayed = true
      try {
        isDelayed = !(await work())
      } finally {
        if (isDelayed) await untilElapsed()
      }
    },
    async delayAlways(work) {
      const untilElapsed = start()
      try {
        return await work()
      } finally {
        await untilElapsed()
      }
    },
  }
}

/** Waiting, handed in so that tests need not wait. */
import { setImmediate as nextTurn } from 'node:timers/promises'

export interface Timers {
  /** Runs once after that time, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void
  /** Counts from now; what it returns resolves when so much time is over, to some microseconds. */
  untilOver(ms: number): () => Promise<void>
}

/**
 * Node's timers count whole milliseconds, and are late by a part of one that depends on when the
 * process last had nothing to do. The rest is waited for awake.
 */
const AWAKE_MS = 2

/** None of them keeps the process alive. */
export const systemTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
  untilOver(ms) {
    const end = performance.now() + ms
    return async () => {
      const asleep = Math.floor(end - performance.now() - AWAKE_MS)
      if (asleep > 0) await new Promise<void>((resolve) => void systemTimers.after(asleep, resolve))
      while (performance.now() < end) await nextTurn()
    }
  },
}

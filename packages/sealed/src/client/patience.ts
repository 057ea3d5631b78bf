/** Waits where the server says so, if it is not for long. */
import { RequestFailed } from './errors.ts'

/** How a client waits, and tells about it; tests hand in their own. */
export interface Patience {
  /** Milliseconds of a clock that never goes back. */
  now(): number
  wait(ms: number): Promise<void>
  /** Called before each wait. */
  onWait?(reason: 'rate_limited' | 'lost', seconds: number): void
}

export const patience: Patience = {
  now: () => performance.now(),
  wait: (ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms)
    }),
}

/** A limit is counted by the minute. */
const LONGEST_WAIT_SECONDS = 60
const MOST_WAITS = 2

/** Does the work, and again after as many seconds as the server asks a client to wait. */
export async function patiently<T>(
  { wait, onWait }: Omit<Patience, 'now'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let waits = 0; ; waits++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof RequestFailed) || error.code !== 'rate_limited') throw error
      const seconds = error.retryAfterSeconds ?? 1
      if (seconds > LONGEST_WAIT_SECONDS || waits === MOST_WAITS) throw error
      onWait?.('rate_limited', seconds)
      await wait(seconds * 1000)
    }
  }
}

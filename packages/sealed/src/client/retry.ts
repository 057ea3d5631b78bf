/** Waits when the server answers 429, if the wait is short. */
import { RequestFailed } from './errors.ts'

/** How a client waits; tests pass their own. */
export interface RetryOptions {
  /** Milliseconds of a monotonic clock. */
  now(): number
  wait(ms: number): Promise<void>
  /** Called before each wait. */
  onWait?(reason: 'rate_limited' | 'lost', seconds: number): void
}

export const defaultRetry: RetryOptions = {
  now: () => performance.now(),
  wait: (ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms)
    }),
}

/** Limits are per minute. */
const MAX_WAIT_SECONDS = 60
const MAX_WAITS = 2

export async function retryWhenRateLimited<T>(
  { wait, onWait }: Omit<RetryOptions, 'now'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let waits = 0; ; waits++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof RequestFailed) || error.code !== 'rate_limited') throw error
      const seconds = error.retryAfterSeconds ?? 1
      if (seconds > MAX_WAIT_SECONDS || waits === MAX_WAITS) throw error
      onWait?.('rate_limited', seconds)
      await wait(seconds * 1000)
    }
  }
}

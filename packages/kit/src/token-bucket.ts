/** A rate per second with bursts of up to one second's worth, in memory. */
import type { Clock } from '@strongroom/platform/clock'

export interface TokenBucket {
  /** Takes a token and returns 0, or the milliseconds until there is one. */
  take(perSecond: number): number
}

/** It starts full. The rate may change from call to call. */
export function createTokenBucket(clock: Clock): TokenBucket {
  let tokens: number | undefined
  let filledAt = clock.now()
  return {
    take(perSecond) {
      const now = clock.now()
      // A clock that was set back removes no tokens.
      const passedSeconds = Math.max(0, now - filledAt) / 1000
      const filled = (tokens ?? perSecond) + passedSeconds * perSecond
      tokens = Math.min(filled, Math.max(1, perSecond))
      filledAt = now
      if (tokens < 1) return Math.ceil(((1 - tokens) / perSecond) * 1000)
      tokens -= 1
      return 0
    },
  }
}

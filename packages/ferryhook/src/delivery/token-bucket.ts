/** So many a second, and a second's worth at once. */
import type { Clock } from '@strongroom/kit/clock'

export interface TokenBucket {
  /** 0 if there was a token, which is gone now; otherwise milliseconds until there is one. */
  take(perSecond: number): number
}

export function createTokenBucket(clock: Clock): TokenBucket {
  let tokens: number | undefined
  let filledAt = clock.now()
  return {
    take(perSecond) {
      const now = clock.now()
      // A clock that was set back takes nothing away.
      const passed = Math.max(0, now - filledAt) / 1000
      const grown = (tokens ?? perSecond) + passed * perSecond
      tokens = Math.min(grown, Math.max(1, perSecond))
      filledAt = now
      if (tokens < 1) return Math.ceil(((1 - tokens) / perSecond) * 1000)
      tokens -= 1
      return 0
    },
  }
}

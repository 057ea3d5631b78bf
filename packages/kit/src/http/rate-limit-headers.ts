import type { ApiError } from '../errors.ts'
import { requestError } from './errors.ts'

/** The state of a limit after a request, as `rate-limit.ts` decides it. */
export interface RateLimitState {
  limit: { limit: number }
  remaining: number
  /** Until the limit is full again. */
  resetSeconds: number
  /** Until the next request is admitted; 0 if this one was. */
  retryAfterSeconds: number
}

/** The headers that tell a client how to stay within a limit, and when to retry. */
export function rateLimitHeaders(state: RateLimitState): Record<string, string> {
  const { limit, remaining, resetSeconds, retryAfterSeconds } = state
  return {
    'ratelimit-limit': String(limit.limit),
    'ratelimit-remaining': String(Math.max(0, Math.floor(remaining))),
    'ratelimit-reset': String(wholeSeconds(resetSeconds)),
    ...(retryAfterSeconds > 0 ? { 'retry-after': String(wholeSeconds(retryAfterSeconds)) } : {}),
  }
}

export function rateLimited(state: RateLimitState): ApiError {
  // At least one second: with 0, clients retry immediately.
  const retryAfterSeconds = Math.max(1, state.retryAfterSeconds)
  return requestError('rate_limited', {
    headers: rateLimitHeaders({ ...state, retryAfterSeconds }),
  })
}

/** Rounded up: a client that retries early is refused again. */
function wholeSeconds(value: number): number {
  return Math.max(0, Math.ceil(value))
}

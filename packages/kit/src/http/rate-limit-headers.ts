import type { ApiError } from '../errors.ts'
import { requestError } from './errors.ts'

/** How a limit stands after a request; the decisions of `rate-limit.ts` are such. */
export interface RateLimitState {
  limit: { limit: number }
  remaining: number
  /** When the limit is full again, from now. */
  resetSeconds: number
  /** When the next request is admitted, from now; 0 if this one was. */
  retryAfterSeconds: number
}

/** The headers that tell a client how to stay within a limit, and after a refusal when to come back. */
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
  // At least one second: a client that is told 0 asks again at once.
  const retryAfterSeconds = Math.max(1, state.retryAfterSeconds)
  return requestError('rate_limited', {
    headers: rateLimitHeaders({ ...state, retryAfterSeconds }),
  })
}

/** Rounded up, because a client that comes early is refused again. */
function wholeSeconds(value: number): number {
  return Math.max(0, Math.ceil(value))
}

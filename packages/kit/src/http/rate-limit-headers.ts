import type { ApiError } from '../errors.ts'
import { requestError } from './errors.ts'

/** How a limit stands after a request was counted. */
export interface RateLimitState {
  limit: number
  remaining: number
  /** When the limit is full again, from now. */
  resetSeconds: number
}

/** The headers that tell a client how to stay within a limit. */
export function rateLimitHeaders({
  limit,
  remaining,
  resetSeconds,
}: RateLimitState): Record<string, string> {
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(Math.max(0, Math.floor(remaining))),
    'ratelimit-reset': String(seconds(resetSeconds)),
  }
}

/** The headers of a 429; `retrySeconds` where trying again makes sense before the limit is full again. */
export function retryHeaders(
  state: RateLimitState,
  retrySeconds = state.resetSeconds,
): Record<string, string> {
  // At least one: a client told 0 asks again at once.
  return { ...rateLimitHeaders(state), 'retry-after': String(Math.max(1, seconds(retrySeconds))) }
}

export function rateLimited(state: RateLimitState, retrySeconds?: number): ApiError {
  return requestError('rate_limited', { headers: retryHeaders(state, retrySeconds) })
}

/** Rounded up, because a client that comes early is refused again. */
function seconds(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.ceil(value)) : 0
}

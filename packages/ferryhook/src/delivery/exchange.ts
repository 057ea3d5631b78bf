/** One request to a destination and what came back, as it is kept and as it is judged. */
import type { Clock } from '@strongroom/kit/clock'
import type { SafeFetch, SafeFetchRequest } from '@strongroom/kit/safe-fetch'
import { SafeFetchError, type SafeFetchReason } from '@strongroom/kit/safe-fetch/error'
import type { AttemptResult } from '../db/attempts.ts'
import { longestText } from '../items/delivery.ts'
import { retryAfter } from './retry-schedule.ts'

/** How an attempt ended: as an HTTP status, or why there was none. */
export type AttemptEnd =
  | 'delivered'
  | 'http_error'
  | 'gone'
  | SafeFetchReason
  | 'transform'
  | 'signing'

export interface Exchange {
  attempt: AttemptResult
  end: AttemptEnd
  /** How long the destination asked us to wait. */
  retryAfterMs?: number | undefined
  /** Whether another attempt is known to end like this one. */
  isFinal?: boolean | undefined
}

/** A character has four bytes at most. */
const KEPT_BYTES = longestText * 4

export async function exchange(
  { fetcher, clock }: { fetcher: SafeFetch; clock: Clock },
  destinationUrl: string,
  request: SafeFetchRequest,
): Promise<Exchange> {
  const attemptedAt = clock.now()
  const made = (statusCode: number) => ({
    destinationUrl,
    statusCode,
    latencyMs: Math.max(0, clock.now() - attemptedAt),
    attemptedAt,
  })
  try {
    const { status, headers, body } = await fetcher(destinationUrl, request)
    const text = new TextDecoder().decode(body.subarray(0, KEPT_BYTES))
    return {
      attempt: { ...made(status), responseBody: text },
      end: endOf(status),
      retryAfterMs: retryAfter(headers['retry-after'], clock.now()),
    }
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error
    return { attempt: { ...made(0), error: error.message }, end: error.reason }
  }
}

/** A redirect is not followed, and so is no success. */
function endOf(status: number): AttemptEnd {
  if (status >= 200 && status < 300) return 'delivered'
  return status === 410 ? 'gone' : 'http_error'
}

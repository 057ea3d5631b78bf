/** The retry schedule of a connection: when to attempt a delivery again. */

/** Seconds before each attempt. The last of eight is 41 hours and 17 minutes after the first. */
export const defaultSchedule: readonly number[] = [0, 30, 120, 900, 3_600, 14_400, 43_200, 86_400]

/** Delays vary by a fifth, so that deliveries that failed together are not retried together. */
const JITTER = 0.2

/** A longer Retry-After is shortened to this. */
const MAX_RETRY_AFTER_MS = 86_400_000

/** The schedule of a connection, stored as JSON, or the default. */
export function retryScheduleOf({ retryConfig }: { retryConfig?: string | undefined }) {
  return retryConfig === undefined ? defaultSchedule : (JSON.parse(retryConfig) as number[])
}

/**
 * Milliseconds until the attempt after this number; undefined if it was the last. At least the
 * scheduled time, and at least the Retry-After of the destination, up to a day.
 */
export function retryDelay(
  schedule: readonly number[],
  attemptNumber: number,
  { random, retryAfterMs = 0 }: { random: () => number; retryAfterMs?: number | undefined },
): number | undefined {
  const seconds = schedule[attemptNumber]
  if (seconds === undefined) return undefined
  const scheduled = seconds * 1000 * (1 - JITTER + 2 * JITTER * random())
  return Math.round(Math.max(scheduled, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)))
}

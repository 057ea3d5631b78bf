/** When a failed delivery is attempted again. */

/** Seconds before each attempt; the last of eight comes 41 hours and 17 minutes after the first. */
export const defaultSchedule: readonly number[] = [0, 30, 120, 900, 3_600, 14_400, 43_200, 86_400]

/** A delay is up to a fifth shorter or longer, so that what failed together does not return together. */
const JITTER = 0.2

/** A destination that asks for more time gets it, but the next attempt is a day away at most. */
const LONGEST_RETRY_AFTER_MS = 86_400_000

/** The schedule of a connection: its own, stored as JSON, or the usual one. */
export function scheduleOf({ retryConfig }: { retryConfig?: string | undefined }) {
  return retryConfig === undefined ? defaultSchedule : (JSON.parse(retryConfig) as number[])
}

/**
 * Milliseconds until the attempt after the one with this number; undefined if that was the last.
 * Never sooner than the destination asked for, up to a day, and never sooner than the schedule.
 */
export function retryDelay(
  schedule: readonly number[],
  attemptNumber: number,
  { random, retryAfterMs = 0 }: { random: () => number; retryAfterMs?: number | undefined },
): number | undefined {
  const seconds = schedule[attemptNumber]
  if (seconds === undefined) return undefined
  const scheduled = seconds * 1000 * (1 - JITTER + 2 * JITTER * random())
  return Math.round(Math.max(scheduled, Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)))
}

/** How long a destination asks us to wait: seconds, or a date (RFC 9110 section 10.2.3). */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000
  // `Date.parse` takes much more for a date than HTTP does.
  if (!/^[A-Z][a-z]{2,8}[, ]/.test(text)) return undefined
  const at = Date.parse(/(?:GMT|[+-]\d{4})$/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

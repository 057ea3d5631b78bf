/** Classifies the result of an attempt, and schedules the next one. */
import type { AttemptOutcome } from '../deliveries/settlement.ts'
import type { LeasedTask } from '../queue/tasks.ts'
import type { SendOutcome, SendResult } from '../outbound/exchange.ts'
import type { AttemptSignal } from './destination-queue.ts'

/** Another attempt would fail in the same way until the connection is changed. */
const permanentFailures: ReadonlySet<SendOutcome> = new Set([
  'blocked_address',
  'invalid_url',
  'invalid_request',
])

/** Failures that the destination did not cause. */
const localFailures: ReadonlySet<SendOutcome> = new Set([
  ...permanentFailures,
  'transform',
  'signing',
  'aborted',
])

export function outcomeOf(
  { attempt, end, retryAfterMs, isFinal = permanentFailures.has(end) }: SendResult,
  { attemptNumber }: Pick<LeasedTask, 'attemptNumber'>,
  { schedule, now, random }: { schedule: readonly number[]; now: number; random: () => number },
): AttemptOutcome {
  if (end === 'delivered') return { state: 'delivered', attempt }
  if (isFinal) return { state: 'failed', attempt, reason: end }
  const delay = retryDelay(schedule, attemptNumber, { random, retryAfterMs })
  if (delay === undefined) return { state: 'failed', attempt, reason: 'exhausted' }
  const reason = end === 'http_error' ? `http_${attempt.statusCode}` : end
  // After 410 the connection is paused, or has another URL by now: due now, the retry is held or sent there.
  return { state: 'retrying', attempt, nextAt: end === 'gone' ? now : now + delay, reason }
}

/** Any response shows that the destination is up, except 429 and 5xx. */
export function breakerResult({ attempt: { statusCode }, end }: SendResult): AttemptSignal {
  if (localFailures.has(end)) return 'unknown'
  if (end === 'delivered' || end === 'gone') return 'ok'
  return statusCode === 0 || statusCode === 429 || statusCode >= 500 ? 'failed' : 'ok'
}

/** Undefined if the result says nothing about the health of the destination. */
export function healthResult({ end }: SendResult): 'delivered' | 'failed' | undefined {
  if (end === 'delivered') return 'delivered'
  return localFailures.has(end) ? undefined : 'failed'
}

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

/** Classifies the result of an attempt: what is written, and what it says about the destination. */
import type { AttemptOutcome } from '../deliveries/settlement.ts'
import type { LeasedTask } from '../queue/tasks.ts'
import { permanentFailures, type SendOutcome, type SendResult } from '../outbound/exchange.ts'
import type { AttemptSignal } from './destination-queue.ts'
import { retryDelay } from './retry-schedule.ts'

/** Failures that the destination did not cause. */
const localFailures: ReadonlySet<SendOutcome> = new Set([
  ...permanentFailures,
  'transform',
  'signing',
  'aborted',
])

export function outcomeOf(
  { attempt: result, end, retryAfterMs, isFinal = permanentFailures.has(end) }: SendResult,
  { attemptNumber }: Pick<LeasedTask, 'attemptNumber'>,
  { schedule, now, random }: { schedule: readonly number[]; now: number; random: () => number },
): AttemptOutcome {
  // The schedule may have been shortened since the earlier attempts.
  const maxAttempts = Math.max(schedule.length, attemptNumber)
  const attempt = { ...result, end, maxAttempts }
  if (end === 'delivered') return { state: 'delivered', attempt }
  if (isFinal) return { state: 'failed', attempt, reason: end }
  const delay = retryDelay(schedule, attemptNumber, { random, retryAfterMs })
  if (delay === undefined) return { state: 'failed', attempt, reason: 'exhausted' }
  const reason = end === 'http_error' ? `http_${attempt.statusCode}` : end
  // After 410 the connection is paused or has a new URL, so a retry that is due now is held or sent there.
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

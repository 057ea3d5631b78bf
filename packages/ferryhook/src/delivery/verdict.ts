/** What follows from how an attempt ended. */
import type { Outcome } from '../db/settling.ts'
import type { LeasedTask } from '../items/task.ts'
import type { AttemptEnd, Exchange } from './exchange.ts'
import type { LaneEnd } from './lane.ts'
import { retryDelay } from './retry-schedule.ts'

/** Another attempt would end like this one, until somebody changes the connection. */
const final: ReadonlySet<AttemptEnd> = new Set([
  'blocked_address',
  'invalid_url',
  'invalid_request',
])

/** Not the destination's doing. */
const ourOwn: ReadonlySet<AttemptEnd> = new Set([...final, 'transform', 'signing', 'aborted'])

export function outcomeOf(
  { attempt, end, retryAfterMs, isFinal = final.has(end) }: Exchange,
  { attemptNumber }: Pick<LeasedTask, 'attemptNumber'>,
  { schedule, now, random }: { schedule: readonly number[]; now: number; random: () => number },
): Outcome {
  if (end === 'delivered') return { state: 'delivered', attempt }
  if (isFinal) return { state: 'failed', attempt, reason: end }
  const delay = retryDelay(schedule, attemptNumber, { random, retryAfterMs })
  if (delay === undefined) return { state: 'failed', attempt, reason: 'exhausted' }
  const reason = end === 'http_error' ? `http_${attempt.statusCode}` : end
  // The connection is paused by now, or leads elsewhere: what is due at once is held, or goes there.
  return { state: 'retrying', attempt, nextAt: end === 'gone' ? now : now + delay, reason }
}

/** Any answer shows that the destination is there, except that it is overloaded or out of order. */
export function laneEndOf({ attempt: { statusCode }, end }: Exchange): LaneEnd {
  if (ourOwn.has(end)) return 'unknown'
  if (end === 'delivered' || end === 'gone') return 'answered'
  return statusCode === 0 || statusCode === 429 || statusCode >= 500 ? 'failed' : 'answered'
}

/** Whether it counts for or against the destination, and which. */
export function healthOf({ end }: Exchange): 'delivered' | 'failed' | undefined {
  if (end === 'delivered') return 'delivered'
  return ourOwn.has(end) ? undefined : 'failed'
}

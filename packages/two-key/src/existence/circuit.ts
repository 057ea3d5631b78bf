/**
 * Leaves Slack alone when it asks for that, and when it does not answer: what it cannot answer now
 * need not be asked, and nobody has to wait for it.
 */
import type { Clock } from '@strongroom/kit/clock'
import { isAhead } from '../lasting.ts'
import { keep } from './knowledge.ts'
import type { SlackMethod } from './slack-api.ts'

/** So many failures in a row, of whatever team and method, mean that Slack is down. */
const FAILURES = 10
/** After so long one call finds out whether it still is. */
const PAUSE_MS = 5_000
/** What a 429 without Retry-After means. */
const DEFAULT_RETRY_SECONDS = 30
/** Nobody is locked out for longer by one answer, whatever it says. */
const LONGEST_RETRY_MS = 3_600_000

export interface Circuit {
  /** Why and for how long a call must wait; undefined if it need not. */
  closedFor(team: string, method: SlackMethod): Wait | undefined
  /** A call is made: while Slack is down it finds out for all others whether it still is. */
  calling(): void
  /** Slack wants no call of this method for this team for so long. */
  rateLimited(team: string, method: SlackMethod, retryAfterSeconds: number | undefined): void
  failed(): void
  answered(): void
}

export interface Wait {
  reason: 'rate_limited' | 'circuit'
  milliseconds: number
}

export function createCircuit(clock: Clock): Circuit {
  const limitedUntil = new Map<string, number>()
  let failures = 0
  let downUntil = 0

  return {
    closedFor(team, method) {
      const now = clock.now()
      const key = `${team} ${method}`
      const until = limitedUntil.get(key)
      if (until !== undefined) {
        if (isAhead(until, now, LONGEST_RETRY_MS))
          return { reason: 'rate_limited', milliseconds: until - now }
        limitedUntil.delete(key)
      }
      if (failures < FAILURES) return undefined
      if (isAhead(downUntil, now, PAUSE_MS))
        return { reason: 'circuit', milliseconds: downUntil - now }
      return undefined
    },

    calling() {
      // The others go on waiting.
      if (failures >= FAILURES) downUntil = clock.now() + PAUSE_MS
    },

    rateLimited(team, method, seconds = DEFAULT_RETRY_SECONDS) {
      const until = clock.now() + Math.min(1000 * seconds, LONGEST_RETRY_MS)
      keep(limitedUntil, `${team} ${method}`, until)
    },

    failed() {
      failures += 1
      if (failures >= FAILURES) downUntil = clock.now() + PAUSE_MS
    },

    answered() {
      failures = 0
    },
  }
}

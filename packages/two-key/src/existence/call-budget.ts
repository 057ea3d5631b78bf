/**
 * Limits calls to Slack for each team and method: at most a share of Slack's own limit in any
 * minute, and none until a Retry-After has passed. Half of the calls are reserved for ids that
 * were verified in the last day, so that a flood of invented ids cannot lock out real users.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { LRUCache } from 'lru-cache'
import type { SlackMethod } from './slack-api.ts'

/** Calls per minute that Slack promises to each app in each workspace. */
const CALLS_PER_MINUTE: Readonly<Record<SlackMethod, number>> = {
  // Slack publishes no limit for it; the real one is far higher.
  'auth.test': 100,
  'team.info': 50,
  'users.info': 100,
  'bots.info': 50,
  'conversations.info': 50,
}

const DEFAULT_SHARE = 0.8
const WINDOW_MS = 60_000
/** For a 429 without Retry-After. */
const DEFAULT_RETRY_AFTER_SECONDS = 30
/** The maximum of a Retry-After that is obeyed. */
const MAX_RETRY_AFTER_MS = 3_600_000
const MAX_ENTRIES = 10_000

export interface CallBudget {
  /**
   * Milliseconds until a call may be made; 0 if it may be made now, and then it counts. Known ids use
   * their reserved half first, and the shared half once that is empty.
   */
  take(team: string, method: SlackMethod, options: { isKnown: boolean }): number
  /** Slack sent a 429 with this Retry-After. */
  setRetryAfter(team: string, method: SlackMethod, seconds: number | undefined): void
  /** Milliseconds until the Retry-After has passed; 0 without one. */
  retryAfterMs(team: string, method: SlackMethod): number
}

export function createCallBudget({
  clock,
  share = DEFAULT_SHARE,
}: {
  clock: Clock
  share?: number | undefined
}): CallBudget {
  if (!(typeof share === 'number' && share > 0 && share <= 1))
    throw new RangeError('slackShare must be greater than 0 and at most 1.')
  const budgets = new LRUCache<string, { reserved: CallWindow; shared: CallWindow }>({
    max: MAX_ENTRIES,
  })
  const retryAfters = new LRUCache<string, { since: number; ms: number }>({ max: MAX_ENTRIES })

  return {
    take(team, method, { isKnown }) {
      const key = `${team} ${method}`
      let budget = budgets.get(key)
      if (!budget) {
        const size = Math.max(1, Math.floor((CALLS_PER_MINUTE[method] * share) / 2))
        budget = { reserved: createCallWindow(size), shared: createCallWindow(size) }
        budgets.set(key, budget)
      }
      const now = clock.now()
      if (!isKnown) return budget.shared.take(now)
      const waitMs = budget.reserved.take(now)
      return waitMs === 0 ? 0 : Math.min(waitMs, budget.shared.take(now))
    },

    setRetryAfter(team, method, seconds = DEFAULT_RETRY_AFTER_SECONDS) {
      const ms = Math.min(1000 * seconds, MAX_RETRY_AFTER_MS)
      retryAfters.set(`${team} ${method}`, { since: clock.now(), ms })
    },

    retryAfterMs(team, method) {
      const key = `${team} ${method}`
      const retryAfter = retryAfters.get(key)
      if (!retryAfter) return 0
      const { since, ms } = retryAfter
      if (isRecent(clock, since, ms)) return since + ms - clock.now()
      retryAfters.delete(key)
      return 0
    },
  }
}

interface CallWindow {
  take(now: number): number
}

/** The times of the last calls in a ring: another may be made when the oldest is a minute old. */
function createCallWindow(size: number): CallWindow {
  const calls = new Float64Array(size).fill(-Infinity)
  let next = 0
  return {
    take(now) {
      // After the clock was set back, calls in the future count as made now.
      if ((calls[next] ?? 0) > now) calls.set(calls.map((time) => Math.min(time, now)))
      const waitMs = (calls[next] ?? 0) + WINDOW_MS - now
      if (waitMs > 0) return waitMs
      calls[next] = now
      next = (next + 1) % size
      return 0
    },
  }
}

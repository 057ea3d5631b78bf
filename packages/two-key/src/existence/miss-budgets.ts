/**
 * How often Slack may be asked, for each team and method: never more in any minute than a share of
 * what Slack allows. Half of it is kept for ids that were verified in the last day, so that a flood
 * of invented ones cannot lock out those who are real.
 */
import type { Clock } from '@strongroom/kit/clock'
import { keep } from './knowledge.ts'
import type { SlackMethod } from './slack-api.ts'

/** Calls a minute that Slack promises for each workspace and app. */
const PER_MINUTE: Readonly<Record<SlackMethod, number>> = {
  // Its limit is not published and far above this.
  'auth.test': 100,
  'team.info': 50,
  'users.info': 100,
  'bots.info': 50,
  'conversations.info': 50,
}

export const DEFAULT_SHARE = 0.8
const WINDOW_MS = 60_000

export interface MissBudgets {
  /**
   * Milliseconds until a call may be made: 0 if it may now, and then it counts. Known ids take from
   * the half that is kept for them first, and from the other one if that is empty.
   */
  take(team: string, method: SlackMethod, options: { isKnown: boolean }): number
}

export function createMissBudgets({
  clock,
  share = DEFAULT_SHARE,
}: {
  clock: Clock
  share?: number | undefined
}): MissBudgets {
  if (!(typeof share === 'number' && share > 0 && share <= 1))
    throw new RangeError('The share of Slack’s limits must be more than 0 and at most 1')
  const halves = new Map<string, { kept: Window; open: Window }>()

  return {
    take(team, method, { isKnown }) {
      const key = `${team} ${method}`
      let found = halves.get(key)
      if (!found) {
        const size = Math.max(1, Math.floor((PER_MINUTE[method] * share) / 2))
        found = { kept: createWindow(size), open: createWindow(size) }
        // A token that replaces another, as some do twice a day, has a budget of its own.
        keep(halves, key, found)
      }
      const now = clock.now()
      const wait = isKnown ? found.kept.take(now) : found.open.take(now)
      if (wait === 0 || !isKnown) return wait
      return Math.min(wait, found.open.take(now))
    },
  }
}

interface Window {
  take(now: number): number
}

/** The times of the last calls in a ring: the next one may be made when the oldest is a minute ago. */
function createWindow(size: number): Window {
  const calls = new Float64Array(size).fill(-Infinity)
  let next = 0
  return {
    take(now) {
      // If the clock was set back, the calls that are still to come were made just now.
      if ((calls[next] ?? 0) > now) calls.set(calls.map((time) => Math.min(time, now)))
      const wait = (calls[next] ?? 0) + WINDOW_MS - now
      if (wait > 0) return wait
      calls[next] = now
      next = (next + 1) % size
      return 0
    },
  }
}

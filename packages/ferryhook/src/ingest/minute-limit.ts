/**
 * How many events of a source a process takes in a minute. Counted in memory: a stored counter would
 * be a write beside every event, and one item that all events of a busy source wait for. With several
 * machines each takes as many.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { RateLimitState } from '@strongroom/kit/http/rate-limit-headers'
import {
  allowance,
  type Cells,
  emptyCells,
  rolled,
  secondsUntilAdmitted,
} from '@strongroom/kit/sliding-window'

const MINUTE_SECONDS = 60
const MOST_SOURCES = 20_000

export function createMinuteLimit(clock: Clock) {
  const windows = new Map<string, Cells>()

  return {
    /** Undefined if the event was counted; otherwise when to come back. */
    take(sourceId: string, limit: number): RateLimitState | undefined {
      if (limit === Number.POSITIVE_INFINITY) return undefined
      const now = clock.now()
      const rate = { name: 'minute', limit, windowSeconds: MINUTE_SECONDS }
      const cells = rolled(windows.get(sourceId) ?? emptyCells, rate, now)
      if (cells.current < allowance(cells, rate, now)) {
        if (windows.size >= MOST_SOURCES) windows.clear()
        windows.set(sourceId, { ...cells, current: cells.current + 1 })
        return undefined
      }
      return {
        limit: rate,
        remaining: 0,
        resetSeconds: cells.window + MINUTE_SECONDS - now / 1000,
        retryAfterSeconds: secondsUntilAdmitted(cells, rate, now),
      }
    },

    /** For an event that was counted and then not stored. */
    giveBack(sourceId: string): void {
      const cells = windows.get(sourceId)
      if (cells && cells.current > 0)
        windows.set(sourceId, { ...cells, current: cells.current - 1 })
    },
  }
}

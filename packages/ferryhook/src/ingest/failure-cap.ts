/**
 * How many events with a wrong signature are kept of a source in an hour: enough to see what is wrong,
 * and not what anybody who knows the address cares to send.
 */
import type { Clock } from '@strongroom/kit/clock'
import { HOUR_MS } from '../db/tallies.ts'

const MOST_EVENTS = 60
const MOST_BYTES = 2_097_152

export function createFailureCap(clock: Clock) {
  let hour = 0
  let kept = new Map<string, { events: number; bytes: number }>()

  return {
    /** Whether one more is kept; counts it then. */
    admits(sourceId: string, bytes: number): boolean {
      const now = Math.floor(clock.now() / HOUR_MS)
      if (now !== hour) {
        hour = now
        kept = new Map()
      }
      const before = kept.get(sourceId) ?? { events: 0, bytes: 0 }
      if (before.events >= MOST_EVENTS || before.bytes + bytes > MOST_BYTES) return false
      kept.set(sourceId, { events: before.events + 1, bytes: before.bytes + bytes })
      return true
    },
  }
}

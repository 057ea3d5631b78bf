/** How many events the plan of an owner takes in a calendar month, in UTC. */
import type { Clock } from '@strongroom/kit/clock'
import { monthAfter, monthOf } from '../db/times.ts'
import type { EventLimits } from './event-limits.ts'
import type { KnownSource } from './known-source.ts'

export type MonthDecision =
  /** `quota` is to be counted with the event, and may turn out to be used up. */
  | { admitted: true; isBeyond: boolean; quota: { month: string; limit: number } | undefined }
  | { admitted: false }

export function createMonthLimit(clock: Clock) {
  let month = ''
  let [begin, end] = [0, 0]

  function current(): string {
    const now = clock.now()
    if (now < begin || now >= end) {
      month = monthOf(now)
      begin = Date.parse(month)
      end = monthAfter(now)
    }
    return month
  }

  return {
    decide({ usage, fullMonth }: KnownSource, limits: EventLimits): MonthDecision {
      const { eventsPerMonth: limit, refusesBeyondMonth } = limits
      const name = current()
      const isBeyond = usage.month === name && usage.events >= limit
      if (!refusesBeyondMonth) return { admitted: true, isBeyond, quota: undefined }
      if (isBeyond || fullMonth === name) return { admitted: false }
      return { admitted: true, isBeyond, quota: { month: name, limit } }
    },

    /** What the store has found to be used up need not be asked again. */
    noteFull(known: KnownSource): void {
      known.fullMonth = current()
    },

    secondsLeft: (): number =>
      Math.max(1, Math.ceil((monthAfter(clock.now()) - clock.now()) / 1000)),
  }
}

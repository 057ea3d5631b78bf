/** Limits on how many events are accepted. */
import type { Clock } from '@strongroom/platform/clock'
import type { RateLimitState } from '@strongroom/kit/http/rate-limit-headers'
import {
  allowance,
  type Cells,
  emptyCells,
  rollCells,
  secondsUntilAdmitted,
} from '@strongroom/kit/sliding-window'
import { type Plan, type PlanLimits, planLimits } from '../plans.ts'
import type { FerryhookSettings } from '../settings.ts'
import { HOUR_MS, monthStart, nextMonthStart } from '../storage/time.ts'
import type { CachedSource } from './source-cache.ts'

export type EventLimits = Pick<
  PlanLimits,
  'eventsPerMinute' | 'eventsPerMonth' | 'refusesBeyondMonth'
>

const unlimited: EventLimits = {
  eventsPerMinute: Number.POSITIVE_INFINITY,
  eventsPerMonth: Number.POSITIVE_INFINITY,
  refusesBeyondMonth: false,
}

export function eventLimits({
  FERRYHOOK_EVENT_LIMITS: areLimited,
}: Pick<FerryhookSettings, 'FERRYHOOK_EVENT_LIMITS'>): Readonly<Record<Plan, EventLimits>> {
  if (areLimited) return planLimits
  return { free: unlimited, starter: unlimited, pro: unlimited, team: unlimited }
}

const MINUTE_SECONDS = 60
const MAX_COUNTED_SOURCES = 20_000

/**
 * Limits the events of a source in a minute. Counts are in memory, because a stored counter would
 * add a write to every event and a hot item for a busy source. Each process has its own limit.
 */
export function createMinuteLimit(clock: Clock) {
  const windows = new Map<string, Cells>()

  return {
    /** Counts the event and returns undefined, or says when to retry. */
    take(sourceId: string, limit: number): RateLimitState | undefined {
      if (limit === Number.POSITIVE_INFINITY) return undefined
      const now = clock.now()
      const rate = { name: 'minute', limit, windowSeconds: MINUTE_SECONDS }
      const cells = rollCells(windows.get(sourceId) ?? emptyCells, rate, now)
      if (cells.current < allowance(cells, rate, now)) {
        if (windows.size >= MAX_COUNTED_SOURCES) windows.clear()
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

    /** Uncounts an event that was not stored. */
    release(sourceId: string): void {
      const cells = windows.get(sourceId)
      if (cells && cells.current > 0)
        windows.set(sourceId, { ...cells, current: cells.current - 1 })
    },
  }
}

export type MonthDecision =
  /** `quota` is counted in the transaction of the event, which fails if it is used up. */
  | { admitted: true; isBeyond: boolean; quota: { month: string; limit: number } | undefined }
  | { admitted: false }

/** Limits the events of a user in a calendar month (UTC), according to the plan. */
export function createMonthLimit(clock: Clock) {
  let month = ''
  let [begin, end] = [0, 0]

  function current(): string {
    const now = clock.now()
    if (now < begin || now >= end) {
      month = monthStart(now)
      begin = Date.parse(month)
      end = nextMonthStart(now)
    }
    return month
  }

  return {
    decide({ usage, fullMonth }: CachedSource, limits: EventLimits): MonthDecision {
      const { eventsPerMonth: limit, refusesBeyondMonth } = limits
      const name = current()
      const isBeyond = usage.month === name && usage.events >= limit
      if (!refusesBeyondMonth) return { admitted: true, isBeyond, quota: undefined }
      if (isBeyond || fullMonth === name) return { admitted: false }
      return { admitted: true, isBeyond, quota: { month: name, limit } }
    },

    /** Remembers that the quota is used up, so that later events need no transaction. */
    markFull(source: CachedSource): void {
      source.fullMonth = current()
    },

    secondsLeft: (): number =>
      Math.max(1, Math.ceil((nextMonthStart(clock.now()) - clock.now()) / 1000)),
  }
}

const MAX_REJECTED_EVENTS = 60
const MAX_REJECTED_BYTES = 2_097_152

/**
 * Limits how many rejected events, with an invalid signature or in a loop, are stored for a source in
 * an hour: enough to find the cause, but not everything that anyone who knows the address may send.
 */
export function createRejectedCap(clock: Clock) {
  let hour = 0
  let stored = new Map<string, { events: number; bytes: number }>()

  return {
    /** Counts an event and returns true if it may be stored. */
    take(sourceId: string, bytes: number): boolean {
      const now = Math.floor(clock.now() / HOUR_MS)
      if (now !== hour) {
        hour = now
        stored = new Map()
      }
      const before = stored.get(sourceId) ?? { events: 0, bytes: 0 }
      if (before.events >= MAX_REJECTED_EVENTS) return false
      if (before.bytes + bytes > MAX_REJECTED_BYTES) return false
      stored.set(sourceId, { events: before.events + 1, bytes: before.bytes + bytes })
      return true
    },
  }
}

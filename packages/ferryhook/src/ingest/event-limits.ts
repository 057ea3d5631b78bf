/** How many events a plan takes. */
import { type Plan, type PlanLimits, planLimits } from '../plans.ts'
import type { FerryhookSettings } from '../settings.ts'

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

/** How much of their plan a user has used in the running month. */
import type { Clock } from '@strongroom/platform/clock'
import type { Principal } from '../accounts/authentication.ts'
import { type Plan, planLimits, type PlanLimits } from '../plans.ts'
import type { Source } from '../sources/item.ts'
import { monthStart, nextMonthStart } from '../storage/time.ts'
import type { Stores } from '../stores.ts'

export interface Usage {
  plan: Plan
  limits: PlanLimits
  /** Dates in UTC. */
  periodStart: string
  periodEnd: string
  /** Received in the period, but for those that failed verification. */
  events: number
  sources: number
}

/** A worker counts every few minutes; a source that is so far behind has none, or long had no events. */
const BEHIND_MS = 3_600_000
const SOURCES_AT_ONCE = 10
const TRIES = 5

export function createUsageReport(deps: {
  stores: Pick<Stores, 'users' | 'sources' | 'metering'>
  clock: Clock
}) {
  const { stores, clock } = deps

  /** What is not counted yet. */
  async function pending(source: Source): Promise<number> {
    const found = await stores.metering.pending(source)
    const isBehind = clock.now() - (source.countedUntil ?? 0) > BEHIND_MS
    if (found === 0 || !isBehind) return found
    await stores.metering.catchUp(source)
    const { sourceId, userId } = source
    const now = await stores.sources.getOwned(sourceId, userId, { includeDeleted: true })
    return now ? stores.metering.pending(now) : 0
  }

  async function counted(userId: string): Promise<number> {
    const user = await stores.users.getById(userId)
    // The first event of a month begins it; until then the stored figure is of an earlier one.
    return user?.usagePeriodStart === monthStart(clock.now()) ? user.usageThisMonth : 0
  }

  async function eventsOf(sources: readonly Source[]): Promise<number> {
    let events = 0
    for (let at = 0; at < sources.length; at += SOURCES_AT_ONCE) {
      const some = await Promise.all(sources.slice(at, at + SOURCES_AT_ONCE).map(pending))
      events += some.reduce((sum, each) => sum + each, 0)
    }
    return events
  }

  return async ({ user: { userId, plan } }: Principal): Promise<Usage> => {
    let [before, sources, uncounted] = [-1, [] as Source[], 0]
    let events = await counted(userId)
    // A worker that counts concurrently moves events from one figure to the other.
    for (let tries = 0; events !== before && tries < TRIES; tries++) {
      before = events
      sources = await stores.sources.listByUser(userId, { includeDeleted: true })
      uncounted = await eventsOf(sources)
      events = await counted(userId)
    }
    const now = clock.now()
    return {
      plan,
      limits: planLimits[plan],
      periodStart: monthStart(now),
      periodEnd: monthStart(nextMonthStart(now)),
      events: events + uncounted,
      sources: sources.filter(({ status }) => status !== 'deleted').length,
    }
  }
}

export type UsageOf = ReturnType<typeof createUsageReport>

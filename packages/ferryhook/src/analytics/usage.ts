/** How much of their plan a user has used in the running month. */
import type { Clock } from '@strongroom/kit/clock'
import type { Principal } from '../auth/principal.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { monthAfter, monthOf } from '../db/times.ts'
import type { Source } from '../items/source.ts'
import { type Plan, planLimits, type PlanLimits } from '../plans.ts'

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

export function createUsageBook(deps: {
  layer: Pick<DataLayer, 'users' | 'sources' | 'usage'>
  clock: Clock
}) {
  const { layer, clock } = deps

  /** What is not counted yet. */
  async function pending(source: Source): Promise<number> {
    const found = await layer.usage.pending(source)
    const isBehind = clock.now() - (source.countedUntil ?? 0) > BEHIND_MS
    if (found === 0 || !isBehind) return found
    await layer.usage.catchUp(source)
    const { sourceId, userId } = source
    const now = await layer.sources.getOwned(sourceId, userId, { includeDeleted: true })
    return now ? layer.usage.pending(now) : 0
  }

  async function counted(userId: string): Promise<number> {
    const user = await layer.users.getById(userId)
    // The first event of a month begins it; until then the stored figure is of an earlier one.
    return user?.usagePeriodStart === monthOf(clock.now()) ? user.usageThisMonth : 0
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
    // A worker that counts meanwhile moves events from one figure to the other.
    for (let tries = 0; events !== before && tries < TRIES; tries++) {
      before = events
      sources = await layer.sources.listByUser(userId, { includeDeleted: true })
      uncounted = await eventsOf(sources)
      events = await counted(userId)
    }
    const now = clock.now()
    return {
      plan,
      limits: planLimits[plan],
      periodStart: monthOf(now),
      periodEnd: monthOf(monthAfter(now)),
      events: events + uncounted,
      sources: sources.filter(({ status }) => status !== 'deleted').length,
    }
  }
}

export type UsageOf = ReturnType<typeof createUsageBook>

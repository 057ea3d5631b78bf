/**
 * Event counts and usage as people see them: the stored figure up to its watermark, and what was
 * received since. Computed at most every few seconds for each source and user.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import type { User } from '../accounts/users/item.ts'
import type { Source } from '../sources/item.ts'
import { HOUR_MS, monthStart } from '../storage/time.ts'
import type { Stores } from '../stores.ts'
import type { PendingEvents } from './metering.ts'

/** A count that stopped at a limit is a lower bound. */
export type SourceWithFigures = Source & { isLowerBound: boolean }
export type UserWithUsage = User & { usageIsLowerBound: boolean }

type UserUsage = Pick<PendingEvents, 'events' | 'isLowerBound'>

const CACHE_MS = 5_000
const MAX_CACHED = 10_000
const SOURCE_CONCURRENCY = 10

/** Workers count every few minutes. A source this far behind has no worker, or had no events for long. */
const BEHIND_MS = HOUR_MS
const MAX_USAGE_READS = 5

export type Figures = ReturnType<typeof createFigures>

export function createFigures({
  stores,
  clock,
}: {
  stores: Pick<Stores, 'users' | 'sources' | 'metering'>
  clock: Clock
}) {
  const { metering } = stores

  function cached<T extends object>() {
    const entries = new LRUCache<string, { value: Promise<T>; readAt: number }>({ max: MAX_CACHED })
    return (id: string, read: () => Promise<T>): Promise<T> => {
      const found = entries.get(id)
      if (found && isRecent(clock, found.readAt, CACHE_MS)) return found.value
      const entry = { value: read(), readAt: clock.now() }
      entries.set(id, entry)
      // Do not cache a failed read.
      entry.value.catch(() => entries.get(id) === entry && entries.delete(id))
      return entry.value
    }
  }

  const sourceFigures = cached<PendingEvents>()
  const userUsage = cached<UserUsage>()

  /** Together with the stored count, because a worker moves events from one to the other. */
  async function readSource({ sourceId, userId }: Source): Promise<PendingEvents> {
    const stored = await stores.sources.getOwned(sourceId, userId, { includeDeleted: true })
    if (!stored) return { events: 0, isLowerBound: false }
    const {
      events,
      isLowerBound,
      lastEventAt = stored.lastEventAt,
    } = await metering.pending(stored)
    const figures = { events: stored.eventCount + events, isLowerBound }
    return lastEventAt === undefined ? figures : { ...figures, lastEventAt }
  }

  async function source(stored: Source): Promise<SourceWithFigures> {
    const read = () => readSource(stored)
    const { events, isLowerBound, lastEventAt } = await sourceFigures(stored.sourceId, read)
    return {
      ...stored,
      eventCount: events,
      ...(lastEventAt !== undefined && { lastEventAt }),
      isLowerBound,
    }
  }

  /** Events of the month that are not in the user's stored usage yet. */
  async function uncounted(stored: Source): Promise<PendingEvents> {
    const found = await metering.pending(stored, { isOfMonth: true })
    const isBehind = clock.now() - (stored.countedUntil ?? 0) > BEHIND_MS
    if (found.events === 0 || found.isLowerBound || !isBehind) return found
    await metering.catchUp(stored)
    const { sourceId, userId } = stored
    const current = await stores.sources.getOwned(sourceId, userId, { includeDeleted: true })
    if (!current) return { events: 0, isLowerBound: false }
    return metering.pending(current, { isOfMonth: true })
  }

  async function countedEvents(userId: string): Promise<number> {
    const user = await stores.users.getById(userId)
    // The first event of a month resets the count; until then it belongs to an earlier month.
    return user?.usagePeriodStart === monthStart(clock.now()) ? user.usageThisMonth : 0
  }

  async function readUsage(userId: string): Promise<UserUsage> {
    let [before, pending] = [-1, [] as PendingEvents[]]
    let counted = await countedEvents(userId)
    // A worker that counts concurrently moves events from `pending` to `counted`: read again.
    for (let reads = 0; counted !== before && reads < MAX_USAGE_READS; reads++) {
      before = counted
      const sources = await stores.sources.listByUser(userId, { includeDeleted: true })
      pending = await pLimit(SOURCE_CONCURRENCY).map(sources, uncounted)
      counted = await countedEvents(userId)
    }
    return {
      events: pending.reduce((sum, { events }) => sum + events, counted),
      isLowerBound: pending.some(({ isLowerBound }) => isLowerBound),
    }
  }

  const usage = (userId: string): Promise<UserUsage> => userUsage(userId, () => readUsage(userId))

  return {
    source,

    sources: (stored: readonly Source[]): Promise<SourceWithFigures[]> =>
      pLimit(SOURCE_CONCURRENCY).map(stored, source),

    /** In the current month. */
    usage,

    async user(stored: User): Promise<UserWithUsage> {
      const { events, isLowerBound } = await usage(stored.userId)
      return {
        ...stored,
        usageThisMonth: events,
        usagePeriodStart: monthStart(clock.now()),
        usageIsLowerBound: isLowerBound,
      }
    },
  }
}

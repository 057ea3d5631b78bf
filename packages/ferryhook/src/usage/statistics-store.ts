/**
 * Statistics of events by the hour of their receipt, summed up by day. A finished hour is always
 * counted from all its stored events, so repeated or concurrent counting gives the same result. While
 * some of its events are pending, it is counted again periodically.
 */
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { transact } from '@strongroom/kit/transact'
import { expr } from '@strongroom/kit/expression'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import type { Event } from '../events/item.ts'
import {
  type Rollup,
  RollupItem,
  rollupKey,
  type RollupWatermark,
  RollupWatermarkItem,
  rollupWatermarkKey,
} from './item.ts'
import { eventsTable } from '../tables.ts'
import { absent } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import type { EventCounter } from './event-counts.ts'
import {
  mergeStatistics,
  emptyStatistics,
  pendingEvents,
  type StoredStatistics,
} from './event-counts.ts'
import type { TaskQueue } from '../queue/store.ts'
import { DAY_MS, HOUR_MS, isUnexpired } from '../storage/time.ts'

/** No event is stored later than this after its receipt, see `COMMIT_DEADLINE_MS`. */
export const SETTLED_AFTER_MS = 120_000

/** When an hour is counted again after its end; from then on daily. */
const RECOUNT_AFTER_MS = [2 * HOUR_MS, 6 * HOUR_MS]

/** Most replayed deliveries have finished by then. */
const RECOUNT_AFTER_REPLAY_MS = 600_000

/** Events received up to this long ago may be newer than the last count. */
const LATE_EVENT_MS = 600_000

/** Most events of a replay are of the same hour, so its recount is scheduled once in this time. */
const SCHEDULED_CACHE_MS = 60_000
const MAX_CACHED_SCHEDULES = 10_000

/** Longer than the thirty days that the API shows. */
const RETENTION_MS = 40 * DAY_MS

export function createStatisticsStore({
  db,
  clock,
  queue,
  eventCounts,
}: Pick<StoreDeps, 'db' | 'clock'> & {
  queue: Pick<TaskQueue, 'putMetering'>
  eventCounts: EventCounter
}) {
  const rollups = entity(db, eventsTable, RollupItem)
  const watermarks = entity(db, eventsTable, RollupWatermarkItem)
  const scheduled = new Map<string, number>()

  /** Rollups that start in a range, without its end, oldest first. */
  async function list(
    sourceId: string,
    span: Rollup['span'],
    { from, until }: { from: number; until: number },
  ): Promise<Rollup[]> {
    const { PK, SK: first } = rollupKey.of({ sourceId, span, startsAt: from })
    const { SK: last } = rollupKey.of({ sourceId, span, startsAt: until - 1 })
    const [partition, sort] = [rollups.attr('PK'), rollups.attr('SK')]
    const key = expr`${partition} = ${PK} AND ${sort} BETWEEN ${first} AND ${last}`
    return (await rollups.query({ key })).items.filter((rollup) => isUnexpired(clock, rollup))
  }

  const getWatermark = (sourceId: string) => watermarks.get(rollupWatermarkKey.of({ sourceId }))

  async function countHour(sourceId: string, hour: number): Promise<RollupWatermark> {
    const end = hour + HOUR_MS
    const { statistics, firstExpiry } = await eventCounts.count({
      sourceId,
      from: hour,
      until: end,
    })
    const countableUntil = firstExpiry === undefined ? undefined : firstExpiry * 1000
    const day = Math.floor(hour / DAY_MS) * DAY_MS
    return retryOnConflict(async () => {
      const watermark = await getWatermark(sourceId)
      const hours = await list(sourceId, 'hour', { from: day, until: day + DAY_MS })
      const before = hours.find(({ startsAt }) => startsAt === hour)
      // Some events have expired since, so the earlier count is more accurate.
      const isLate = before !== undefined && (before.countableUntil ?? Infinity) <= clock.now()
      const counted = isLate ? before : statistics
      const sum = emptyStatistics()
      for (const each of [counted, ...hours.filter((other) => other !== before)]) {
        mergeStatistics(sum, each)
      }
      const isOpen = !isLate && pendingEvents(statistics) > 0
      const again = isOpen ? nextRecount(end, countableUntil) : undefined
      const after = advanceWatermark(watermark, { sourceId, hour, again })
      await transact(db, [
        watermarks.part.put(after, unchanged(watermark)),
        rollups.part.put(newRollup(sourceId, 'day', day, sum)),
        ...(isLate
          ? []
          : [
              rollups.part.put({
                ...newRollup(sourceId, 'hour', hour, statistics),
                ...(countableUntil !== undefined && { countableUntil }),
              }),
            ]),
      ])
      return after
    })
  }

  /** Every write includes the watermark and requires that it is unchanged. */
  function unchanged(watermark: RollupWatermark | undefined) {
    return watermark ? expr`${watermarks.attr('rev')} = ${watermark.rev}` : absent
  }

  function nextRecount(end: number, countableUntil = 0): number | undefined {
    const now = clock.now()
    const soon = RECOUNT_AFTER_MS.map((after) => end + after).find((at) => at > now)
    const at = soon ?? end + Math.ceil((now + 1 - end) / DAY_MS) * DAY_MS
    return at < countableUntil ? at : undefined
  }

  /**
   * A clock that was ahead may have counted an hour that is not over. Such an hour is counted again
   * after its end, and so is the one before if it has just ended.
   */
  async function withRunningHours(watermark: RollupWatermark): Promise<RollupWatermark> {
    const now = clock.now()
    const hourOf = (at: number) => Math.floor(at / HOUR_MS) * HOUR_MS
    if (watermark.countedUntil <= hourOf(now)) return watermark
    const endOf = (hour: number) => hour + HOUR_MS + SETTLED_AFTER_MS
    const counted = [hourOf(now - LATE_EVENT_MS), hourOf(now)]
    const early = counted.filter((hour) => (watermark.again[hour] ?? Infinity) > endOf(hour))
    if (early.length === 0) return watermark
    const recounts = Object.fromEntries(early.map((hour) => [hour, endOf(hour)]))
    const after = {
      ...watermark,
      again: { ...watermark.again, ...recounts },
      rev: watermark.rev + 1,
    }
    await transact(db, [watermarks.part.put(after, unchanged(watermark))])
    return after
  }

  return {
    list,

    /** The start of the first hour that is not counted; 0 if none was counted yet. */
    countedUntil: async (sourceId: string): Promise<number> =>
      (await getWatermark(sourceId))?.countedUntil ?? 0,

    /**
     * Counts finished hours, at most `maxHours`, and those due for a recount. Returns when to call it
     * again; undefined if nothing is expected.
     */
    async refresh(sourceId: string, { maxHours = 1_000 } = {}): Promise<number | undefined> {
      const now = clock.now()
      let watermark = await retryOnConflict(async () => {
        const current = await getWatermark(sourceId)
        return current && withRunningHours(current)
      })
      for (const [hour, at] of Object.entries(watermark?.again ?? {})) {
        if (at <= now) watermark = await countHour(sourceId, Number(hour))
      }
      let countableAt: number | undefined
      for (let left = maxHours; left > 0 && countableAt === undefined; left--) {
        const first = await eventCounts.first(sourceId, watermark?.countedUntil ?? 0, now + 1)
        if (first === undefined) break
        const hour = Math.floor(first / HOUR_MS) * HOUR_MS
        const settledAt = hour + HOUR_MS + SETTLED_AFTER_MS
        if (settledAt > now) countableAt = settledAt
        else watermark = await countHour(sourceId, hour)
      }
      const recounts = [
        ...Object.values(watermark?.again ?? {}),
        ...(countableAt ? [countableAt] : []),
      ]
      return recounts.length > 0 ? Math.min(...recounts) : undefined
    },

    /** After a replay: schedules a recount of the event's hour if it was counted. */
    async scheduleRecount(event: Pick<Event, 'sourceId' | 'userId' | 'receivedAt'>): Promise<void> {
      const { sourceId, userId, receivedAt } = event
      const now = clock.now()
      const hour = Math.floor(receivedAt / HOUR_MS) * HOUR_MS
      const name = `${sourceId} ${hour}`
      if ((scheduled.get(name) ?? 0) > now - SCHEDULED_CACHE_MS) return
      const recountAt = now + RECOUNT_AFTER_REPLAY_MS
      const [again, rev] = [watermarks.attr('again', String(hour)), watermarks.attr('rev')]
      const isCounted = expr`${watermarks.attr('countedUntil')} > ${hour}`
      try {
        const change = expr`SET ${again} = ${recountAt} ADD ${rev} ${1}`
        await watermarks.update(rollupWatermarkKey.of({ sourceId }), change, isCounted)
        await queue.putMetering({ sourceId, userId, dueAt: recountAt })
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
      }
      if (scheduled.size >= MAX_CACHED_SCHEDULES) scheduled.clear()
      scheduled.set(name, now)
    },
  }
}

export type StatisticsStore = ReturnType<typeof createStatisticsStore>

function newRollup(
  sourceId: string,
  span: Rollup['span'],
  startsAt: number,
  { events, deliveries, latencies }: StoredStatistics,
): Rollup {
  return {
    ...rollupKey.of({ sourceId, span, startsAt }),
    sourceId,
    span,
    startsAt,
    events,
    deliveries,
    latencies,
    expiresAt: Math.ceil((startsAt + RETENTION_MS) / 1000),
  }
}

function advanceWatermark(
  watermark: RollupWatermark | undefined,
  { sourceId, hour, again }: { sourceId: string; hour: number; again: number | undefined },
): RollupWatermark {
  const others = Object.entries(watermark?.again ?? {}).filter(([each]) => each !== String(hour))
  const countedUntil = Math.max(watermark?.countedUntil ?? 0, hour + HOUR_MS)
  return {
    ...rollupWatermarkKey.of({ sourceId }),
    sourceId,
    countedUntil,
    again: { ...Object.fromEntries(others), ...(again !== undefined && { [hour]: again }) },
    rev: (watermark?.rev ?? 0) + 1,
    expiresAt: Math.ceil((countedUntil + RETENTION_MS) / 1000),
  }
}

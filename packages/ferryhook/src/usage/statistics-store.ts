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
import type { StoreDeps } from '../stores.ts'
import type { EventCounter } from './event-counts.ts'
import {
  mergeStatistics,
  emptyStatistics,
  pendingEvents,
  type StoredStatistics,
} from './event-counts.ts'
import { HOUR_MS } from '../ingest/counter-store.ts'
import type { TaskQueue } from '../queue/store.ts'
import { isUnexpired } from '../storage/time.ts'

export const DAY_MS = 24 * HOUR_MS

/** No event is stored later than this after its receipt, see `COMMIT_DEADLINE_MS`. */
const SETTLED_AFTER_MS = 120_000

/** Recounts after the end of an hour; from then on daily. */
const RECOUNT_AFTER_MS = [2 * HOUR_MS, 6 * HOUR_MS]

/** Most replayed deliveries have ended by then. */
const RECOUNT_AFTER_REPLAY_MS = 600_000

/** Events received up to this long ago may be newer than the last count. */
const LATE_EVENT_MS = 600_000

/** Of a replay of many, most are of the same hour. */
const TOUCHED_FOR_MS = 60_000
const MOST_TOUCHED = 10_000

/** Longer than the thirty days that the API shows. */
const RETENTION_MS = 40 * DAY_MS

export function createStatisticsStore({
  db,
  clock,
  queue,
  eventCounts: scan,
}: Pick<StoreDeps, 'db' | 'clock'> & {
  queue: Pick<TaskQueue, 'putMetering'>
  eventCounts: EventCounter
}) {
  const stats = entity(db, eventsTable, RollupItem)
  const marks = entity(db, eventsTable, RollupWatermarkItem)
  const touched = new Map<string, number>()

  /** Rollups that start in a range, without its end, oldest first. */
  async function list(
    sourceId: string,
    span: Rollup['span'],
    { from, until }: { from: number; until: number },
  ): Promise<Rollup[]> {
    const { PK, SK: first } = rollupKey.of({ sourceId, span, startsAt: from })
    const { SK: last } = rollupKey.of({ sourceId, span, startsAt: until - 1 })
    const [partition, sort] = [stats.attr('PK'), stats.attr('SK')]
    const key = expr`${partition} = ${PK} AND ${sort} BETWEEN ${first} AND ${last}`
    return (await stats.query({ key })).items.filter((stat) => isUnexpired(clock, stat))
  }

  const markOf = (sourceId: string) => marks.get(rollupWatermarkKey.of({ sourceId }))

  async function countHour(sourceId: string, hour: number): Promise<RollupWatermark> {
    const end = hour + HOUR_MS
    const { figures, firstExpiry } = await scan.count({ sourceId, from: hour, until: end })
    const countableUntil = firstExpiry === undefined ? undefined : firstExpiry * 1000
    const day = Math.floor(hour / DAY_MS) * DAY_MS
    return retryOnConflict(async () => {
      const mark = await markOf(sourceId)
      const hours = await list(sourceId, 'hour', { from: day, until: day + DAY_MS })
      const before = hours.find(({ startsAt }) => startsAt === hour)
      // Some events have expired since, so the earlier count is more accurate.
      const isLate = before !== undefined && (before.countableUntil ?? Infinity) <= clock.now()
      const counted = isLate ? before : figures
      const sum = emptyStatistics()
      for (const each of [counted, ...hours.filter((other) => other !== before)]) {
        mergeStatistics(sum, each)
      }
      const isOpen = !isLate && pendingEvents(figures) > 0
      const again = isOpen ? nextLook(end, countableUntil) : undefined
      const after = markAfter(mark, { sourceId, hour, again })
      await transact(db, [
        marks.part.put(after, unchanged(mark)),
        stats.part.put(statOf(sourceId, 'day', day, sum)),
        ...(isLate
          ? []
          : [
              stats.part.put({
                ...statOf(sourceId, 'hour', hour, figures),
                ...(countableUntil !== undefined && { countableUntil }),
              }),
            ]),
      ])
      return after
    })
  }

  /** Every write includes the watermark and requires that it is unchanged. */
  function unchanged(mark: RollupWatermark | undefined) {
    if (!mark) return expr`attribute_not_exists(${marks.attr('PK')})`
    return expr`${marks.attr('rev')} = ${mark.rev}`
  }

  function nextLook(end: number, countableUntil = 0): number | undefined {
    const now = clock.now()
    const soon = RECOUNT_AFTER_MS.map((after) => end + after).find((at) => at > now)
    const at = soon ?? end + Math.ceil((now + 1 - end) / DAY_MS) * DAY_MS
    return at < countableUntil ? at : undefined
  }

  /**
   * A clock that was ahead may have counted an hour that is not over. Such an hour is counted again
   * after its end, and so is the one before if it has just ended.
   */
  async function withRunningHours(mark: RollupWatermark): Promise<RollupWatermark> {
    const now = clock.now()
    const hourOf = (at: number) => Math.floor(at / HOUR_MS) * HOUR_MS
    if (mark.countedUntil <= hourOf(now)) return mark
    const endOf = (hour: number) => hour + HOUR_MS + SETTLED_AFTER_MS
    const counted = [hourOf(now - LATE_EVENT_MS), hourOf(now)]
    const early = counted.filter((hour) => (mark.again[hour] ?? Infinity) > endOf(hour))
    if (early.length === 0) return mark
    const looks = Object.fromEntries(early.map((hour) => [hour, endOf(hour)]))
    const after = { ...mark, again: { ...mark.again, ...looks }, rev: mark.rev + 1 }
    await transact(db, [marks.part.put(after, unchanged(mark))])
    return after
  }

  return {
    list,

    /** The start of the first hour that is not counted; 0 if none was counted yet. */
    countedUntil: async (sourceId: string): Promise<number> =>
      (await markOf(sourceId))?.countedUntil ?? 0,

    /**
     * Counts finished hours, at most `maxHours`, and those due for a recount. Returns when to call it
     * again; undefined if nothing is expected.
     */
    async refresh(sourceId: string, { maxHours = 1_000 } = {}): Promise<number | undefined> {
      const now = clock.now()
      let mark = await retryOnConflict(async () => {
        const known = await markOf(sourceId)
        return known && withRunningHours(known)
      })
      for (const [hour, at] of Object.entries(mark?.again ?? {})) {
        if (at <= now) mark = await countHour(sourceId, Number(hour))
      }
      let countableAt: number | undefined
      for (let left = maxHours; left > 0 && countableAt === undefined; left--) {
        const first = await scan.first(sourceId, mark?.countedUntil ?? 0, now + 1)
        if (first === undefined) break
        const hour = Math.floor(first / HOUR_MS) * HOUR_MS
        const settledAt = hour + HOUR_MS + SETTLED_AFTER_MS
        if (settledAt > now) countableAt = settledAt
        else mark = await countHour(sourceId, hour)
      }
      const looks = [...Object.values(mark?.again ?? {}), ...(countableAt ? [countableAt] : [])]
      return looks.length > 0 ? Math.min(...looks) : undefined
    },

    /** After a replay: schedules a recount of the event's hour if it was counted. */
    async scheduleRecount(event: Pick<Event, 'sourceId' | 'userId' | 'receivedAt'>): Promise<void> {
      const { sourceId, userId, receivedAt } = event
      const now = clock.now()
      const hour = Math.floor(receivedAt / HOUR_MS) * HOUR_MS
      const name = `${sourceId} ${hour}`
      if ((touched.get(name) ?? 0) > now - TOUCHED_FOR_MS) return
      const againAt = now + RECOUNT_AFTER_REPLAY_MS
      const [again, rev] = [marks.attr('again', String(hour)), marks.attr('rev')]
      const isCounted = expr`${marks.attr('countedUntil')} > ${hour}`
      try {
        const change = expr`SET ${again} = ${againAt} ADD ${rev} ${1}`
        await marks.update(rollupWatermarkKey.of({ sourceId }), change, isCounted)
        await queue.putMetering({ sourceId, userId, dueAt: againAt })
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
      }
      if (touched.size >= MOST_TOUCHED) touched.clear()
      touched.set(name, now)
    },
  }
}

export type StatisticsStore = ReturnType<typeof createStatisticsStore>

function statOf(
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

function markAfter(
  mark: RollupWatermark | undefined,
  { sourceId, hour, again }: { sourceId: string; hour: number; again: number | undefined },
): RollupWatermark {
  const others = Object.entries(mark?.again ?? {}).filter(([each]) => each !== String(hour))
  const countedUntil = Math.max(mark?.countedUntil ?? 0, hour + HOUR_MS)
  return {
    ...rollupWatermarkKey.of({ sourceId }),
    sourceId,
    countedUntil,
    again: { ...Object.fromEntries(others), ...(again !== undefined && { [hour]: again }) },
    rev: (mark?.rev ?? 0) + 1,
    expiresAt: Math.ceil((countedUntil + RETENTION_MS) / 1000),
  }
}

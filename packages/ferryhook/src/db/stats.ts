/**
 * What became of events, counted by the hour of their receipt once that is over, and summed up by the
 * day. An hour is counted from the stored events as a whole, so that counting it twice, or by two at
 * once, or again after a crash, gives the same. While events of it are still under way, it is counted
 * again now and then.
 */
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Event } from '../items/event.ts'
import {
  type Stat,
  StatItem,
  statKey,
  type StatMark,
  StatMarkItem,
  statMarkKey,
} from '../items/stat.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps } from './deps.ts'
import type { EventScan } from './event-scan.ts'
import { addFigures, noFigures, openEvents, type StoredFigures } from './figures.ts'
import { HOUR_MS } from './tallies.ts'
import type { TaskWriter } from './task-writer.ts'
import { isLive } from './times.ts'
import { optimistically } from './transaction.ts'

export const DAY_MS = 24 * HOUR_MS

/** No event is stored later than this after its receipt. */
const SETTLED_AFTER_MS = 120_000

/** After the end of an hour; from then on daily. */
const AGAIN_AFTER_MS = [2 * HOUR_MS, 6 * HOUR_MS]

/** What is replayed has most likely come to its end by then. */
const REPLAYED_AFTER_MS = 600_000

/** Events of so long ago may have come since a source was last looked at. */
const LOOKED_AT_MS = 600_000

/** Of a replay of many, most are of the same hour. */
const TOUCHED_FOR_MS = 60_000
const MOST_TOUCHED = 10_000

/** Thirty days are asked for, and the last of them when the next have begun. */
const KEPT_MS = 40 * DAY_MS

export function createStats({
  db,
  clock,
  tasks,
  scan,
}: Pick<DataLayerDeps, 'db' | 'clock'> & {
  tasks: Pick<TaskWriter, 'putCount'>
  scan: EventScan
}) {
  const stats = entity(db, eventsTable, StatItem)
  const marks = entity(db, eventsTable, StatMarkItem)
  const touched = new Map<string, number>()

  /** Those that begin from one time up to before another, oldest first. */
  async function list(
    sourceId: string,
    span: Stat['span'],
    { from, until }: { from: number; until: number },
  ): Promise<Stat[]> {
    const { PK, SK: first } = statKey.of({ sourceId, span, startsAt: from })
    const { SK: last } = statKey.of({ sourceId, span, startsAt: until - 1 })
    const [partition, sort] = [stats.attr('PK'), stats.attr('SK')]
    const key = expr`${partition} = ${PK} AND ${sort} BETWEEN ${first} AND ${last}`
    return (await stats.query({ key })).items.filter((stat) => isLive(clock, stat))
  }

  const markOf = (sourceId: string) => marks.get(statMarkKey.of({ sourceId }))

  async function countHour(sourceId: string, hour: number): Promise<StatMark> {
    const end = hour + HOUR_MS
    const { figures, firstExpiry } = await scan.count({ sourceId, from: hour, until: end })
    const countableUntil = firstExpiry === undefined ? undefined : firstExpiry * 1000
    const day = Math.floor(hour / DAY_MS) * DAY_MS
    return optimistically(async () => {
      const mark = await markOf(sourceId)
      const hours = await list(sourceId, 'hour', { from: day, until: day + DAY_MS })
      const before = hours.find(({ startsAt }) => startsAt === hour)
      // Some have expired meanwhile: what was counted before is the better figure, unless it is nothing.
      const isLate = before !== undefined && (before.countableUntil ?? Infinity) <= clock.now()
      const counted = isLate ? before : figures
      const sum = noFigures()
      for (const each of [counted, ...hours.filter((other) => other !== before)]) {
        addFigures(sum, each)
      }
      const isOpen = !isLate && openEvents(figures) > 0
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

  /** Everything is written together with the mark, and so only by those who saw it as it is. */
  function unchanged(mark: StatMark | undefined) {
    if (!mark) return expr`attribute_not_exists(${marks.attr('PK')})`
    return expr`${marks.attr('rev')} = ${mark.rev}`
  }

  function nextLook(end: number, countableUntil = 0): number | undefined {
    const now = clock.now()
    const soon = AGAIN_AFTER_MS.map((after) => end + after).find((at) => at > now)
    const at = soon ?? end + Math.ceil((now + 1 - end) / DAY_MS) * DAY_MS
    return at < countableUntil ? at : undefined
  }

  /**
   * An hour that is not over was counted by a clock that was ahead: it is counted again when it is.
   * With the one before, if that has only just ended.
   */
  async function withRunningHours(mark: StatMark): Promise<StatMark> {
    const now = clock.now()
    const hourOf = (at: number) => Math.floor(at / HOUR_MS) * HOUR_MS
    if (mark.countedUntil <= hourOf(now)) return mark
    const endOf = (hour: number) => hour + HOUR_MS + SETTLED_AFTER_MS
    const counted = [hourOf(now - LOOKED_AT_MS), hourOf(now)]
    const early = counted.filter((hour) => (mark.again[hour] ?? Infinity) > endOf(hour))
    if (early.length === 0) return mark
    const looks = Object.fromEntries(early.map((hour) => [hour, endOf(hour)]))
    const after = { ...mark, again: { ...mark.again, ...looks }, rev: mark.rev + 1 }
    await transact(db, [marks.part.put(after, unchanged(mark))])
    return after
  }

  return {
    list,

    /** Where the hours begin that are not counted yet; 0 if none is. */
    countedUntil: async (sourceId: string): Promise<number> =>
      (await markOf(sourceId))?.countedUntil ?? 0,

    /**
     * Counts the hours that are over and not counted yet, `mostHours` of them, and those that are to
     * be counted again. Tells when to come back; undefined if nothing is expected any more.
     */
    async refresh(sourceId: string, { mostHours = 1_000 } = {}): Promise<number | undefined> {
      const now = clock.now()
      let mark = await optimistically(async () => {
        const known = await markOf(sourceId)
        return known && withRunningHours(known)
      })
      for (const [hour, at] of Object.entries(mark?.again ?? {})) {
        if (at <= now) mark = await countHour(sourceId, Number(hour))
      }
      let countableAt: number | undefined
      for (let left = mostHours; left > 0 && countableAt === undefined; left--) {
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

    /** An event is replayed: if its hour was counted, it is counted again soon. */
    async touch(event: Pick<Event, 'sourceId' | 'userId' | 'receivedAt'>): Promise<void> {
      const { sourceId, userId, receivedAt } = event
      const now = clock.now()
      const hour = Math.floor(receivedAt / HOUR_MS) * HOUR_MS
      const name = `${sourceId} ${hour}`
      if ((touched.get(name) ?? 0) > now - TOUCHED_FOR_MS) return
      const againAt = now + REPLAYED_AFTER_MS
      const [again, rev] = [marks.attr('again', String(hour)), marks.attr('rev')]
      const isCounted = expr`${marks.attr('countedUntil')} > ${hour}`
      try {
        const change = expr`SET ${again} = ${againAt} ADD ${rev} ${1}`
        await marks.update(statMarkKey.of({ sourceId }), change, isCounted)
        await tasks.putCount({ sourceId, userId, dueAt: againAt })
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
      }
      if (touched.size >= MOST_TOUCHED) touched.clear()
      touched.set(name, now)
    },
  }
}

export type Stats = ReturnType<typeof createStats>

function statOf(
  sourceId: string,
  span: Stat['span'],
  startsAt: number,
  { events, deliveries, latencies }: StoredFigures,
): Stat {
  return {
    ...statKey.of({ sourceId, span, startsAt }),
    sourceId,
    span,
    startsAt,
    events,
    deliveries,
    latencies,
    expiresAt: Math.ceil((startsAt + KEPT_MS) / 1000),
  }
}

function markAfter(
  mark: StatMark | undefined,
  { sourceId, hour, again }: { sourceId: string; hour: number; again: number | undefined },
): StatMark {
  const others = Object.entries(mark?.again ?? {}).filter(([each]) => each !== String(hour))
  const countedUntil = Math.max(mark?.countedUntil ?? 0, hour + HOUR_MS)
  return {
    ...statMarkKey.of({ sourceId }),
    sourceId,
    countedUntil,
    again: { ...Object.fromEntries(others), ...(again !== undefined && { [hour]: again }) },
    rev: (mark?.rev ?? 0) + 1,
    expiresAt: Math.ceil((countedUntil + KEPT_MS) / 1000),
  }
}

/**
 * Counts stored events for their source and user. The watermark moves in the same transaction, so a
 * crash neither counts an event twice nor skips one.
 */
import type { Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { all, expr, Placeholders } from '@strongroom/kit/expression'
import { EventItem, eventKey } from '../events/item.ts'
import { type Source, SourceItem, sourceKey } from '../sources/item.ts'
import { nextStep } from '../queue/shards.ts'
import { type MeteringTask, MeteringTaskItem } from '../queue/tasks.ts'
import type { UserStore } from '../accounts/users/store.ts'
import { eventsTable, mainTable } from '../tables.ts'
import { validateChanges } from '../storage/update-expression.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import { equalsOrAbsent, exists } from '../storage/conditions.ts'
import type { StoreDeps } from '../stores.ts'
import { type StatisticsStore, SETTLED_AFTER_MS } from './statistics-store.ts'
import type { TaskQueue } from '../queue/store.ts'
import { nextMonthStart, monthStart } from '../storage/time.ts'

export interface CountedEvents {
  /** The new watermark: events received before it are counted. In the same month as these events. */
  until: number
  events: number
  lastEventAt?: string
  /** Recent counts by interval, all before the watermark. */
  parts?: CountedPart[]
}

/** Events that no stored figure contains yet. */
export interface PendingEvents {
  events: number
  /** There are more than `MAX_PENDING`. */
  isLowerBound: boolean
  lastEventAt?: string
}

/** Busy sources have more; to count them all would make a request slow. */
const MAX_PENDING = 1_000

type CountedPart = NonNullable<Source['countedParts']>[number]

type SourceId = Pick<Source, 'sourceId' | 'userId'>

const METERING_INTERVAL_MS = 300_000

/** This much before the watermark is counted again: with clock skew, events may be stored late. */
const RECOUNT_MS = 900_000

/** Allows for clock skew; otherwise no event is received before its source is created. */
const BEFORE_CREATION_MS = 3_600_000

export function createMetering({
  db,
  clock,
  users,
  queue,
  statistics,
}: Pick<StoreDeps, 'db' | 'clock'> & {
  users: Pick<UserStore, 'incrementUsage'>
  queue: TaskQueue
  statistics: Pick<StatisticsStore, 'refresh'>
}) {
  const sources = entity(db, mainTable, SourceItem)
  const events = entity(db, eventsTable, EventItem)
  const tasks = entity(db, eventsTable, MeteringTaskItem)

  /** The events that count for the quota, received from one time until before another, up to a limit. */
  async function countReceived(
    sourceId: string,
    from: number,
    until: number,
    max = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    if (until <= from) return 0
    const placeholders = new Placeholders()
    const KeyConditionExpression = placeholders.render(range(sourceId, from, until))
    const FilterExpression = placeholders.render(
      expr`${events.attr('status')} <> ${'signature_failed'}`,
    )
    let count = 0
    let after: Item | undefined
    do {
      const page = await db.query({
        TableName: eventsTable.name,
        KeyConditionExpression,
        FilterExpression,
        ...placeholders.parameters(),
        Select: 'COUNT',
        ConsistentRead: true,
        ...(Number.isFinite(max) && { Limit: max - count }),
        ...(after && { ExclusiveStartKey: after }),
      })
      count += page.Count ?? 0
      after = page.LastEvaluatedKey
    } while (after && max - count > 0)
    return count
  }

  function range(sourceId: string, from: number, until: number) {
    const { PK } = eventKey.of({ sourceId, receivedAt: '', eventId: '' })
    // Excludes events received at `until`: their keys continue with an id, so they sort after it.
    return expr`${events.attr('PK')} = ${PK} AND ${events.attr('SK')} BETWEEN ${`EVT#${from}`} AND ${`EVT#${until}`}`
  }

  async function oneReceived(
    sourceId: string,
    { from, until, newestFirst }: { from: number; until: number; newestFirst: boolean },
  ): Promise<number | undefined> {
    if (until <= from) return undefined
    const key = range(sourceId, from, until)
    return (await events.query({ key, newestFirst, limit: 1 })).items[0]?.receivedAt
  }

  /** Events before the watermark that were stored after it moved; undefined if there are none. */
  async function lateEvents(source: Source): Promise<CountedEvents | undefined> {
    const until = watermarkOf(source)
    const { sourceId, countedParts = [] } = source
    const [first] = countedParts
    const known = countedParts.reduce((sum, part) => sum + part.events, 0)
    // One count for all intervals, because usually nothing is late.
    if (!first || (await countReceived(sourceId, first.from, until)) <= known) return undefined
    let late = 0
    const parts: CountedPart[] = []
    for (const [index, { from, events: before }] of countedParts.entries()) {
      const found = await countReceived(sourceId, from, countedParts[index + 1]?.from ?? until)
      // A lower count means that events have expired.
      parts.push({ from, events: Math.max(found, before) })
      late += Math.max(found - before, 0)
    }
    return late === 0 ? undefined : { until, events: late, parts }
  }

  /**
   * Events after the watermark, up to a time and of one month; undefined if there are none. The
   * watermark moves to the last event only: a clock that is ahead would skip later events.
   */
  async function nextEvents(source: Source, upTo: number): Promise<CountedEvents | undefined> {
    const { sourceId, countedParts = [] } = source
    const from = watermarkOf(source)
    const first = await oneReceived(sourceId, { from, until: upTo, newestFirst: false })
    if (first === undefined) return undefined
    const end = Math.min(upTo, nextMonthStart(first))
    const last = await oneReceived(sourceId, { from, until: end, newestFirst: true })
    const until = (last ?? first) + 1
    // An event that is stored late is not counted for the next month.
    const recountFrom = Math.max(until - RECOUNT_MS, Date.parse(monthStart(until - 1)))
    const recent = Math.max(from, recountFrom)
    const part = { from: recent, events: await countReceived(sourceId, recent, until) }
    const received = part.events + (await countReceived(sourceId, from, recent))
    const retained = countedParts.filter(
      (_, index) => (countedParts[index + 1]?.from ?? from) > recountFrom,
    )
    return {
      until,
      events: received,
      ...(received > 0 && { lastEventAt: new Date(until - 1).toISOString() }),
      parts: [...retained, part],
    }
  }

  return {
    /** Schedules the counting of a source's events; returns when it is due. */
    plan: (source: SourceId): Promise<number> => planAt(source, clock.now() + SETTLED_AFTER_MS),

    /** Counts what a source has received since the last count, and completes the task. */
    async roll(task: MeteringTask): Promise<void> {
      const isFound = await catchUp(task)
      const nextAt = isFound ? await statistics.refresh(task.sourceId) : undefined
      if (nextAt !== undefined) await planAt(task, nextAt)
      await tasks.delete({ PK: task.PK, SK: task.SK })
    },

    advance,
    catchUp,

    /** Events that are not counted yet, or those of them that are of the current month. */
    async pending(
      source: Source,
      { isOfMonth = false }: { isOfMonth?: boolean } = {},
    ): Promise<PendingEvents> {
      const { sourceId, countedParts = [] } = source
      const [now, watermark] = [clock.now(), watermarkOf(source)]
      const isCurrent = !isOfMonth || monthStart(watermark - 1) === monthStart(now)
      // Counting that many again would take too long. The next count finds late events.
      const isShort = countedParts.reduce((sum, part) => sum + part.events, 0) <= MAX_PENDING
      const late = isCurrent && isShort ? await lateEvents(source) : undefined
      const from = isOfMonth ? Math.max(watermark, Date.parse(monthStart(now))) : watermark
      // Until the end of the month, because other clocks may be ahead.
      const until = nextMonthStart(now)
      const found = await countReceived(sourceId, from, until, MAX_PENDING + 1)
      const last = found > 0 ? await lastReceived(sourceId, from, until) : undefined
      return {
        events: (late?.events ?? 0) + Math.min(found, MAX_PENDING),
        isLowerBound: found > MAX_PENDING,
        ...(last !== undefined && { lastEventAt: new Date(last).toISOString() }),
      }
    },
  }

  async function lastReceived(
    sourceId: string,
    from: number,
    until: number,
  ): Promise<number | undefined> {
    const key = range(sourceId, from, until)
    const filter = expr`${events.attr('status')} <> ${'signature_failed'}`
    const { items } = await events.query({ key, filter, newestFirst: true, limit: 1, maxReads: 10 })
    return items[0]?.receivedAt
  }

  async function planAt({ sourceId, userId }: SourceId, at: number): Promise<number> {
    const dueAt = nextStep(sourceId, at, METERING_INTERVAL_MS)
    await queue.putMetering({ sourceId, userId, dueAt })
    return dueAt
  }

  /** The watermark: events received before it are counted. */
  function watermarkOf({ countedUntil, createdAt }: Source): number {
    return countedUntil ?? Date.parse(createdAt) - BEFORE_CREATION_MS
  }

  /** Counts new events; false if the source or its owner was deleted. */
  async function catchUp(id: SourceId): Promise<boolean> {
    const upTo = clock.now() - SETTLED_AFTER_MS
    let isCounted = false
    for (;;) {
      const source = await sources.get(sourceKey.of(id))
      if (!source) return false
      // Late events were counted in the previous round, unless another worker won the race.
      const late: CountedEvents | undefined = isCounted ? undefined : await lateEvents(source)
      const counted: CountedEvents | undefined = late ?? (await nextEvents(source, upTo))
      if (!counted) return true
      const result = await advance(source, counted)
      if (result === 'user_missing') return false
      isCounted = result === 'counted'
    }
  }

  /** `conflict`: another worker has moved the watermark since the read, and nothing was counted. */
  async function advance(
    source: Pick<Source, 'sourceId' | 'userId' | 'countedUntil' | 'eventCount'>,
    { until, events: received, lastEventAt, parts = [] }: CountedEvents,
  ): Promise<'counted' | 'conflict' | 'user_missing'> {
    validateChanges(mainTable, SourceItem, sourceKey.of(source), {
      eventCount: received,
      countedUntil: until,
      countedParts: parts,
      lastEventAt,
    })
    const watermark = sources.attr('countedUntil')
    const [total, last] = [sources.attr('eventCount'), sources.attr('lastEventAt')]
    const unmoved = equalsOrAbsent(watermark, source.countedUntil)
    const set = expr`SET ${total} = ${total} + ${received}, ${watermark} = ${until}`
    const count = expr`${set}, ${sources.attr('countedParts')} = ${parts}`
    // Counting late events does not move the watermark, so the total must be unchanged as well.
    const uncounted = expr`${total} = ${source.eventCount}`
    const mark = sources.part.update(
      sourceKey.of(source),
      lastEventAt === undefined ? count : expr`${count}, ${last} = ${lastEventAt}`,
      all(exists, unmoved, uncounted),
    )
    try {
      // A watermark at the end of a month still belongs to that month.
      await users.incrementUsage(source.userId, received, { month: monthStart(until - 1), mark })
      return 'counted'
    } catch (error) {
      if (!(error instanceof WriteRejected)) throw error
      if (error.reason === 'not_found') return 'user_missing'
      if (error.reason === 'already_counted') return 'conflict'
      throw error
    }
  }
}

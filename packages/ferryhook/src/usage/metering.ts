/**
 * Counts stored events for their source and user. The watermark moves in the same transaction, so a
 * crash neither counts an event twice nor skips one.
 */
import type { Item } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import { all, expr, Placeholders } from '@strongroom/kit/expression'
import { EventItem, eventKey } from '../events/item.ts'
import { type Source, SourceItem, sourceKey } from '../sources/item.ts'
import { type MeteringTask, MeteringTaskItem } from '../queue/tasks.ts'
import { UserItem, userKey } from '../accounts/users/item.ts'
import { eventsTable, mainTable } from '../tables.ts'
import { validateChanges } from '../storage/update-expression.ts'
import type { StoreDeps } from '../stores.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import type { StatisticsStore } from './statistics-store.ts'
import type { TaskQueue } from '../queue/store.ts'
import { nextMonthStart, monthStart } from '../storage/time.ts'

export interface CountedEvents {
  /** The new mark; events received before it are counted. Of the same month as what was counted. */
  until: number
  events: number
  lastEventAt?: string
  /** Of the time before the mark. */
  parts?: CountedPart[]
}

type CountedPart = NonNullable<Source['countedParts']>[number]

type SourceName = Pick<Source, 'sourceId' | 'userId'>

/**
 * Events are counted when they have been there for so long: none may be committed later with a time
 * of receipt that was counted already.
 */
const SETTLED_AFTER_MS = 120_000

/** A source that receives events is counted so often. */
const COUNTING_STEP_MS = 300_000

/**
 * So long before the mark, what was counted is counted again: where clocks disagree, or one was set
 * back, events come late.
 */
const COUNTED_AGAIN_MS = 900_000

/** Only against clocks that disagree: nothing is received before its source is made. */
const BEFORE_CREATION_MS = 3_600_000

export function createMetering({
  db,
  clock,
  queue,
  statistics: stats,
}: Pick<StoreDeps, 'db' | 'clock'> & {
  queue: TaskQueue
  statistics: Pick<StatisticsStore, 'refresh'>
}) {
  const sources = entity(db, mainTable, SourceItem)
  const users = entity(db, mainTable, UserItem)
  const events = entity(db, eventsTable, EventItem)
  const counts = entity(db, eventsTable, MeteringTaskItem)

  /** How many events that count for quotas were received from one time up to before another. */
  async function countReceived(sourceId: string, from: number, until: number): Promise<number> {
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
        ...(after && { ExclusiveStartKey: after }),
      })
      count += page.Count ?? 0
      after = page.LastEvaluatedKey
    } while (after)
    return count
  }

  function range(sourceId: string, from: number, until: number) {
    const { PK } = eventKey.of({ sourceId, receivedAt: '', eventId: '' })
    // Whatever was received at `until` itself has that and an id behind it, and so comes after.
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

  /** What came late to the time before the mark; undefined if nothing did. */
  async function lateIn(source: Source): Promise<CountedEvents | undefined> {
    const until = markOf(source)
    const { sourceId, countedParts = [] } = source
    const [first] = countedParts
    const known = countedParts.reduce((sum, part) => sum + part.events, 0)
    // All at once: most often nothing is late.
    if (!first || (await countReceived(sourceId, first.from, until)) <= known) return undefined
    let late = 0
    const parts: CountedPart[] = []
    for (const [index, { from, events: before }] of countedParts.entries()) {
      const found = await countReceived(sourceId, from, countedParts[index + 1]?.from ?? until)
      // Fewer, if some have expired.
      parts.push({ from, events: Math.max(found, before) })
      late += Math.max(found - before, 0)
    }
    return late === 0 ? undefined : { until, events: late, parts }
  }

  /**
   * What came after the mark, up to a time, of one month; undefined if nothing did. The mark goes no
   * further than the events: a clock that is ahead would leave out those to come.
   */
  async function nextIn(source: Source, upTo: number): Promise<CountedEvents | undefined> {
    const { sourceId, countedParts = [] } = source
    const from = markOf(source)
    const first = await oneReceived(sourceId, { from, until: upTo, newestFirst: false })
    if (first === undefined) return undefined
    const end = Math.min(upTo, nextMonthStart(first))
    const last = await oneReceived(sourceId, { from, until: end, newestFirst: true })
    const until = (last ?? first) + 1
    // What comes late to a month that is over does not enter the next.
    const again = Math.max(until - COUNTED_AGAIN_MS, Date.parse(monthStart(until - 1)))
    const recent = Math.max(from, again)
    const part = { from: recent, events: await countReceived(sourceId, recent, until) }
    const received = part.events + (await countReceived(sourceId, from, recent))
    const kept = countedParts.filter((_, index) => (countedParts[index + 1]?.from ?? from) > again)
    return {
      until,
      events: received,
      ...(received > 0 && { lastEventAt: new Date(until - 1).toISOString() }),
      parts: [...kept, part],
    }
  }

  return {
    /** Schedules the counting of a source's events; returns when it is due. */
    plan: (source: SourceName): Promise<number> => planAt(source, clock.now() + SETTLED_AFTER_MS),

    /** Counts what a source has received since the last count, and completes the task. */
    async roll(task: MeteringTask): Promise<void> {
      const isThere = await catchUp(task)
      const againAt = isThere ? await stats.refresh(task.sourceId) : undefined
      if (againAt !== undefined) await planAt(task, againAt)
      await counts.delete({ PK: task.PK, SK: task.SK })
    },

    advance,
    catchUp,

    /** Events of the current month that are not counted yet. */
    async pending(source: Source): Promise<number> {
      const now = clock.now()
      const [month, mark] = [monthStart(now), markOf(source)]
      const late = monthStart(mark - 1) === month ? await lateIn(source) : undefined
      // To its end: other clocks may be ahead.
      const from = Math.max(mark, Date.parse(month))
      return (late?.events ?? 0) + (await countReceived(source.sourceId, from, nextMonthStart(now)))
    },
  }

  async function planAt({ sourceId, userId }: SourceName, at: number): Promise<number> {
    const step = COUNTING_STEP_MS
    const dueAt = Math.ceil(at / step) * step
    await queue.putMetering({ sourceId, userId, dueAt })
    return dueAt
  }

  /** The watermark: events received before it are counted. */
  function markOf({ countedUntil, createdAt }: Source): number {
    return countedUntil ?? Date.parse(createdAt) - BEFORE_CREATION_MS
  }

  /** Counts new events; false if the source or its owner was deleted. */
  async function catchUp(name: SourceName): Promise<boolean> {
    const upTo = clock.now() - SETTLED_AFTER_MS
    let isCounted: boolean | undefined = false
    for (;;) {
      const source = await sources.get(sourceKey.of(name))
      if (!source) return false
      // What came late was looked for before, unless another worker was faster.
      const late: CountedEvents | undefined = isCounted ? undefined : await lateIn(source)
      const counted: CountedEvents | undefined = late ?? (await nextIn(source, upTo))
      if (!counted) return true
      isCounted = await advance(source, counted).catch(unlessGone)
      if (isCounted === undefined) return false
    }
  }

  /** False, and nothing is counted, if another worker moved the watermark since the read. */
  async function advance(
    source: Pick<Source, 'sourceId' | 'userId' | 'countedUntil' | 'eventCount'>,
    { until, events: received, lastEventAt, parts = [] }: CountedEvents,
  ): Promise<boolean> {
    validateChanges(mainTable, SourceItem, sourceKey.of(source), {
      eventCount: received,
      countedUntil: until,
      countedParts: parts,
      lastEventAt,
    })
    // One before: a mark at the very end of a month still belongs to it.
    const month = monthStart(until - 1)
    const { countedUntil } = source
    const mark = sources.attr('countedUntil')
    const [total, last] = [sources.attr('eventCount'), sources.attr('lastEventAt')]
    const unmoved =
      countedUntil === undefined
        ? expr`attribute_not_exists(${mark})`
        : expr`${mark} = ${countedUntil}`
    const set = expr`SET ${total} = ${total} + ${received}, ${mark} = ${until}`
    const count = expr`${set}, ${sources.attr('countedParts')} = ${parts}`
    // What came late is counted without moving the mark.
    const uncounted = expr`${total} = ${source.eventCount}`
    const moved = sources.part.update(
      sourceKey.of(source),
      lastEventAt === undefined ? count : expr`${count}, ${last} = ${lastEventAt}`,
      all(expr`attribute_exists(${sources.attr('PK')})`, unmoved, uncounted),
    )
    return retryOnConflict(async () => {
      const user = await users.get(userKey.of(source))
      if (!user) throw new WriteRejected('not_found')
      const [usage, period] = [users.attr('usageThisMonth'), users.attr('usagePeriodStart')]
      const begun = user.usagePeriodStart
      const before = month < begun
      const change =
        month > begun
          ? expr`SET ${usage} = ${received}, ${period} = ${month}`
          : expr`SET ${usage} = ${usage} + ${before ? 0 : received}`
      const samePeriod = expr`${period} = ${begun}`
      try {
        await transact(db, [moved, users.part.update(userKey.of(source), change, samePeriod)])
        return true
      } catch (error) {
        if (error instanceof TransactionFailed && error.conditionFailed(0)) return false
        throw error
      }
    })
  }
}

/** Of an account that was deleted nothing is counted any more. */
function unlessGone(error: unknown): undefined {
  if (error instanceof WriteRejected && error.reason === 'not_found') return undefined
  throw error
}

/**
 * Counts stored events into the figures of their source and user. The mark up to which they are
 * counted moves in the same transaction, so that none is counted twice or left out by a crash.
 */
import type { Item } from '@strongroom/kit/db'
import { entity, transact } from '@strongroom/kit/entity'
import { all, expr, Placeholders } from '@strongroom/kit/expression'
import { EventItem, eventKey } from '../items/event.ts'
import { type Source, SourceItem, sourceKey } from '../items/source.ts'
import { type CountTask, CountTaskItem } from '../items/task.ts'
import { UserItem, userKey } from '../items/user.ts'
import { eventsTable, mainTable } from '../table.ts'
import { requireFit } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import type { Stats } from './stats.ts'
import type { TaskWriter } from './task-writer.ts'
import { monthAfter, monthOf } from './times.ts'
import { optimistically } from './transaction.ts'

export interface CountedEvents {
  /** The new mark; events received before it are counted. Of the same month as what was counted. */
  until: number
  events: number
  lastEventAt?: string
}

type SourceName = Pick<Source, 'sourceId' | 'userId'>

/**
 * Events are counted when they have been there for so long: none may be committed later with a time
 * of receipt that was counted already.
 */
const SETTLED_AFTER_MS = 120_000

/** A source that receives events is counted so often. */
const COUNTING_STEP_MS = 300_000

/** Only against clocks that disagree: nothing is received before its source is made. */
const BEFORE_CREATION_MS = 3_600_000

export function createUsage({
  db,
  clock,
  tasks,
  stats,
}: Pick<DataLayerDeps, 'db' | 'clock'> & { tasks: TaskWriter; stats: Pick<Stats, 'refresh'> }) {
  const sources = entity(db, mainTable, SourceItem)
  const users = entity(db, mainTable, UserItem)
  const events = entity(db, eventsTable, EventItem)
  const counts = entity(db, eventsTable, CountTaskItem)

  /** How many events that count for quotas were received from one time up to before another. */
  async function countReceived(sourceId: string, from: number, until: number): Promise<number> {
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

  async function lastReceived(sourceId: string, from: number, until: number) {
    const key = range(sourceId, from, until)
    const { items } = await events.query({ key, newestFirst: true, limit: 1 })
    return items[0] && new Date(items[0].receivedAt).toISOString()
  }

  return {
    /** Sees to it that the events of a source are counted; returns when. */
    plan: (source: SourceName): Promise<number> => planAt(source, clock.now() + SETTLED_AFTER_MS),

    /** Counts what a source has received since it was last counted, and ends the task. */
    async roll(task: CountTask): Promise<void> {
      const isThere = await catchUp(task)
      const againAt = isThere ? await stats.refresh(task.sourceId) : undefined
      if (againAt !== undefined) await planAt(task, againAt)
      await counts.delete({ PK: task.PK, SK: task.SK })
    },

    advance,
    catchUp,

    /** How many were received in the running month and are not counted yet. */
    async pending(source: Source): Promise<number> {
      const now = clock.now()
      return countReceived(
        source.sourceId,
        Math.max(markOf(source), Date.parse(monthOf(now))),
        now + 1,
      )
    },
  }

  async function planAt({ sourceId, userId }: SourceName, at: number): Promise<number> {
    const step = COUNTING_STEP_MS
    const dueAt = Math.ceil(at / step) * step
    await tasks.putCount({ sourceId, userId, dueAt })
    return dueAt
  }

  /** Up to where the events of a source are counted. */
  function markOf({ countedUntil, createdAt }: Source): number {
    return countedUntil ?? Date.parse(createdAt) - BEFORE_CREATION_MS
  }

  /** Counts what a source has received since it was last counted; false if it, or its owner, is gone. */
  async function catchUp(name: SourceName): Promise<boolean> {
    const upTo = clock.now() - SETTLED_AFTER_MS
    for (;;) {
      const source = await sources.get(sourceKey.of(name))
      if (!source) return false
      const from = markOf(source)
      const until = Math.min(upTo, monthAfter(from))
      if (until <= from) return true
      const received = await countReceived(name.sourceId, from, until)
      const lastEventAt = received > 0 ? await lastReceived(name.sourceId, from, until) : undefined
      const counted = { until, events: received, ...(lastEventAt && { lastEventAt }) }
      // False if another worker was faster; then what it left is counted.
      const isOwned = await advance(source, counted).then(() => true, unlessGone)
      if (!isOwned) return false
    }
  }

  /** False if somebody else moved the mark since the source was read: then nothing is counted. */
  async function advance(
    source: Pick<Source, 'sourceId' | 'userId' | 'countedUntil'>,
    { until, events: received, lastEventAt }: CountedEvents,
  ): Promise<boolean> {
    requireFit(mainTable, SourceItem, sourceKey.of(source), {
      eventCount: received,
      countedUntil: until,
      lastEventAt,
    })
    // One before: a mark at the very end of a month still belongs to it.
    const month = monthOf(until - 1)
    const { countedUntil } = source
    const mark = sources.attr('countedUntil')
    const [total, last] = [sources.attr('eventCount'), sources.attr('lastEventAt')]
    const unmoved =
      countedUntil === undefined
        ? expr`attribute_not_exists(${mark})`
        : expr`${mark} = ${countedUntil}`
    const count = expr`SET ${total} = ${total} + ${received}, ${mark} = ${until}`
    const moved = sources.part.update(
      sourceKey.of(source),
      lastEventAt === undefined ? count : expr`${count}, ${last} = ${lastEventAt}`,
      all(expr`attribute_exists(${sources.attr('PK')})`, unmoved),
    )
    return optimistically(
      async () => {
        const user = await users.get(userKey.of(source))
        if (!user) throw new Refused('not_found')
        const [usage, period] = [users.attr('usageThisMonth'), users.attr('usagePeriodStart')]
        const begun = user.usagePeriodStart
        const before = month < begun
        const change =
          month > begun
            ? expr`SET ${usage} = ${received}, ${period} = ${month}`
            : expr`SET ${usage} = ${usage} + ${before ? 0 : received}`
        const samePeriod = expr`${period} = ${begun}`
        await transact(db, [moved, users.part.update(userKey.of(source), change, samePeriod)])
        return true
      },
      (failure) => (failure.conditionFailed(0) ? { result: false } : undefined),
    )
  }
}

/** Of an account that was deleted nothing is counted any more. */
function unlessGone(error: unknown): false {
  if (error instanceof Refused && error.reason === 'not_found') return false
  throw error
}

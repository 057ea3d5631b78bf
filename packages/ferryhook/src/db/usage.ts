/**
 * Counts stored events into the figures of their source and user. The mark up to which they are
 * counted moves in the same transaction, so that none is counted twice or left out by a crash.
 */
import { entity, transact } from '@strongroom/kit/entity'
import { all, expr } from '@strongroom/kit/expression'
import { type Source, SourceItem, sourceKey } from '../items/source.ts'
import { UserItem, userKey } from '../items/user.ts'
import { mainTable } from '../table.ts'
import { requireFit } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import { monthOf } from './times.ts'
import { optimistically } from './transaction.ts'

export interface CountedEvents {
  /** The new mark; events received before it are counted. Of the same month as what was counted. */
  until: number
  events: number
  lastEventAt?: string
}

export function createUsage({ db }: Pick<DataLayerDeps, 'db'>) {
  const sources = entity(db, mainTable, SourceItem)
  const users = entity(db, mainTable, UserItem)

  return {
    /** False if somebody else moved the mark since the source was read: then nothing is counted. */
    async advance(
      source: Pick<Source, 'sourceId' | 'userId' | 'countedUntil'>,
      { until, events, lastEventAt }: CountedEvents,
    ): Promise<boolean> {
      requireFit(mainTable, SourceItem, sourceKey.of(source), {
        eventCount: events,
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
      const count = expr`SET ${total} = ${total} + ${events}, ${mark} = ${until}`
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
              ? expr`SET ${usage} = ${events}, ${period} = ${month}`
              : expr`SET ${usage} = ${usage} + ${before ? 0 : events}`
          const samePeriod = expr`${period} = ${begun}`
          await transact(db, [moved, users.part.update(userKey.of(source), change, samePeriod)])
          return true
        },
        (failure) => (failure.conditionFailed(0) ? { result: false } : undefined),
      )
    },
  }
}

/** How many events of the running month were counted for a user. */
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { UserItem, userKey } from '../items/user.ts'
import { mainTable } from '../table.ts'
import { requireFit } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import { monthOf } from './times.ts'

export function createUserUsage({ db, clock }: Pick<DataLayerDeps, 'db' | 'clock'>) {
  const users = entity(db, mainTable, UserItem)

  /** `again` if the month changed under us. */
  async function countIn(userId: string, month: string, count: number) {
    const [usage, period] = [users.attr('usageThisMonth'), users.attr('usagePeriodStart')]
    const key = userKey.of({ userId })
    const add = expr`SET ${usage} = ${usage} + ${count}`
    try {
      // A clock a little behind counts in the month that has begun.
      await users.update(key, add, expr`${period} >= ${month}`)
      return 'counted'
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (!error.item) throw new Refused('not_found')
    }
    try {
      const begin = expr`SET ${usage} = ${count}, ${period} = ${month}`
      await users.update(key, begin, expr`${period} < ${month}`)
      return 'counted'
    } catch (error) {
      if (error instanceof ConditionFailed) return 'again'
      throw error
    }
  }

  /** Counts events of the running month; the first of a new month begins it. */
  return async (userId: string, count = 1): Promise<void> => {
    const month = monthOf(clock.now())
    requireFit(mainTable, UserItem, userKey.of({ userId }), { usageThisMonth: count })
    for (;;) {
      const outcome = await countIn(userId, month, count)
      if (outcome === 'counted') return
    }
  }
}

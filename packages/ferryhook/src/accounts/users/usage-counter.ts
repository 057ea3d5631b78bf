/** Counts the events of a user in the current month. */
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { monthStart } from '../../storage/time.ts'
import { validateChanges } from '../../storage/update-expression.ts'
import { WriteRejected } from '../../storage/write-rejected.ts'
import type { StoreDeps } from '../../stores.ts'
import { mainTable } from '../../tables.ts'
import { UserItem, userKey } from './item.ts'

export function createUsageCounter({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const users = entity(db, mainTable, UserItem)
  const [usage, period] = [users.attr('usageThisMonth'), users.attr('usagePeriodStart')]

  /** Adds to the stored month. False if that is an earlier month. */
  async function add(userId: string, month: string, count: number): Promise<boolean> {
    try {
      // A process whose clock is behind counts in the month that others have started.
      await users.update(
        userKey.of({ userId }),
        expr`SET ${usage} = ${usage} + ${count}`,
        expr`${period} >= ${month}`,
      )
      return true
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (!error.item) throw new WriteRejected('not_found')
      return false
    }
  }

  /** The first event of a month resets the count. */
  return async (userId: string, count = 1): Promise<void> => {
    const month = monthStart(clock.now())
    const key = userKey.of({ userId })
    validateChanges(mainTable, UserItem, key, { usageThisMonth: count })
    await retryOnConflict(async () => {
      if (await add(userId, month, count)) return
      const reset = expr`SET ${usage} = ${count}, ${period} = ${month}`
      await users.update(key, reset, expr`${period} < ${month}`)
    })
  }
}

/** Counts the events of a user in the current month. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transact } from '@strongroom/kit/transact'
import { monthStart } from '../../storage/time.ts'
import { validateChanges } from '../../storage/update-expression.ts'
import { WriteRejected } from '../../storage/write-rejected.ts'
import type { StoreDeps } from '../../stores.ts'
import { mainTable } from '../../tables.ts'
import { UserItem, userKey } from './item.ts'

export interface UsageOptions {
  /** The month of the events; defaults to the current one. */
  month?: string
  /** Marks the events as counted, in the same transaction. */
  mark?: TransactWriteItem
}

export function createUsageCounter({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const users = entity(db, mainTable, UserItem)
  const [usage, period] = [users.attr('usageThisMonth'), users.attr('usagePeriodStart')]

  /**
   * The first event of a month resets the count; events of an earlier month do not change it.
   * Rejected with `already_counted` if the condition of the mark fails.
   */
  async function incrementUsage(
    userId: string,
    count = 1,
    { month = monthStart(clock.now()), mark }: UsageOptions = {},
  ): Promise<void> {
    const key = userKey.of({ userId })
    validateChanges(mainTable, UserItem, key, { usageThisMonth: count })
    await retryOnConflict(async () => {
      const user = await users.get(key)
      if (!user) throw new WriteRejected('not_found')
      const started = user.usagePeriodStart
      const change =
        month > started
          ? expr`SET ${usage} = ${count}, ${period} = ${month}`
          : expr`SET ${usage} = ${usage} + ${month < started ? 0 : count}`
      const increment = users.part.update(key, change, expr`${period} = ${started}`)
      await transact(db, mark ? [increment, mark] : [increment]).catch((error: unknown) => {
        const isCounted = error instanceof TransactionFailed && error.conditionFailed(1)
        throw isCounted ? new WriteRejected('already_counted', { cause: error }) : error
      })
    })
  }

  return incrementUsage
}

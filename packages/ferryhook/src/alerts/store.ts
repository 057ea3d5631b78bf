import { ConditionFailed, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { transact } from '@strongroom/kit/transact'
import type { Audited, AuditWriter } from '../accounts/audit/store.ts'
import { UserItem, userKey } from '../accounts/users/item.ts'
import { absent, exists } from '../storage/conditions.ts'
import { isoNow } from '../storage/time.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import type { StoreDeps } from '../stores.ts'
import { mainTable } from '../tables.ts'
import { type AlertSettings, AlertSettingsItem, alertSettingsKey } from './item.ts'

export type AlertSettingsInput = Pick<
  AlertSettings,
  'kinds' | 'webhookUrl' | 'signingSecret' | 'email'
>

export function createAlertSettingsStore({
  db,
  clock,
  audit,
}: Pick<StoreDeps, 'db' | 'clock'> & { audit: AuditWriter }) {
  const settings = entity(db, mainTable, AlertSettingsItem)
  const users = entity(db, mainTable, UserItem)
  const { attr } = settings

  return {
    async get(userId: string): Promise<AlertSettings | null> {
      return (await settings.get(alertSettingsKey.of({ userId }))) ?? null
    },

    /** Rejected with `alerts_changed` if they are not as expected, and with `not_found` without a user. */
    async put(
      userId: string,
      choice: AlertSettingsInput,
      { expected, by }: Audited & { expected: AlertSettings | null },
    ): Promise<AlertSettings> {
      const item: AlertSettings = {
        ...alertSettingsKey.of({ userId }),
        userId,
        ...choice,
        rev: (expected?.rev ?? 0) + 1,
        updatedAt: isoNow(clock),
      }
      const unchanged = expected ? expr`${attr('rev')} = ${expected.rev}` : absent
      await transact(db, [
        users.part.check(userKey.of({ userId }), exists),
        settings.part.put(item, unchanged),
        ...audit.parts(by, { userId }),
      ]).catch((error: unknown) => {
        if (!(error instanceof TransactionFailed)) throw error
        if (error.conditionFailed(0)) throw new WriteRejected('not_found', { cause: error })
        throw error.conditionFailed(1)
          ? new WriteRejected('alerts_changed', { cause: error })
          : error
      })
      return item
    },

    /** Stores how the webhook failed, or undefined if it succeeded, unless the settings changed. */
    async recordResult({ userId, rev }: AlertSettings, failure: string | undefined): Promise<void> {
      const change =
        failure === undefined
          ? expr`REMOVE ${attr('failedAt')}, ${attr('failure')}`
          : expr`SET ${attr('failedAt')} = ${isoNow(clock)}, ${attr('failure')} = ${failure}`
      await settings
        .change(alertSettingsKey.of({ userId }), change, expr`${attr('rev')} = ${rev}`)
        .catch((error: unknown) => {
          if (!(error instanceof ConditionFailed)) throw error
        })
    },

    async delete(userId: string): Promise<void> {
      await settings.delete(alertSettingsKey.of({ userId }))
    },
  }
}

export type AlertSettingsStore = ReturnType<typeof createAlertSettingsStore>

import { ConditionFailed, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { type AlertSettings, AlertSettingsItem, alertSettingsKey } from '../items/alert-settings.ts'
import { UserItem, userKey } from '../items/user.ts'
import { mainTable } from '../table.ts'
import type { AuditParts, Logged } from './audit.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import { isoNow } from './times.ts'

export type AlertChoice = Pick<AlertSettings, 'kinds' | 'webhookUrl' | 'signingSecret' | 'email'>

export function createAlertSettings({
  db,
  clock,
  audit,
}: Pick<DataLayerDeps, 'db' | 'clock'> & { audit: AuditParts }) {
  const settings = entity(db, mainTable, AlertSettingsItem)
  const users = entity(db, mainTable, UserItem)
  const { attr } = settings

  return {
    async get(userId: string): Promise<AlertSettings | null> {
      return (await settings.get(alertSettingsKey.of({ userId }))) ?? null
    },

    /** `alerts_changed` if they are not as they were seen, `not_found` if the user is gone. */
    async put(
      userId: string,
      choice: AlertChoice,
      { seen, by }: Logged & { seen: AlertSettings | null },
    ): Promise<AlertSettings> {
      const item: AlertSettings = {
        ...alertSettingsKey.of({ userId }),
        userId,
        ...choice,
        rev: (seen?.rev ?? 0) + 1,
        updatedAt: isoNow(clock),
      }
      const unchanged = seen
        ? expr`${attr('rev')} = ${seen.rev}`
        : expr`attribute_not_exists(${attr('PK')})`
      const isThere = expr`attribute_exists(${users.attr('PK')})`
      await transact(db, [
        users.part.check(userKey.of({ userId }), isThere),
        settings.part.put(item, unchanged),
        ...audit.parts(by, { userId }),
      ]).catch((error: unknown) => {
        if (!(error instanceof TransactionFailed)) throw error
        if (error.conditionFailed(0)) throw new Refused('not_found', { cause: error })
        throw error.conditionFailed(1) ? new Refused('alerts_changed', { cause: error }) : error
      })
      return item
    },

    /** How the webhook fared, as long as it is still that one; undefined if well. */
    async note({ userId, rev }: AlertSettings, failure: string | undefined): Promise<void> {
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

export type AlertSettingsBook = ReturnType<typeof createAlertSettings>

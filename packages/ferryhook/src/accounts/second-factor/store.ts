import type { TransactWriteItem } from '@strongroom/kit/db'
import { TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all } from '@strongroom/kit/expression'
import {
  createSecondFactorItems,
  type StoredSecondFactors,
} from '@strongroom/kit/second-factor/item'
import { transact } from '@strongroom/kit/transact'
import { equalsOrAbsent, exists } from '../../storage/conditions.ts'
import { type RejectionReason, WriteRejected } from '../../storage/write-rejected.ts'
import type { StoreDeps } from '../../stores.ts'
import { mainTable } from '../../tables.ts'
import type { AuditInfo, AuditWriter } from '../audit/store.ts'
import { type User, UserItem, userKey } from '../users/item.ts'
import { SecondFactorItem, secondFactorKey } from './item.ts'

/** A further part of a transaction, and why the whole is rejected if its condition fails. */
export interface GuardedPart {
  part: TransactWriteItem
  reason: RejectionReason
}

interface Replacement {
  before: StoredSecondFactors | undefined
  /** Undefined to delete them. */
  after: StoredSecondFactors | undefined
  by: readonly AuditInfo[]
  parts?: readonly GuardedPart[]
}

export type SecondFactorStore = ReturnType<typeof createSecondFactorStore>

export function createSecondFactorStore({
  db,
  audit,
}: Pick<StoreDeps, 'db'> & { audit: AuditWriter }) {
  const users = entity(db, mainTable, UserItem)
  const items = createSecondFactorItems(db, mainTable, (userId) => secondFactorKey.of({ userId }))
  const stored = entity(db, mainTable, SecondFactorItem)

  return {
    load: items.load,

    /**
     * False if something else was written since `before` was read. Rejected with `password_changed` if
     * the user was deleted or has another password, and for the reasons of the parts.
     */
    async replace(
      { userId, passwordHash }: Pick<User, 'userId' | 'passwordHash'>,
      { before, after, by, parts = [] }: Replacement,
    ): Promise<boolean> {
      const samePassword = equalsOrAbsent(users.attr('passwordHash'), passwordHash)
      const guarded: GuardedPart[] = [
        ...parts,
        {
          part: users.part.check(userKey.of({ userId }), all(exists, samePassword) ?? exists),
          reason: 'password_changed',
        },
      ]
      try {
        await transact(db, [
          items.replacePart(userId, before, after),
          ...guarded.map(({ part }) => part),
          ...by.flatMap((info) => audit.parts(info, { userId })),
        ])
        return true
      } catch (error) {
        if (!(error instanceof TransactionFailed)) throw error
        const refusing = guarded.find((_, index) => error.conditionFailed(index + 1))
        if (refusing) throw new WriteRejected(refusing.reason, { cause: error })
        if (error.conditionFailed(0)) return false
        throw error
      }
    },

    /** For the deletion of the account. */
    async delete(userId: string): Promise<void> {
      await stored.delete(secondFactorKey.of({ userId }))
    },
  }
}

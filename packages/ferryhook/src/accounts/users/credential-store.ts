/** Whether the user has confirmed the credentials from before a password reset. */
import { conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { transact } from '@strongroom/kit/transact'
import type { StoreDeps } from '../../stores.ts'
import { mainTable } from '../../tables.ts'
import type { Audited, AuditWriter } from '../audit/store.ts'
import { type User, UserItem, userKey } from './item.ts'

export function createCredentialStore({
  db,
  audit,
}: Pick<StoreDeps, 'db'> & { audit: AuditWriter }) {
  const users = entity(db, mainTable, UserItem)
  const since = users.attr('credentialsUnconfirmedSince')

  return {
    /** Changes nothing if the password was reset again: then there is more to confirm. */
    async confirm(
      { userId, credentialsUnconfirmedSince: seen }: User,
      { by }: Audited = {},
    ): Promise<void> {
      if (seen === undefined) return
      await conditionHeld(
        transact(db, [
          users.part.update(
            userKey.of({ userId }),
            expr`REMOVE ${since}`,
            expr`${since} = ${seen}`,
          ),
          ...audit.parts(by, { userId }),
        ]),
      )
    },
  }
}

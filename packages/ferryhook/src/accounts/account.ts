/** The account of a user: what is kept of it, and its end. */
import type { Log } from '@strongroom/kit/log'
import type { Principal } from '../auth/principal.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { AuditEntry } from '../items/account-trail.ts'
import type { AlertSettings } from '../items/alert-settings.ts'
import type { ApiKey } from '../items/api-key.ts'
import type { Connection } from '../items/connection.ts'
import type { Source } from '../items/source.ts'
import type { User } from '../items/user.ts'
import type { Audit } from './audit-trail.ts'
import type { Credentials } from './credentials.ts'
import type { Notices } from './notices.ts'
import { asUserGone } from './user-gone.ts'

export interface AccountExport {
  user: User
  sources: Source[]
  connections: Connection[]
  apiKeys: ApiKey[]
  alerts: AlertSettings | null
  audit: AuditEntry[]
}

export interface Accounts {
  change(
    principal: Principal,
    given: {
      name?: string | undefined
      email?: string | undefined
      currentPassword?: string | undefined
    },
  ): Promise<User>
  /** All that is stored of the user but events, which the API lists. */
  export(principal: Principal): Promise<AccountExport>
  delete(principal: Principal, password: string | undefined): Promise<void>
}

export function createAccounts(deps: {
  layer: Pick<
    DataLayer,
    'users' | 'sources' | 'connections' | 'apiKeys' | 'alertSettings' | 'audit' | 'accountEnd'
  >
  credentials: Pick<Credentials, 'confirm'>
  audit: Audit
  notices: Notices
  log: Log
}): Accounts {
  const { layer, credentials, audit, notices, log } = deps

  return {
    async change({ user, actor }, { name, email, currentPassword }) {
      // The address is what one signs in with.
      if (email !== undefined) await credentials.confirm(user, currentPassword)
      const changes = { ...(name !== undefined && { name }), ...(email !== undefined && { email }) }
      const by = { actor, action: 'account.changed' } as const
      const seen = email === undefined ? undefined : user
      return layer.users.update(user.userId, changes, { by, seen }).catch((error: unknown) => {
        const isTaken = error instanceof Refused && error.reason === 'email_taken'
        if (isTaken) throw ferryhookError('email_taken')
        return asUserGone(error)
      })
    },

    async export({ user, actor }) {
      const { userId } = user
      await audit(userId, actor, 'account.exported')
      const sources = await layer.sources.listByUser(userId, { includeDeleted: true })
      const connections: Connection[] = []
      for (const { sourceId } of sources) {
        connections.push(
          ...(await layer.connections.listBySource(sourceId, { includeDeleted: true })),
        )
      }
      const entries: AuditEntry[] = []
      let cursor: string | undefined
      do {
        const page = await layer.audit.listByUser(userId, { limit: 100, cursor })
        entries.push(...page.items)
        cursor = page.cursor ?? undefined
      } while (cursor !== undefined)
      const apiKeys = await layer.apiKeys.listByUser(userId)
      const alerts = await layer.alertSettings.get(userId)
      return { user, sources, connections, apiKeys, alerts, audit: entries }
    },

    async delete({ user, actor }, password) {
      await credentials.confirm(user, password)
      const by = { actor, action: 'account.deleted' } as const
      const task = await layer.accountEnd.begin(user, { by }).catch(asUserGone)
      notices.userChanged(user.userId)
      try {
        for (const sourceId of await layer.accountEnd.finish(task)) notices.sourceChanged(sourceId)
      } catch (error) {
        // The account is gone whatever becomes of the rest, and nobody could ask again.
        log.warn('Removing what a deleted account had is left to a worker', { error })
      }
      notices.workDue()
    },
  }
}

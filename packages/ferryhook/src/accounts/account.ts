/** The account of a user: what is kept of it, and its end. */
import type { Principal } from '../auth/principal.ts'
import type { Sessions } from '../auth/sessions.ts'
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
    'users' | 'sources' | 'connections' | 'apiKeys' | 'alertSettings' | 'audit'
  >
  credentials: Pick<Credentials, 'confirm'>
  sessions: Pick<Sessions, 'endAll'>
  audit: Audit
  notices: Notices
}): Accounts {
  const { layer, credentials, sessions, audit, notices } = deps

  async function removeAll(userId: string): Promise<void> {
    await layer.alertSettings.delete(userId)
    for (const { keyId } of await layer.apiKeys.listByUser(userId)) {
      await layer.apiKeys.delete(keyId, userId).catch(unlessGone)
    }
    for (const { sourceId } of await layer.sources.listByUser(userId, { includeDeleted: true })) {
      await layer.sources.purge(sourceId, userId).catch(unlessGone)
      notices.sourceChanged(sourceId)
    }
  }

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
      const { userId } = user
      // Nothing is removed for a password that was replaced while it was checked.
      await layer.users.update(userId, {}, { seen: user }).catch(asUserGone)
      await removeAll(userId)
      // The user comes last: until then, whatever went wrong, they can sign in and try again.
      const by = { actor, action: 'account.deleted' } as const
      await layer.users.delete(userId, { by })
      // What somebody made meanwhile; without a user there will be no more.
      await removeAll(userId)
      await sessions.endAll(userId)
      notices.userChanged(userId)
      notices.workDue()
    },
  }
}

/** Somebody who asked for the same at once was faster. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Refused && error.reason === 'not_found')) throw error
}

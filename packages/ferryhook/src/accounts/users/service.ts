/** Changes, exports and deletes the account of a user. */
import { requestError } from '@strongroom/kit/http/errors'
import type { Log } from '@strongroom/kit/log'
import type { AlertSettings } from '../../alerts/item.ts'
import type { Connection } from '../../connections/item.ts'
import { ferryhookError, translate } from '../../errors.ts'
import type { LocalEvents } from '../../local-events.ts'
import type { Source } from '../../sources/item.ts'
import type { Stores } from '../../stores.ts'
import type { ApiKey } from '../api-keys/item.ts'
import type { AuditEntry } from '../audit/item.ts'
import { type Principal, toAccountError } from '../authentication.ts'
import type { PasswordService } from '../sessions/passwords.ts'
import { linkedIdentities } from './identity.ts'
import { normalizeEmail, type User } from './item.ts'
import { finishPurge } from './purge.ts'

export interface AccountExport {
  user: User
  sources: Source[]
  connections: Connection[]
  apiKeys: ApiKey[]
  alerts: AlertSettings | null
  audit: AuditEntry[]
}

export interface AccountChanges {
  name?: string | undefined
  email?: string | undefined
  currentPassword?: string | undefined
}

export interface AccountDeletion {
  currentPassword?: string | undefined
  email?: string | undefined
}

export type AccountService = ReturnType<typeof createAccountService>

export function createAccountService(deps: {
  stores: Pick<
    Stores,
    'users' | 'sources' | 'connections' | 'apiKeys' | 'alertSettings' | 'audit' | 'accountPurge'
  >
  passwords: Pick<PasswordService, 'confirm'>
  localEvents: LocalEvents
  log: Log
}) {
  const { stores, passwords, localEvents, log } = deps

  async function allAuditEntries(userId: string): Promise<AuditEntry[]> {
    const entries: AuditEntry[] = []
    let cursor: string | undefined
    do {
      const page = await stores.audit.listByUser(userId, { limit: 100, cursor })
      entries.push(...page.items)
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
    return entries
  }

  return {
    async change({ user, actor }: Principal, input: AccountChanges): Promise<User> {
      const { name, email, currentPassword } = input
      // Users sign in with the address, so changing it requires the password.
      if (email !== undefined) await passwords.confirm(user, currentPassword)
      const changes = { ...(name !== undefined && { name }), ...(email !== undefined && { email }) }
      const by = { actor, action: 'account.changed' } as const
      const expected = email === undefined ? undefined : user
      return stores.users
        .update(user.userId, changes, { by, expected })
        .catch(translate({ email_taken: 'email_taken' }))
        .catch(toAccountError)
    },

    /** Everything stored about the user except events, which have listings of their own. */
    async export({ user, actor }: Principal): Promise<AccountExport> {
      const { userId } = user
      await stores.audit.add({ userId, actor, action: 'account.exported' })
      const sources = await stores.sources.listByUser(userId, { includeDeleted: true })
      const connections: Connection[] = []
      for (const { sourceId } of sources) {
        connections.push(
          ...(await stores.connections.listBySource(sourceId, { includeDeleted: true })),
        )
      }
      const audit = await allAuditEntries(userId)
      const apiKeys = await stores.apiKeys.listByUser(userId)
      const alerts = await stores.alertSettings.get(userId)
      return { user, sources, connections, apiKeys, alerts, audit }
    },

    /**
     * Requires the password. An account without one that has only API keys confirms with its address;
     * one that has an identity at a provider must sign in, because a leaked key must not be enough.
     */
    async delete(
      { user, actor, sessionId }: Principal,
      { currentPassword, email }: AccountDeletion,
    ): Promise<void> {
      const isByKey = sessionId === undefined
      if (user.passwordHash === undefined && isByKey) {
        if (linkedIdentities(user).length > 0) throw ferryhookError('session_required')
        requireOwnAddress(user, email)
      }
      await passwords.confirm(user, currentPassword)
      const by = { actor, action: 'account.deleted' } as const
      const task = await stores.accountPurge
        .begin(user, { by, expected: user })
        .catch(toAccountError)
      await finishPurge({ stores, localEvents, log }, task)
    },
  }
}

function requireOwnAddress(user: User, email: string | undefined): void {
  if (email !== undefined && normalizeEmail(email) === user.email) return
  const message = 'Must be the address of the account, which has no password to confirm with'
  throw requestError('invalid', { details: [{ path: 'body.email', message }] })
}

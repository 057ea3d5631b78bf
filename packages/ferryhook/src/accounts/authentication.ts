/** Identifies the sender of a request: a user by an access token, or a program by an API key. */
import type { Clock } from '@strongroom/platform/clock'
import { ferryhookError, translate } from '../errors.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import type { Stores } from '../stores.ts'
import { type ApiKey, isRevoked } from './api-keys/item.ts'
import { hashApiKey } from './api-keys/store.ts'
import type { AccessTokens } from './sessions/access-tokens.ts'
import { createSessionUser } from './sessions/service.ts'
import type { User } from './users/item.ts'

export const permissions = ['read', 'write', 'admin'] as const
export type Permission = (typeof permissions)[number]

export interface Principal {
  user: User
  permission: Permission
  /** For the audit log: `user:usr_…` or `key:key_…`. */
  actor: string
  /** Undefined for an API key. */
  sessionId: string | undefined
  /** Undefined for a signed-in user. */
  keyId: string | undefined
}

/** Each permission includes those before it. Throws `permission_required` with the one needed. */
export function requirePermission(held: Pick<Principal, 'permission'>, needed: Permission): void {
  if (permissions.indexOf(held.permission) >= permissions.indexOf(needed)) return
  throw ferryhookError('permission_required', { data: { permission: needed } })
}

/**
 * For `.catch` of a write for the principal: the account was deleted, or its password was changed,
 * after the request was authenticated.
 */
export const toAccountError = translate({
  not_found: 'unauthorized',
  password_changed: 'wrong_password',
})

export type Authenticate = (token: string) => Promise<Principal | undefined>

/** How precise `lastUsedAt` is. */
const LAST_USED_PRECISION_MS = 60_000

export function createAuthenticate(deps: {
  stores: Pick<Stores, 'users' | 'apiKeys' | 'sessions'>
  tokens: AccessTokens
  clock: Clock
}): Authenticate {
  const { tokens, clock } = deps
  const { users, apiKeys } = deps.stores
  const sessionUser = createSessionUser(deps.stores)

  return (token) => (token.startsWith('fh_live_') ? byKey(token) : byAccessToken(token))

  async function byKey(token: string): Promise<Principal | undefined> {
    const apiKey = await apiKeys.getByHash(hashApiKey(token))
    const user = apiKey && (await users.getById(apiKey.userId))
    if (!apiKey || !user || isRevoked(apiKey, user)) return undefined
    if (!(await recordUse(apiKey))) return undefined
    const { keyId, permissions: permission } = apiKey
    return { user, permission, actor: `key:${keyId}`, sessionId: undefined, keyId }
  }

  /** Writes at most once a minute. False if the key was deleted concurrently. */
  async function recordUse({ keyId, userId, lastUsedAt }: ApiKey): Promise<boolean> {
    const recorded = lastUsedAt === undefined ? 0 : Date.parse(lastUsedAt)
    if (clock.now() - recorded < LAST_USED_PRECISION_MS) return true
    try {
      await apiKeys.updateLastUsed(keyId, { userId })
      return true
    } catch (error) {
      if (error instanceof WriteRejected) return false
      throw error
    }
  }

  async function byAccessToken(token: string): Promise<Principal | undefined> {
    const subject = await tokens.verify(token)
    if (!subject) return undefined
    const { userId, sessionId } = subject
    const user = await sessionUser(userId, sessionId)
    if (!user) return undefined
    return { user, permission: 'admin', actor: `user:${userId}`, sessionId, keyId: undefined }
  }
}

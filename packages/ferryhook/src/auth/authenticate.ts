/** Finds out who sent a request: a signed-in user by an access token, or a program by its API key. */
import type { Clock } from '@strongroom/kit/clock'
import { hashApiKey } from '../db/api-keys.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import type { ApiKey } from '../items/api-key.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { Principal } from './principal.ts'
import { createSessionUser } from './session-user.ts'

export type Authenticate = (token: string) => Promise<Principal | undefined>

/** As exact as the last use of a key is told. */
const LAST_USED_MS = 60_000

export function createAuthenticate(deps: {
  layer: Pick<DataLayer, 'users' | 'apiKeys' | 'refreshTokens'>
  tokens: AccessTokens
  clock: Clock
}): Authenticate {
  const { tokens, clock } = deps
  const { users, apiKeys } = deps.layer
  const sessionUser = createSessionUser(deps.layer)

  return (token) => (token.startsWith('fh_live_') ? byKey(token) : byAccessToken(token))

  async function byKey(token: string): Promise<Principal | undefined> {
    const apiKey = await apiKeys.getByHash(hashApiKey(token))
    const user = apiKey && (await users.getById(apiKey.userId))
    if (!apiKey || !user || !(await noteUse(apiKey))) return undefined
    const { keyId, permissions: permission } = apiKey
    return { user, permission, actor: `key:${keyId}`, sessionId: undefined, keyId }
  }

  /** At most once a minute; false if the key was deleted just now. */
  async function noteUse({ keyId, userId, lastUsedAt }: ApiKey): Promise<boolean> {
    const known = lastUsedAt === undefined ? 0 : Date.parse(lastUsedAt)
    if (clock.now() - known < LAST_USED_MS) return true
    try {
      await apiKeys.updateLastUsed(keyId, { userId })
      return true
    } catch (error) {
      if (error instanceof Refused) return false
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

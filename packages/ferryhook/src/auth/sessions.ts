/**
 * Sessions of users: a refresh token that is replaced with each use, and access tokens that end with
 * the session, because every request looks whether it still is.
 */
import { createHash } from 'node:crypto'
import { randomToken } from '@strongroom/kit/ids'
import type { ChangedBy } from '../db/audit.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { User } from '../items/user.ts'
import type { AccessTokens } from './access-tokens.ts'
import { createSessionUser } from './session-user.ts'
import { newTokenSecret, wasIssued } from './token-secret.ts'

export interface Session {
  user: User
  accessToken: string
  expiresIn: number
  /** Undefined in the slower of two tabs: the faster one has the new token. */
  refreshToken: string | undefined
}

export type Refresh =
  | Session
  /** Also because its token came a second time, which ends it. */
  | 'ended'

export interface Sessions {
  /** Throws `session_ended` if the password is not the user's any more. With `by` it is logged. */
  begin(user: User, logged?: { by?: Omit<ChangedBy, 'actor'> }): Promise<Session>
  refresh(refreshToken: string): Promise<Refresh>
  end(refreshToken: string): Promise<void>
  /** All of a user's, but the one that is to stay. */
  endAll(userId: string, options?: { but?: string | undefined }): Promise<void>
}

export function createSessions(deps: {
  layer: Pick<DataLayer, 'users' | 'refreshTokens'>
  tokens: AccessTokens
}): Sessions {
  const { tokens, layer } = deps
  const { refreshTokens } = layer
  const sessionUser = createSessionUser(layer)

  return {
    async begin(user, { by } = {}) {
      const { userId } = user
      const actor = `user:${userId}`
      const familyKey = randomToken(32)
      const secret = newTokenSecret(familyKey)
      const tokenHash = hash(secret)
      // A password replaced since it was checked has ended all sessions, and this came too late for that.
      const { familyId } = await refreshTokens
        .create(
          { userId, familyKey, tokenHash },
          { seen: user, ...(by && { by: { ...by, actor } }) },
        )
        .catch((error: unknown) => {
          throw error instanceof Refused ? ferryhookError('session_ended') : error
        })
      const access = await tokens.issue({ userId, sessionId: familyId })
      return { user, ...access, refreshToken: `${userId}.${familyId}.${secret}` }
    },

    async refresh(refreshToken) {
      const presented = parse(refreshToken)
      if (!presented) return 'ended'
      const { userId, familyId, secret } = presented
      const family = await refreshTokens.get(userId, familyId)
      // The ids alone are no secret: what was never issued changes nothing.
      if (!family || !wasIssued(secret, family.familyKey)) return 'ended'
      const next = newTokenSecret(family.familyKey)
      const rotation = await refreshTokens.rotate({
        userId,
        familyId,
        presentedHash: hash(secret),
        nextHash: hash(next),
      })
      const isAlive = rotation === 'rotated' || rotation === 'grace'
      const user = isAlive ? await sessionUser(userId, familyId) : undefined
      if (!user) return 'ended'
      const access = await tokens.issue({ userId, sessionId: familyId })
      return {
        user,
        ...access,
        refreshToken: rotation === 'rotated' ? `${userId}.${familyId}.${next}` : undefined,
      }
    },

    async end(refreshToken) {
      const presented = parse(refreshToken)
      if (!presented) return
      const { userId, familyId, secret } = presented
      const session = await refreshTokens.get(userId, familyId)
      // The ids alone are no secret.
      const isTheirs = session?.tokenHash === hash(secret) || session?.previousHash === hash(secret)
      if (!isTheirs) return
      const by = { actor: `user:${userId}`, action: 'account.signed_out' } as const
      await refreshTokens.revoke(userId, familyId, { by })
    },

    async endAll(userId, { but } = {}) {
      for (const { familyId } of await refreshTokens.listByUser(userId)) {
        if (familyId !== but) await refreshTokens.revoke(userId, familyId)
      }
    },
  }
}

const TOKEN = /^(usr_[\w-]{16})\.(rtk_[\w-]{16})\.([\w-]{43})$/

function parse(refreshToken: string) {
  const [, userId, familyId, secret] = TOKEN.exec(refreshToken) ?? []
  if (userId === undefined || familyId === undefined || secret === undefined) return undefined
  return { userId, familyId, secret }
}

/** A token has 128 random bits, so a plain hash is as good as a slow one. */
function hash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/**
 * Sessions of users: a refresh token that is replaced on each use, and access tokens that are valid
 * while the session exists, which every request checks.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { randomToken } from '@strongroom/kit/ids'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import { translate } from '../../errors.ts'
import type { Stores } from '../../stores.ts'
import type { AuditInfo } from '../audit/store.ts'
import type { User } from '../users/item.ts'
import type { AccessTokens } from './access-tokens.ts'
import { matchesPassword } from './store.ts'

export interface SessionTokens {
  user: User
  accessToken: string
  expiresIn: number
  /** Undefined in the slower of two browser tabs: the faster one received the new token. */
  refreshToken: string | undefined
}

/** `ended`: also because the token was used a second time, which ends the session. */
export type RefreshResult = SessionTokens | 'ended'

export type SessionService = ReturnType<typeof createSessionService>

export function createSessionService(deps: {
  stores: Pick<Stores, 'users' | 'sessions'>
  tokens: AccessTokens
}) {
  const { tokens, stores } = deps
  const sessionUser = createSessionUser(stores)

  return {
    /** Throws `session_ended` if the password was changed after it was checked. */
    async begin(
      user: User,
      { by }: { by?: Omit<AuditInfo, 'actor'> } = {},
    ): Promise<SessionTokens> {
      const { userId } = user
      const actor = `user:${userId}`
      const familyKey = randomToken(32)
      const secret = newTokenSecret(familyKey)
      const session = { userId, familyKey, tokenHash: hash(secret) }
      const { familyId } = await stores.sessions
        .create(session, { expected: user, ...(by && { by: { ...by, actor } }) })
        .catch(translate({ password_changed: 'session_ended' }))
      const access = await tokens.issue({ userId, sessionId: familyId })
      return { user, ...access, refreshToken: `${userId}.${familyId}.${secret}` }
    },

    async refresh(refreshToken: string): Promise<RefreshResult> {
      const parsed = parseToken(refreshToken)
      if (!parsed) return 'ended'
      const { userId, familyId, secret } = parsed
      const session = await stores.sessions.get(userId, familyId)
      // The ids are not secret, so a token that was never issued must not end the session.
      if (!session || !wasIssued(secret, session.familyKey)) return 'ended'
      const next = newTokenSecret(session.familyKey)
      const rotation = await stores.sessions.rotate({
        userId,
        familyId,
        presentedHash: hash(secret),
        nextHash: hash(next),
      })
      const isActive = rotation === 'rotated' || rotation === 'grace'
      const user = isActive ? await sessionUser(userId, familyId) : undefined
      if (!user) return 'ended'
      const access = await tokens.issue({ userId, sessionId: familyId })
      return {
        user,
        ...access,
        refreshToken: rotation === 'rotated' ? `${userId}.${familyId}.${next}` : undefined,
      }
    },

    async end(refreshToken: string): Promise<void> {
      const parsed = parseToken(refreshToken)
      if (!parsed) return
      const { userId, familyId, secret } = parsed
      const session = await stores.sessions.get(userId, familyId)
      const tokenHash = hash(secret)
      const isValid = session?.tokenHash === tokenHash || session?.previousHash === tokenHash
      if (!isValid) return
      const by = { actor: `user:${userId}`, action: 'account.signed_out' } as const
      await stores.sessions.revoke(userId, familyId, { by })
    },

    async endAll(userId: string, { except }: { except?: string | undefined } = {}): Promise<void> {
      for (const { familyId } of await stores.sessions.listByUser(userId)) {
        if (familyId !== except) await stores.sessions.revoke(userId, familyId)
      }
    },
  }
}

/** A session that changes the password stays valid, but the change may fall between the two reads. */
const MAX_READS = 2

/** Loads the user of a session, unless the session was ended, or invalidated by a new password. */
export function createSessionUser({ users, sessions }: Pick<Stores, 'users' | 'sessions'>) {
  return async (userId: string, sessionId: string): Promise<User | undefined> => {
    for (let read = 0; read < MAX_READS; read++) {
      const [user, session] = await Promise.all([
        users.getById(userId),
        sessions.get(userId, sessionId),
      ])
      if (!user || !session) return undefined
      if (matchesPassword(session, user)) return user
    }
    return undefined
  }
}

const TOKEN = /^(usr_[\w-]{16})\.(rtk_[\w-]{16})\.([\w-]{43})$/

function parseToken(refreshToken: string) {
  const [, userId, familyId, secret] = TOKEN.exec(refreshToken) ?? []
  if (userId === undefined || familyId === undefined || secret === undefined) return undefined
  return { userId, familyId, secret }
}

/** A token has 128 random bits, so it needs no slow hash. */
function hash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/**
 * The secret of a refresh token is half random, half a MAC that proves it was issued for this session.
 * So a used token is recognized without a list of all used ones, and the ids of a session are not
 * enough to forge a token.
 */
const HALF_BYTES = 16

function newTokenSecret(familyKey: string): string {
  const random = randomBytes(HALF_BYTES)
  return Buffer.concat([random, macOf(random, familyKey)]).toString('base64url')
}

/** Whether this secret was issued for the session, now or earlier. */
function wasIssued(secret: string, familyKey: string): boolean {
  const bytes = Buffer.from(secret, 'base64url')
  if (bytes.length !== 2 * HALF_BYTES || bytes.toString('base64url') !== secret) return false
  const mac = macOf(bytes.subarray(0, HALF_BYTES), familyKey)
  return timingSafeEquals(bytes.subarray(HALF_BYTES), mac)
}

function macOf(random: Uint8Array, familyKey: string): Buffer {
  const key = Buffer.from(familyKey, 'base64url')
  return createHmac('sha256', key).update(random).digest().subarray(0, HALF_BYTES)
}

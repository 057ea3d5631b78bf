/**
 * Sessions of users: a refresh token that is replaced on each use, and access tokens that are valid
 * while the session exists, which every request checks.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { randomToken } from '@strongroom/kit/ids'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import { ferryhookError, translate } from '../../errors.ts'
import type { Stores } from '../../stores.ts'
import type { AuditInfo } from '../audit/store.ts'
import type { Principal } from '../authentication.ts'
import type { User } from '../users/item.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { ClientInfo, StoredSession } from './item.ts'
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

  function newSession({ userId }: User, client: ClientInfo | undefined) {
    const familyKey = randomToken(32)
    const secret = newTokenSecret(familyKey)
    return {
      secret,
      input: { userId, familyKey, tokenHash: hash(secret), ...(client && { client }) },
    }
  }

  async function tokensOf(
    user: User,
    { familyId }: StoredSession,
    secret: string,
  ): Promise<SessionTokens> {
    const { userId } = user
    const access = await tokens.issue({ userId, sessionId: familyId })
    return { user, ...access, refreshToken: `${userId}.${familyId}.${secret}` }
  }

  return {
    /** The session, as a part of the transaction that decides whether it begins, and its tokens. */
    async prepare(
      user: User,
      client?: ClientInfo,
    ): Promise<{ part: TransactWriteItem; tokens: SessionTokens }> {
      const { input, secret } = newSession(user, client)
      const { session, part } = stores.sessions.createPart(input, user)
      return { part, tokens: await tokensOf(user, session, secret) }
    },

    /** Throws `session_ended` if the password was changed, or a second factor added, after it was checked. */
    async begin(
      user: User,
      { by, client }: { by?: Omit<AuditInfo, 'actor'>; client?: ClientInfo } = {},
    ): Promise<SessionTokens> {
      const actor = `user:${user.userId}`
      const { input, secret } = newSession(user, client)
      const session = await stores.sessions
        .create(input, { expected: user, ...(by && { by: { ...by, actor } }) })
        .catch(
          translate({ password_changed: 'session_ended', second_factor_added: 'session_ended' }),
        )
      return tokensOf(user, session, secret)
    },

    async refresh(refreshToken: string, client?: ClientInfo): Promise<RefreshResult> {
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
        ...(client && { client }),
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

    /** The sessions of a user, last used first. */
    async list({ userId, passwordHash }: User): Promise<StoredSession[]> {
      const sessions = await stores.sessions.listByUser(userId)
      return sessions
        .filter((session) => matchesPassword(session, { passwordHash }))
        .toSorted((a, b) => b.rotatedAt - a.rotatedAt)
    },

    /** Ends a session of the user; throws `session_not_found` if there is none with this id. */
    async endOne({ user, actor }: Principal, familyId: string): Promise<void> {
      const by = { actor, action: 'account.session_ended', target: familyId } as const
      const isOwn = await stores.sessions.revoke(user.userId, familyId, { by })
      if (!isOwn) throw ferryhookError('session_not_found')
    },

    /** Ends all sessions of the user except the one that asks. Returns how many. */
    async endOthers({ user, actor, sessionId }: Principal): Promise<number> {
      const others = (await stores.sessions.listByUser(user.userId)).filter(
        ({ familyId }) => familyId !== sessionId,
      )
      let ended = 0
      for (const { familyId } of others) {
        const by = { actor, action: 'account.session_ended', target: familyId } as const
        if (await stores.sessions.revoke(user.userId, familyId, { by })) ended += 1
      }
      return ended
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

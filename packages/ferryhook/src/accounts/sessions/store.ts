/**
 * Stores sessions. Each refresh token is used once and replaced. A used token that is presented again
 * was stolen, before or after its owner used it, so the session ends.
 */
import { createHash } from 'node:crypto'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { ConditionFailed, conditionHeld, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { all, expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { transact } from '@strongroom/kit/transact'
import { epochSeconds } from '@strongroom/platform/clock'
import { absent, equalsOrAbsent, exists, startsWith } from '../../storage/conditions.ts'
import { isoNow, isUnexpired, unlessExpired } from '../../storage/time.ts'
import { updateExpression } from '../../storage/update-expression.ts'
import { WriteRejected } from '../../storage/write-rejected.ts'
import type { StoreDeps } from '../../stores.ts'
import { eventsTable, mainTable } from '../../tables.ts'
import type { Audited, AuditWriter } from '../audit/store.ts'
import { SecondFactorItem, secondFactorKey } from '../second-factor/item.ts'
import { type User, UserItem, userKey } from '../users/item.ts'
import { type ClientInfo, RefreshTokenItem, refreshTokenKey, type StoredSession } from './item.ts'

const LIFETIME_SECONDS = 30 * 86_400
/** Two tabs may send the same token concurrently, which is not a theft. */
const GRACE_MS = 10_000

/** `grace`: another tab replaced it just now. `reused`: the session was ended, and that is audited. */
export type RotationResult = 'rotated' | 'grace' | 'reused' | 'unknown'

interface NewSession {
  userId: string
  familyKey: string
  tokenHash: string
  client?: ClientInfo
}

type Password = Pick<User, 'passwordHash'>

/** Tells passwords apart without helping to guess one. */
function passwordMark({ passwordHash = '' }: Password): string {
  return createHash('sha256').update(passwordHash).digest('hex')
}

/** Whether the session was started with the password that the user has now. */
export function matchesPassword(
  session: Pick<StoredSession, 'passwordMark'>,
  user: Password,
): boolean {
  return session.passwordMark === undefined || session.passwordMark === passwordMark(user)
}

export type SessionStore = ReturnType<typeof createSessionStore>

export function createSessionStore({
  db,
  clock,
  audit,
}: Pick<StoreDeps, 'db' | 'clock'> & { audit: AuditWriter }) {
  const users = entity(db, mainTable, UserItem)
  const sessions = entity(db, eventsTable, RefreshTokenItem)
  const factors = entity(db, mainTable, SecondFactorItem)
  const tokenHash = sessions.attr('tokenHash')
  const passkeys = factors.attr('passkeys')
  const isUnenrolled = expr`attribute_not_exists(${factors.attr('totp')}) AND (attribute_not_exists(${passkeys}) OR ${passkeys} = ${[]})`

  async function listByUser(userId: string): Promise<StoredSession[]> {
    const key = startsWith(refreshTokenKey.of({ userId, familyId: '' }))
    const { items } = await sessions.query({ key })
    return items.filter((session) => isUnexpired(clock, session))
  }

  /** True for the one caller that ended the session. */
  async function revoke(userId: string, familyId: string, { by }: Audited = {}): Promise<boolean> {
    return conditionHeld(
      transact(db, [
        sessions.part.delete(refreshTokenKey.of({ userId, familyId }), exists),
        ...audit.parts(by, { userId }),
      ]),
    )
  }

  function newSession(input: NewSession, expected?: Password): StoredSession {
    const { userId } = input
    const familyId = newId('rtk')
    return {
      ...refreshTokenKey.of({ userId, familyId }),
      userId,
      familyId,
      familyKey: input.familyKey,
      tokenHash: input.tokenHash,
      ...(expected && { passwordMark: passwordMark(expected) }),
      ...input.client,
      rotatedAt: clock.now(),
      createdAt: isoNow(clock),
      expiresAt: epochSeconds(clock) + LIFETIME_SECONDS,
    }
  }

  return {
    /** For a transaction that checks that the user has the expected password. */
    createPart(
      input: NewSession,
      expected: Password,
    ): { session: StoredSession; part: TransactWriteItem } {
      const session = newSession(input, expected)
      return { session, part: sessions.part.put(session, absent) }
    },

    /**
     * Rejected with `password_changed` if the user no longer has the expected password, and with
     * `second_factor_added` if it now signs in with a second factor.
     */
    async create(
      input: NewSession,
      { expected, by }: Audited & { expected?: User } = {},
    ): Promise<StoredSession> {
      const session = newSession(input, expected)
      const parts = [sessions.part.put(session, absent)]
      if (expected) {
        const samePassword = equalsOrAbsent(users.attr('passwordHash'), expected.passwordHash)
        const condition = all(exists, samePassword) ?? exists
        parts.push(
          users.part.check(userKey.of(expected), condition),
          factors.part.check(secondFactorKey.of(expected), isUnenrolled),
        )
      }
      await transact(db, [...parts, ...audit.parts(by, { userId: input.userId })]).catch(
        (error: unknown) => {
          if (!expected || !(error instanceof TransactionFailed)) throw error
          if (error.conditionFailed(1))
            throw new WriteRejected('password_changed', { cause: error })
          if (error.conditionFailed(2))
            throw new WriteRejected('second_factor_added', { cause: error })
          throw error
        },
      )
      return session
    },

    /**
     * Of all who present a token concurrently, one gets the next one. Call it only with tokens that
     * were issued.
     */
    async rotate(input: {
      userId: string
      familyId: string
      presentedHash: string
      nextHash: string
      client?: ClientInfo
    }): Promise<RotationResult> {
      const { userId, familyId, presentedHash, nextHash, client } = input
      const expiresAt = sessions.attr('expiresAt')
      const now = epochSeconds(clock)
      const key = refreshTokenKey.of({ userId, familyId })
      const change = updateExpression(eventsTable, RefreshTokenItem, key, {
        tokenHash: nextHash,
        previousHash: presentedHash,
        rotatedAt: clock.now(),
        expiresAt: now + LIFETIME_SECONDS,
        ...(client && { address: client.address, userAgent: client.userAgent }),
      })
      try {
        await sessions.update(
          key,
          change,
          expr`${tokenHash} = ${presentedHash} AND ${expiresAt} > ${now}`,
        )
        return 'rotated'
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
        const session = unlessExpired(clock, error.item && sessions.parse(error.item))
        if (!session) return 'unknown'
        // Absolute, because clocks differ, and one that was set back must not extend the grace.
        const isRecent = Math.abs(clock.now() - session.rotatedAt) <= GRACE_MS
        if (session.previousHash === presentedHash && isRecent) return 'grace'
        const by = { actor: `user:${userId}`, action: 'account.session_reused' } as const
        return (await revoke(userId, familyId, { by })) ? 'reused' : 'unknown'
      }
    },

    /** The session, unless it ended or expired. */
    async get(userId: string, familyId: string): Promise<StoredSession | null> {
      const session = await sessions.get(refreshTokenKey.of({ userId, familyId }))
      return unlessExpired(clock, session) ?? null
    },

    listByUser,
    revoke,

    /** Part of a transaction that changes the password: the session stays valid with the new one. */
    keepPart(userId: string, familyId: string, password: Password): TransactWriteItem {
      return sessions.part.update(
        refreshTokenKey.of({ userId, familyId }),
        expr`SET ${sessions.attr('passwordMark')} = ${passwordMark(password)}`,
        exists,
      )
    },
  }
}

/**
 * Sessions. Each refresh token is used once and replaced; a used one that comes back later was
 * stolen, by its sender or from them, so the session ends.
 */
import { createHash } from 'node:crypto'
import { epochSeconds } from '@strongroom/kit/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { ConditionFailed, TransactionFailed } from '@strongroom/kit/db-errors'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { written } from '@strongroom/kit/written'
import { type RefreshToken, RefreshTokenItem, refreshTokenKey } from '../items/account-trail.ts'
import { type User, UserItem, userKey } from '../items/user.ts'
import { eventsTable, mainTable } from '../table.ts'
import type { AuditParts, Logged } from './audit.ts'
import { requireFit } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { Refused } from './refused.ts'
import { isLive, isoNow, live } from './times.ts'

const LIFETIME_SECONDS = 30 * 86_400
/** Two tabs may send the same token at once; the slower one is no thief. */
const GRACE_MS = 10_000

/** `grace`: replaced just now, in another tab. `reused`: the session has been ended, and that is logged. */
export type Rotation = 'rotated' | 'grace' | 'reused' | 'unknown'

type Password = Pick<User, 'passwordHash'>

/** Tells one password from another, without being of any use to find it out. */
function passwordMark({ passwordHash = '' }: Password): string {
  return createHash('sha256').update(passwordHash).digest('hex')
}

/** Whether the session is of the password that the user has. */
export function isOfPassword(session: Pick<RefreshToken, 'passwordMark'>, user: Password): boolean {
  return session.passwordMark === undefined || session.passwordMark === passwordMark(user)
}

export function createRefreshTokens({
  db,
  clock,
  audit,
}: Pick<DataLayerDeps, 'db' | 'clock'> & { audit: AuditParts }) {
  const users = entity(db, mainTable, UserItem)
  const families = entity(db, eventsTable, RefreshTokenItem)
  const tokenHash = families.attr('tokenHash')

  async function listByUser(userId: string): Promise<RefreshToken[]> {
    const { PK, SK } = refreshTokenKey.of({ userId, familyId: '' })
    const { items } = await families.query({
      key: expr`${families.attr('PK')} = ${PK} AND begins_with(${families.attr('SK')}, ${SK})`,
    })
    return items.filter((family) => isLive(clock, family))
  }

  /** Tells whether it was there: of many who end it, one did. */
  async function revoke(userId: string, familyId: string, { by }: Logged = {}): Promise<boolean> {
    const exists = expr`attribute_exists(${families.attr('PK')})`
    return written(
      transact(db, [
        families.part.delete(refreshTokenKey.of({ userId, familyId }), exists),
        ...audit.parts(by, { userId }),
      ]),
    )
  }

  /** Holds only while the user is there, with the password that was seen. */
  function unchangedPart({ userId, passwordHash }: Pick<User, 'userId' | 'passwordHash'>) {
    const attribute = users.attr('passwordHash')
    const same =
      passwordHash === undefined
        ? expr`attribute_exists(${users.attr('PK')}) AND attribute_not_exists(${attribute})`
        : expr`${attribute} = ${passwordHash}`
    return users.part.check(userKey.of({ userId }), same)
  }

  return {
    /** Refused with `password_changed` if that is not the password of the user as it was seen. */
    async create(
      input: { userId: string; familyKey: string; tokenHash: string },
      { seen, by }: Logged & { seen?: User } = {},
    ): Promise<RefreshToken> {
      const familyId = newId('rtk')
      const family: RefreshToken = {
        ...refreshTokenKey.of({ userId: input.userId, familyId }),
        userId: input.userId,
        familyId,
        familyKey: input.familyKey,
        tokenHash: input.tokenHash,
        ...(seen && { passwordMark: passwordMark(seen) }),
        rotatedAt: clock.now(),
        createdAt: isoNow(clock),
        expiresAt: epochSeconds(clock) + LIFETIME_SECONDS,
      }
      await transact(db, [
        families.part.put(family, expr`attribute_not_exists(${families.attr('PK')})`),
        ...(seen ? [unchangedPart(seen)] : []),
        ...audit.parts(by, { userId: input.userId }),
      ]).catch((error: unknown) => {
        const isChanged = error instanceof TransactionFailed && error.conditionFailed(1)
        throw isChanged ? new Refused('password_changed', { cause: error }) : error
      })
      return family
    },

    /** Of all who send a token at once, one gets the next. Only for tokens that were issued. */
    async rotate(input: {
      userId: string
      familyId: string
      presentedHash: string
      nextHash: string
    }): Promise<Rotation> {
      const { userId, familyId, presentedHash, nextHash } = input
      const [previous, rotatedAt] = [families.attr('previousHash'), families.attr('rotatedAt')]
      const expiresAt = families.attr('expiresAt')
      const now = epochSeconds(clock)
      const key = refreshTokenKey.of({ userId, familyId })
      requireFit(eventsTable, RefreshTokenItem, key, { tokenHash: nextHash })
      try {
        await families.update(
          key,
          expr`SET ${tokenHash} = ${nextHash}, ${previous} = ${presentedHash}, ${rotatedAt} = ${clock.now()}, ${expiresAt} = ${now + LIFETIME_SECONDS}`,
          expr`${tokenHash} = ${presentedHash} AND ${expiresAt} > ${now}`,
        )
        return 'rotated'
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error
        const family = live(clock, error.item && families.parse(error.item))
        if (!family) return 'unknown'
        // Another machine may be ahead of this one; a clock that was set back gives no more time.
        const justReplaced =
          family.previousHash === presentedHash &&
          Math.abs(clock.now() - family.rotatedAt) <= GRACE_MS
        if (justReplaced) return 'grace'
        const by = { actor: `user:${userId}`, action: 'account.session_reused' } as const
        return (await revoke(userId, familyId, { by })) ? 'reused' : 'unknown'
      }
    },

    /** The session, unless it has ended. */
    async get(userId: string, familyId: string): Promise<RefreshToken | null> {
      return live(clock, await families.get(refreshTokenKey.of({ userId, familyId }))) ?? null
    },

    listByUser,
    revoke,

    /** Part of the transaction that sets another password, from a session that goes on with it. */
    keepPart(userId: string, familyId: string, password: Password): TransactWriteItem {
      return families.part.update(
        refreshTokenKey.of({ userId, familyId }),
        expr`SET ${families.attr('passwordMark')} = ${passwordMark(password)}`,
        expr`attribute_exists(${families.attr('PK')})`,
      )
    },

    async revokeAll(userId: string): Promise<void> {
      for (const { familyId } of await listByUser(userId)) await revoke(userId, familyId)
    },
  }
}

export type RefreshTokens = ReturnType<typeof createRefreshTokens>

/**
 * Sessions. Each refresh token is used once and replaced; a used one that comes back later was
 * stolen, by its sender or from them, so the session ends.
 */
import { epochSeconds } from '@strongroom/kit/clock'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { newId } from '@strongroom/kit/ids'
import { type RefreshToken, RefreshTokenItem, refreshTokenKey } from '../items/account-trail.ts'
import { eventsTable } from '../table.ts'
import { requireFit } from './changes.ts'
import type { DataLayerDeps } from './deps.ts'
import { isLive, isoNow, live } from './times.ts'

const LIFETIME_SECONDS = 30 * 86_400
/** Two tabs may send the same token at once; the slower one is no thief. */
const GRACE_MS = 10_000

/** `grace`: replaced just now, in another tab. `reused`: the session has been ended. */
export type Rotation = 'rotated' | 'grace' | 'reused' | 'unknown'

export function createRefreshTokens({ db, clock }: Pick<DataLayerDeps, 'db' | 'clock'>) {
  const families = entity(db, eventsTable, RefreshTokenItem)
  const tokenHash = families.attr('tokenHash')

  async function listByUser(userId: string): Promise<RefreshToken[]> {
    const { PK, SK } = refreshTokenKey.of({ userId, familyId: '' })
    const { items } = await families.query({
      key: expr`${families.attr('PK')} = ${PK} AND begins_with(${families.attr('SK')}, ${SK})`,
    })
    return items.filter((family) => isLive(clock, family))
  }

  async function revoke(userId: string, familyId: string): Promise<void> {
    await families.delete(refreshTokenKey.of({ userId, familyId }))
  }

  return {
    async create(input: {
      userId: string
      familyKey: string
      tokenHash: string
    }): Promise<RefreshToken> {
      const familyId = newId('rtk')
      const family: RefreshToken = {
        ...refreshTokenKey.of({ userId: input.userId, familyId }),
        userId: input.userId,
        familyId,
        familyKey: input.familyKey,
        tokenHash: input.tokenHash,
        rotatedAt: clock.now(),
        createdAt: isoNow(clock),
        expiresAt: epochSeconds(clock) + LIFETIME_SECONDS,
      }
      await families.put(family, expr`attribute_not_exists(${families.attr('PK')})`)
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
        await revoke(userId, familyId)
        return 'reused'
      }
    },

    /** The session, unless it has ended. */
    async get(userId: string, familyId: string): Promise<RefreshToken | null> {
      return live(clock, await families.get(refreshTokenKey.of({ userId, familyId }))) ?? null
    },

    listByUser,
    revoke,

    async revokeAll(userId: string): Promise<void> {
      for (const { familyId } of await listByUser(userId)) await revoke(userId, familyId)
    },
  }
}

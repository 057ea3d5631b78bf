/** Join tokens; they are spent where a site joins, see `agency-join.ts`. */
import { epochSeconds } from '@strongroom/kit/clock'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Page } from '@strongroom/kit/query-page'
import { endingAfter, ifLive, isoNow } from '../expiry.ts'
import { type JoinToken, JoinTokenItem, joinTokenKey } from '../items/join-token.ts'
import { formBridgeTable } from '../table.ts'
import { DEFAULT_LIMIT, type PageRequest, type StoreDeps } from './deps.ts'
import { written } from '@strongroom/kit/written'

export type JoinTokenName = Pick<JoinToken, 'agency_id' | 'token_hash'>

export function createJoinTokens({ db, clock }: StoreDeps) {
  const joinTokens = entity(db, formBridgeTable, JoinTokenItem)
  const { attr } = joinTokens

  return {
    async create(
      token: Pick<JoinToken, 'agency_id' | 'token_hash' | 'role' | 'max_uses'>,
      lifetimeSeconds: number,
    ): Promise<JoinToken> {
      const { ttl, iso: expires_at } = endingAfter(clock, lifetimeSeconds)
      const item: JoinToken = {
        ...token,
        ...joinTokenKey(token),
        uses: 0,
        created_at: isoNow(clock),
        expires_at,
        ttl,
      }
      await joinTokens.put(item, expr`attribute_not_exists(${attr('PK')})`)
      return item
    },

    get(name: JoinTokenName): Promise<JoinToken | undefined> {
      return joinTokens.get(joinTokenKey(name)).then(ifLive(clock))
    },

    list(
      agency_id: string,
      { limit = DEFAULT_LIMIT, after }: PageRequest = {},
    ): Promise<Page<JoinToken>> {
      return joinTokens.query({
        key: expr`${attr('PK')} = ${`AGENCY#${agency_id}`} AND begins_with(${attr('SK')}, ${'JOIN#'})`,
        filter: expr`${attr('ttl')} > ${epochSeconds(clock)}`,
        limit,
        after,
      })
    },

    revoke(name: JoinTokenName): Promise<boolean> {
      return written(joinTokens.delete(joinTokenKey(name), expr`attribute_exists(${attr('PK')})`))
    },
  }
}

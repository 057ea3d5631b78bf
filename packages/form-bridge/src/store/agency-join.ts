/**
 * How a site gets its place in an agency, as parts of a transaction: alone, or together with the
 * exchange. The limit is a condition on the counter, so that no number of sites at once exceeds it.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { isoNow } from '../expiry.ts'
import { AgencyItem, agencyKey } from '../items/agency.ts'
import {
  type AgencySite,
  AgencySiteItem,
  agencySiteKey,
  SitePlaceItem,
  sitePlaceKey,
} from '../items/agency-site.ts'
import { JoinTokenItem, joinTokenKey } from '../items/join-token.ts'
import { formBridgeTable } from '../table.ts'
import type { StoreDeps } from './deps.ts'
import type { Refusal } from './settle.ts'

export type Joining = Pick<
  AgencySite,
  'agency_id' | 'site_id' | 'domain' | 'role' | 'outside_limit'
> & {
  /** The token by which it joins, spent with it. */
  join_token_hash?: string
}

/** `agency_closed`: unknown or suspended. `join_token`: unknown, expired or used up. */
export type JoinRefusal = 'agency_full' | 'agency_closed' | 'already_member' | 'join_token'

export function agencyJoin({ db, clock }: StoreDeps, joining: Joining) {
  const agencies = entity(db, formBridgeTable, AgencyItem)
  const agencySites = entity(db, formBridgeTable, AgencySiteItem)
  const places = entity(db, formBridgeTable, SitePlaceItem)
  const joinTokens = entity(db, formBridgeTable, JoinTokenItem)
  const { join_token_hash, ...member } = joining
  const { agency_id, site_id, outside_limit } = member

  function placePart(): TransactWriteItem {
    const { attr, part } = agencies
    const [current, max] = [attr('current_sites'), attr('max_sites')]
    const open = expr`${attr('status')} = ${'active'}`
    if (outside_limit) return part.check(agencyKey(agency_id), open)
    return part.update(
      agencyKey(agency_id),
      expr`SET ${current} = ${current} + ${1}`,
      expr`${open} AND ${current} < ${max}`,
    )
  }

  function tokenPart(token_hash: string): TransactWriteItem {
    const { attr, part } = joinTokens
    const [uses, max] = [attr('uses'), attr('max_uses')]
    return part.update(
      joinTokenKey({ agency_id, token_hash }),
      expr`SET ${uses} = ${uses} + ${1}`,
      expr`${attr('expires_at')} > ${isoNow(clock)} AND ${uses} < ${max}`,
    )
  }

  const item: AgencySite = {
    ...member,
    ...agencySiteKey(member),
    GSI1PK: `SITE#${site_id}`,
    GSI1SK: `AGENCY#${agency_id}`,
    added_at: isoNow(clock),
  }
  const parts: Record<string, TransactWriteItem> = {
    agency: placePart(),
    member: agencySites.part.put(item, expr`attribute_not_exists(${agencySites.attr('PK')})`),
    place: places.part.put({ ...sitePlaceKey(member), agency_id, site_id }),
    ...(join_token_hash && { joinToken: tokenPart(join_token_hash) }),
  }

  function refusedBy(refusal: Refusal<string>): JoinRefusal | undefined {
    if (refusal.has('joinToken')) return 'join_token'
    if (refusal.has('member')) return 'already_member'
    if (!refusal.has('agency')) return undefined
    const agency = refusal.get('agency')
    return agency && agencies.parse(agency).status === 'active' ? 'agency_full' : 'agency_closed'
  }

  return { parts, refusedBy }
}

/**
 * Transaction parts with which a site joins and leaves agencies. They are written together with the
 * change of the site. The limit is a condition on the counter of the agency, so concurrent joins
 * cannot exceed it.
 */
import type { Item, TransactWriteItem } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr, oneOf } from '@strongroom/kit/expression'
import type { SiteName } from '../sites/item.ts'
import { formBridgeTable, type StoreDeps } from '../tables.ts'
import { isoNow } from '../time.ts'
import {
  type AgencyAction,
  AgencyItem,
  agencyKey,
  type AgencySite,
  AgencySiteItem,
  agencySiteKey,
  JoinTokenItem,
  joinTokenKey,
  type MembershipName,
  ROLES_THAT_MAY,
  SiteMembershipItem,
  siteMembershipKey,
} from './item.ts'

export type NewMembership = Pick<AgencySite, 'agency_id' | 'role' | 'outside_limit'> & {
  /** The join token that this membership uses up. */
  join_token_hash?: string
}

/** `agency_closed`: unknown or suspended. `join_token`: unknown, expired or used up. */
export type JoinRefusal = 'agency_full' | 'agency_closed' | 'already_member' | 'join_token'

export function joinParts(
  { db, clock }: StoreDeps,
  { site_id, domain }: SiteName,
  { join_token_hash, ...membership }: NewMembership,
) {
  const agencies = entity(db, formBridgeTable, AgencyItem)
  const agencySites = entity(db, formBridgeTable, AgencySiteItem)
  const siteMemberships = entity(db, formBridgeTable, SiteMembershipItem)
  const joinTokens = entity(db, formBridgeTable, JoinTokenItem)
  const { agency_id, outside_limit } = membership
  const name = { agency_id, site_id }

  function agencyPart(): TransactWriteItem {
    const { attr, part } = agencies
    const [current, max] = [attr('current_sites'), attr('max_sites')]
    const isActive = expr`${attr('status')} = ${'active'}`
    if (outside_limit) return part.check(agencyKey(agency_id), isActive)
    return part.update(
      agencyKey(agency_id),
      expr`SET ${current} = ${current} + ${1}`,
      expr`${isActive} AND ${current} < ${max}`,
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
    ...membership,
    ...name,
    domain,
    ...agencySiteKey(name),
    GSI1PK: `SITE#${site_id}`,
    GSI1SK: `AGENCY#${agency_id}`,
    added_at: isoNow(clock),
  }
  const parts: Record<string, TransactWriteItem> = {
    agency: agencyPart(),
    member: agencySites.part.put(item, expr`attribute_not_exists(${agencySites.attr('PK')})`),
    siteMembership: siteMemberships.part.put({ ...siteMembershipKey(name), ...name }),
    ...(join_token_hash && { joinToken: tokenPart(join_token_hash) }),
  }

  /** Why the transaction was refused; undefined if none of these parts refused it. */
  function refusal(by: ReadonlyMap<string, Item | undefined>): JoinRefusal | undefined {
    if (by.has('joinToken')) return 'join_token'
    if (by.has('member')) return 'already_member'
    if (!by.has('agency')) return undefined
    const agency = by.get('agency')
    return agency && agencies.parse(agency).status === 'active' ? 'agency_full' : 'agency_closed'
  }

  return { parts, refusal }
}

export type MembershipStore = ReturnType<typeof createMemberships>

export function createMemberships({ db }: Pick<StoreDeps, 'db'>) {
  const agencies = entity(db, formBridgeTable, AgencyItem)
  const agencySites = entity(db, formBridgeTable, AgencySiteItem)
  const siteMemberships = entity(db, formBridgeTable, SiteMembershipItem)

  /** Reads GSI1: eventually consistent. */
  async function listBySiteFromIndex(site_id: string): Promise<AgencySite[]> {
    const { attr } = agencySites
    const { items } = await agencySites.query({
      index: 'GSI1',
      key: expr`${attr('GSI1PK')} = ${`SITE#${site_id}`} AND begins_with(${attr('GSI1SK')}, ${'AGENCY#'})`,
    })
    return items
  }

  async function listItems(site_id: string): Promise<MembershipName[]> {
    const { attr } = siteMemberships
    const { items } = await siteMemberships.query({
      key: expr`${attr('PK')} = ${`SITEID#${site_id}`} AND begins_with(${attr('SK')}, ${'AGENCY#'})`,
    })
    return items
  }

  /** Refused if the membership changed after it was read. */
  function leave(member: AgencySite): Record<string, TransactWriteItem> {
    const { agency_id, added_at, outside_limit, role } = member
    const [flag, current] = [agencySites.attr('outside_limit'), agencies.attr('current_sites')]
    const isFlagUnchanged = outside_limit
      ? expr`${flag} = ${outside_limit}`
      : expr`attribute_not_exists(${flag})`
    return {
      [`member ${agency_id}`]: agencySites.part.delete(
        agencySiteKey(member),
        expr`${agencySites.attr('added_at')} = ${added_at} AND ${agencySites.attr('role')} = ${role} AND ${isFlagUnchanged}`,
      ),
      [`siteMembership ${agency_id}`]: siteMemberships.part.delete(siteMembershipKey(member)),
      ...(!outside_limit && {
        [`agency ${agency_id}`]: agencies.part.update(
          agencyKey(agency_id),
          expr`SET ${current} = ${current} - ${1}`,
          expr`${current} > ${0}`,
        ),
      }),
    }
  }

  return {
    listBySiteFromIndex,

    async listBySite(site_id: string): Promise<AgencySite[]> {
      const items = await listItems(site_id)
      // Memberships from before these items existed are only in the index.
      const names = items.length > 0 ? items : await listBySiteFromIndex(site_id)
      const found = await Promise.all(names.map((name) => agencySites.get(agencySiteKey(name))))
      return found.filter((member) => member !== undefined)
    },

    /** Without those from before these items existed. */
    async listAgencies(site_id: string): Promise<string[]> {
      return (await listItems(site_id)).map(({ agency_id }) => agency_id)
    },

    /** Refuses a transaction unless the role of the membership allows the action. */
    requirePart(name: MembershipName, action: AgencyAction): TransactWriteItem {
      const hasRole = oneOf(agencySites.attr('role'), ROLES_THAT_MAY[action])
      return agencySites.part.check(agencySiteKey(name), hasRole)
    },

    leaveParts(members: readonly AgencySite[]): Record<string, TransactWriteItem> {
      return Object.assign({}, ...members.map(leave))
    },
  }
}

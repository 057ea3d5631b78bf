/** Agencies, their sites, and join tokens. */
import { epochSeconds } from '@strongroom/platform/clock'
import { conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { type Expression, expr } from '@strongroom/kit/expression'
import type { Page, PageRequest } from '@strongroom/kit/paging'
import { CONFLICT, retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transactParts } from '@strongroom/kit/transact'
import { checkValues, DEFAULT_PAGE_SIZE, formBridgeTable, type StoreDeps } from '../tables.ts'
import { expiresIn, isoNow, unexpired } from '../time.ts'
import {
  type Agency,
  AgencyApiKeyItem,
  agencyApiKeyKey,
  AgencyItem,
  agencyKey,
  AgencyRole,
  type AgencySite,
  AgencySiteItem,
  agencySiteKey,
  type AgencyStatus,
  agencyStatusKeys,
  type AgencySummary,
  AgencySummaryItem,
  type JoinToken,
  JoinTokenItem,
  joinTokenKey,
  type JoinTokenName,
  type MembershipName,
} from './item.ts'
import { createMemberships } from './membership.ts'

export type NewAgency = Pick<
  Agency,
  'agency_id' | 'agency_name' | 'contact_email' | 'max_sites' | 'api_key_hash'
>

/** Each conflict means that another write succeeded, so a few attempts are enough. */
const MAX_ATTEMPTS = 20

export type AgencyStore = ReturnType<typeof createAgencyStore>

export function createAgencyStore({ db, clock }: StoreDeps) {
  const agencies = entity(db, formBridgeTable, AgencyItem)
  const summaries = entity(db, formBridgeTable, AgencySummaryItem)
  const agencySites = entity(db, formBridgeTable, AgencySiteItem)
  const apiKeys = entity(db, formBridgeTable, AgencyApiKeyItem)
  const memberships = createMemberships({ db })
  const { attr } = agencies
  const exists = expr`attribute_exists(${attr('PK')})`

  function newKeyPart(agency_id: string, api_key_hash: string) {
    return apiKeys.part.put(
      { ...agencyApiKeyKey(api_key_hash), agency_id, created_at: isoNow(clock) },
      expr`attribute_not_exists(${apiKeys.attr('PK')})`,
    )
  }

  return {
    /** `conflict`: the id or the key is taken. */
    async create(
      agency: NewAgency,
    ): Promise<{ kind: 'created'; agency: Agency } | { kind: 'conflict' }> {
      const created_at = isoNow(clock)
      const item: Agency = {
        ...agency,
        ...agencyKey(agency.agency_id),
        ...agencyStatusKeys('active'),
        GSI1PK: `AGENCY_META#${agency.agency_id}`,
        GSI2SK: `${created_at}#${agency.agency_id}`,
        current_sites: 0,
        created_at,
        status: 'active',
      }
      const result = await transactParts(db, {
        agency: agencies.part.put(item, expr`attribute_not_exists(${attr('PK')})`),
        key: newKeyPart(agency.agency_id, agency.api_key_hash),
      })
      return result.kind === 'done' ? { kind: 'created', agency: item } : { kind: 'conflict' }
    },

    get(agency_id: string): Promise<Agency | undefined> {
      return agencies.get(agencyKey(agency_id))
    },

    /** Two consistent reads. A key that was rotated finds nothing. */
    async findByKey(api_key_hash: string): Promise<Agency | undefined> {
      const key = await apiKeys.get(agencyApiKeyKey(api_key_hash))
      const agency = key && (await agencies.get(agencyKey(key.agency_id)))
      return agency?.api_key_hash === api_key_hash ? agency : undefined
    },

    /** `conflict`: the key changed after the agency was read. */
    async rotateKey(
      agency: Agency,
      api_key_hash: string,
    ): Promise<{ kind: 'rotated' | 'conflict' }> {
      checkValues(AgencyItem, agencyKey(agency.agency_id), { api_key_hash })
      const current = attr('api_key_hash')
      const result = await transactParts(db, {
        agency: agencies.part.update(
          agencyKey(agency.agency_id),
          expr`SET ${current} = ${api_key_hash}`,
          expr`${current} = ${agency.api_key_hash}`,
        ),
        oldKey: apiKeys.part.delete(agencyApiKeyKey(agency.api_key_hash)),
        key: newKeyPart(agency.agency_id, api_key_hash),
      })
      return { kind: result.kind === 'done' ? 'rotated' : 'conflict' }
    },

    /** Reads GSI1: eventually consistent. */
    async findActive(agency_id: string): Promise<Agency | undefined> {
      const { items } = await agencies.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`AGENCY_META#${agency_id}`} AND ${attr('GSI1SK')} = ${'ACTIVE'}`,
        limit: 1,
      })
      return items[0]
    },

    /** Newest first. */
    list(
      status: AgencyStatus,
      { limit = DEFAULT_PAGE_SIZE, after }: PageRequest = {},
    ): Promise<Page<AgencySummary>> {
      return summaries.query({
        index: 'GSI2',
        key: expr`${summaries.attr('GSI2PK')} = ${agencyStatusKeys(status).GSI2PK}`,
        newestFirst: true,
        limit,
        after,
      })
    },

    /**
     * A limit below the current number of sites removes none, but lets no new site in. False if there
     * is no such agency.
     */
    async change(
      agency_id: string,
      { max_sites, status }: { max_sites?: number | undefined; status?: AgencyStatus | undefined },
    ): Promise<boolean> {
      const updates: Expression[] = []
      if (max_sites !== undefined) {
        checkValues(AgencyItem, agencyKey(agency_id), { max_sites })
        updates.push(expr`${attr('max_sites')} = ${max_sites}`)
      }
      if (status !== undefined) {
        const { GSI1SK, GSI2PK } = agencyStatusKeys(status)
        updates.push(
          expr`${attr('status')} = ${status}, ${attr('GSI1SK')} = ${GSI1SK}, ${attr('GSI2PK')} = ${GSI2PK}`,
        )
      }
      const [first, ...others] = updates
      if (!first) return (await agencies.get(agencyKey(agency_id))) !== undefined
      const update = others.reduce((before, next) => expr`${before}, ${next}`, expr`SET ${first}`)
      return conditionHeld(agencies.change(agencyKey(agency_id), update, exists))
    },

    /** Reads consistently, because it decides what an agency may do to a site. */
    getMember(name: MembershipName): Promise<AgencySite | undefined> {
      return agencySites.get(agencySiteKey(name))
    },

    /** False if the site is not a member. */
    setRole(name: MembershipName, role: AgencyRole): Promise<boolean> {
      const { attr: siteAttr } = agencySites
      return conditionHeld(
        agencySites.update(
          agencySiteKey(name),
          expr`SET ${siteAttr('role')} = ${role}`,
          expr`attribute_exists(${siteAttr('PK')})`,
        ),
      )
    },

    /** False if the site is not a member, or has none of the given roles. */
    async leave(
      name: MembershipName,
      roles: readonly AgencyRole[] = AgencyRole.options,
    ): Promise<boolean> {
      return retryOnConflict(
        async () => {
          const member = await agencySites.get(agencySiteKey(name))
          if (!member || !roles.includes(member.role)) return false
          const result = await transactParts<string>(db, memberships.leaveParts([member]))
          return result.kind === 'done' ? true : CONFLICT
        },
        { maxAttempts: MAX_ATTEMPTS },
      )
    },

    /** Excludes a site from the limit, or includes it again if the agency is not full. */
    async setOutsideLimit(
      name: MembershipName,
      outside: boolean,
    ): Promise<{ kind: 'changed' | 'unchanged' | 'full' }> {
      const flag = agencySites.attr('outside_limit')
      const [current, max] = [attr('current_sites'), attr('max_sites')]
      const result = await transactParts(db, {
        member: agencySites.part.update(
          agencySiteKey(name),
          outside ? expr`SET ${flag} = ${true}` : expr`REMOVE ${flag}`,
          outside
            ? expr`attribute_exists(${agencySites.attr('PK')}) AND attribute_not_exists(${flag})`
            : expr`${flag} = ${true}`,
        ),
        agency: agencies.part.update(
          agencyKey(name.agency_id),
          expr`SET ${current} = ${current} + ${outside ? -1 : 1}`,
          outside ? expr`${current} > ${0}` : expr`${current} < ${max}`,
        ),
      })
      if (result.kind === 'done') return { kind: 'changed' }
      return { kind: result.by.has('member') ? 'unchanged' : 'full' }
    },

    listSites(
      agency_id: string,
      { limit = DEFAULT_PAGE_SIZE, after }: PageRequest = {},
    ): Promise<Page<AgencySite>> {
      const siteAttr = agencySites.attr
      return agencySites.query({
        key: expr`${siteAttr('PK')} = ${`AGENCY#${agency_id}`} AND begins_with(${siteAttr('SK')}, ${'SITE#'})`,
        limit,
        after,
      })
    },
  }
}

export type JoinTokenStore = ReturnType<typeof createJoinTokenStore>

/** The transaction in which a site joins uses a token up, see `joinParts`. */
export function createJoinTokenStore({ db, clock }: StoreDeps) {
  const joinTokens = entity(db, formBridgeTable, JoinTokenItem)
  const { attr } = joinTokens

  return {
    async create(
      token: Pick<JoinToken, 'agency_id' | 'token_hash' | 'role' | 'max_uses'>,
      lifetimeSeconds: number,
    ): Promise<JoinToken> {
      const { ttl, iso: expires_at } = expiresIn(clock, lifetimeSeconds)
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
      return joinTokens.get(joinTokenKey(name)).then(unexpired(clock))
    },

    list(
      agency_id: string,
      { limit = DEFAULT_PAGE_SIZE, after }: PageRequest = {},
    ): Promise<Page<JoinToken>> {
      return joinTokens.query({
        key: expr`${attr('PK')} = ${`AGENCY#${agency_id}`} AND begins_with(${attr('SK')}, ${'JOIN#'})`,
        filter: expr`${attr('ttl')} > ${epochSeconds(clock)}`,
        limit,
        after,
      })
    },

    revoke(name: JoinTokenName): Promise<boolean> {
      return conditionHeld(
        joinTokens.delete(joinTokenKey(name), expr`attribute_exists(${attr('PK')})`),
      )
    },
  }
}

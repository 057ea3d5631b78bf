/** Agencies and their sites. */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Page } from '@strongroom/kit/query-page'
import { isoNow } from '../expiry.ts'
import {
  type Agency,
  AgencyItem,
  agencyKey,
  AgencyKeyItem,
  agencyKeyKey,
  type AgencyStatus,
  agencyStatusKeysOf,
  type AgencySummary,
  AgencySummaryItem,
} from '../items/agency.ts'
import { type AgencySite, AgencySiteItem, agencySiteKey } from '../items/agency-site.ts'
import { formBridgeTable } from '../table.ts'
import { agencyJoin, type Joining, type JoinRefusal } from './agency-join.ts'
import { DEFAULT_LIMIT, type PageRequest, type StoreDeps } from './deps.ts'
import { createPlaces } from './places.ts'
import { requireFit } from './require-fit.ts'
import { settle } from './settle.ts'
import { CHANGED, whileItChanges } from './while-it-changes.ts'
import { written } from '@strongroom/kit/written'

export type NewAgency = Pick<
  Agency,
  'agency_id' | 'agency_name' | 'contact_email' | 'max_sites' | 'api_key_hash'
>

export type Joined = { joined: true } | { joined: false; refused: JoinRefusal }

export function createAgencies({ db, clock }: StoreDeps) {
  const agencies = entity(db, formBridgeTable, AgencyItem)
  const summaries = entity(db, formBridgeTable, AgencySummaryItem)
  const agencySites = entity(db, formBridgeTable, AgencySiteItem)
  const keys = entity(db, formBridgeTable, AgencyKeyItem)
  const places = createPlaces({ db })
  const { attr } = agencies
  const exists = expr`attribute_exists(${attr('PK')})`

  function newKeyPart(agency_id: string, api_key_hash: string) {
    return keys.part.put(
      { ...agencyKeyKey(api_key_hash), agency_id, created_at: isoNow(clock) },
      expr`attribute_not_exists(${keys.attr('PK')})`,
    )
  }

  return {
    /** Returns undefined if there is one of this id. */
    async create(agency: NewAgency): Promise<Agency | undefined> {
      const created_at = isoNow(clock)
      const item: Agency = {
        ...agency,
        ...agencyKey(agency.agency_id),
        ...agencyStatusKeysOf('active'),
        GSI1PK: `AGENCY_META#${agency.agency_id}`,
        GSI2SK: `${created_at}#${agency.agency_id}`,
        current_sites: 0,
        created_at,
        status: 'active',
      }
      const refusal = await settle(db, {
        agency: agencies.part.put(item, expr`attribute_not_exists(${attr('PK')})`),
        key: newKeyPart(agency.agency_id, agency.api_key_hash),
      })
      return refusal ? undefined : item
    },

    get(agency_id: string): Promise<Agency | undefined> {
      return agencies.get(agencyKey(agency_id))
    },

    /** The agency of a key: two consistent reads, and a key that was replaced is none. */
    async ofKey(api_key_hash: string): Promise<Agency | undefined> {
      const key = await keys.get(agencyKeyKey(api_key_hash))
      const agency = key && (await agencies.get(agencyKey(key.agency_id)))
      return agency?.api_key_hash === api_key_hash ? agency : undefined
    },

    /** Returns false if its key has changed since it was read. */
    async replaceKey(agency: Agency, api_key_hash: string): Promise<boolean> {
      requireFit(AgencyItem, agencyKey(agency.agency_id), { api_key_hash })
      const current = attr('api_key_hash')
      const refusal = await settle(db, {
        agency: agencies.part.update(
          agencyKey(agency.agency_id),
          expr`SET ${current} = ${api_key_hash}`,
          expr`${current} = ${agency.api_key_hash}`,
        ),
        oldKey: keys.part.delete(agencyKeyKey(agency.api_key_hash)),
        key: newKeyPart(agency.agency_id, api_key_hash),
      })
      return refusal === undefined
    },

    /** By the index, so a moment behind. */
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
      { limit = DEFAULT_LIMIT, after }: PageRequest = {},
    ): Promise<Page<AgencySummary>> {
      return summaries.query({
        index: 'GSI2',
        key: expr`${summaries.attr('GSI2PK')} = ${agencyStatusKeysOf(status).GSI2PK}`,
        newestFirst: true,
        limit,
        after,
      })
    },

    /** A limit below what it has closes it to new sites and takes none away. */
    async setLimit(agency_id: string, max_sites: number): Promise<boolean> {
      requireFit(AgencyItem, agencyKey(agency_id), { max_sites })
      const update = expr`SET ${attr('max_sites')} = ${max_sites}`
      return written(agencies.update(agencyKey(agency_id), update, exists))
    },

    setStatus(agency_id: string, status: AgencyStatus): Promise<boolean> {
      const { GSI1SK, GSI2PK } = agencyStatusKeysOf(status)
      const update = expr`SET ${attr('status')} = ${status}, ${attr('GSI1SK')} = ${GSI1SK}, ${attr('GSI2PK')} = ${GSI2PK}`
      return written(agencies.update(agencyKey(agency_id), update, exists))
    },

    async join(joining: Joining): Promise<Joined> {
      const { parts, refusedBy } = agencyJoin({ db, clock }, joining)
      const refusal = await settle(db, parts)
      const refused = refusal && refusedBy(refusal)
      return refused ? { joined: false, refused } : { joined: true }
    },

    /** Consistent: what an agency may do to a site depends on it. */
    async isMember(name: Pick<AgencySite, 'agency_id' | 'site_id'>): Promise<boolean> {
      return (await agencySites.get(agencySiteKey(name))) !== undefined
    },

    /** Gives its place back; false if it had none. */
    async leave(name: Pick<AgencySite, 'agency_id' | 'site_id'>): Promise<boolean> {
      return whileItChanges(async () => {
        const member = await agencySites.get(agencySiteKey(name))
        if (!member) return false
        return (await settle(db, places.leaving(member))) ? CHANGED : true
      })
    },

    /** Takes a site out of the limit, or back into it if there is room. */
    async setOutsideLimit(
      name: Pick<AgencySite, 'agency_id' | 'site_id'>,
      outside: boolean,
    ): Promise<'done' | 'unchanged' | 'full'> {
      const flag = agencySites.attr('outside_limit')
      const [current, max] = [attr('current_sites'), attr('max_sites')]
      const refusal = await settle(db, {
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
      if (!refusal) return 'done'
      return refusal.has('member') ? 'unchanged' : 'full'
    },

    sites(
      agency_id: string,
      { limit = DEFAULT_LIMIT, after }: PageRequest = {},
    ): Promise<Page<AgencySite>> {
      const of = agencySites.attr
      return agencySites.query({
        key: expr`${of('PK')} = ${`AGENCY#${agency_id}`} AND begins_with(${of('SK')}, ${'SITE#'})`,
        limit,
        after,
      })
    },

    /** By the index, so a moment behind. */
    async ofSite(site_id: string): Promise<AgencySite[]> {
      const of = agencySites.attr
      const { items } = await agencySites.query({
        index: 'GSI1',
        key: expr`${of('GSI1PK')} = ${`SITE#${site_id}`} AND begins_with(${of('GSI1SK')}, ${'AGENCY#'})`,
      })
      return items
    },
  }
}

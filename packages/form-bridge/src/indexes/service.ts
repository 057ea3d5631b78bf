/**
 * Compares what GSI1 says about a site or an agency with the table. Decisions are made from the table
 * only; the index is for lookups, and follows within seconds unless it is throttled.
 */
import type { AgencyStore } from '../agencies/store.ts'
import type { MembershipStore } from '../agencies/membership.ts'
import type { AgencyService } from '../agencies/service.ts'
import { apiKeyHash } from '../sites/item.ts'
import type { SiteAdmin } from '../sites/service.ts'
import type { SiteStore } from '../sites/store.ts'

export interface IndexEntry {
  name: string
  in_table: boolean
  in_index: boolean
}

export type IndexService = ReturnType<typeof createIndexService>

export function createIndexService(deps: {
  siteAdmin: Pick<SiteAdmin, 'requireSite'>
  agencyService: Pick<AgencyService, 'requireAgency'>
  sites: Pick<SiteStore, 'findActive' | 'listApiKeys'>
  agencies: Pick<AgencyStore, 'findActive'>
  memberships: Pick<MembershipStore, 'listBySite' | 'listBySiteFromIndex'>
}) {
  const { siteAdmin, agencyService, sites, agencies, memberships } = deps

  async function compareMemberships(site_id: string): Promise<IndexEntry[]> {
    const [indexed, stored] = await Promise.all([
      memberships.listBySiteFromIndex(site_id),
      memberships.listBySite(site_id),
    ])
    const inTable = new Set(stored.map(({ agency_id }) => agency_id))
    const inIndex = new Set(indexed.map(({ agency_id }) => agency_id))
    return [...new Set([...inTable, ...inIndex])].map((agency_id) => ({
      name: agency_id,
      in_table: inTable.has(agency_id),
      in_index: inIndex.has(agency_id),
    }))
  }

  return {
    async compareSite(site_id: string): Promise<IndexEntry[]> {
      const site = await siteAdmin.requireSite(site_id)
      const [active, keys, members] = await Promise.all([
        sites.findActive(site_id),
        sites.listApiKeys(site_id),
        compareMemberships(site_id),
      ])
      const isKeyListed = keys.some((key) => apiKeyHash(key) === site.api_key_hash)
      return [
        {
          name: 'active',
          in_table: site.status === 'active',
          in_index: active?.domain === site.domain,
        },
        { name: `key version ${site.key_version}`, in_table: true, in_index: isKeyListed },
        ...members,
      ]
    },

    async compareAgency(agency_id: string): Promise<IndexEntry[]> {
      const { status } = await agencyService.requireAgency(agency_id)
      const active = await agencies.findActive(agency_id)
      return [{ name: 'active', in_table: status === 'active', in_index: active !== undefined }]
    },
  }
}

/** Sites after the exchange: reading, listing, and their status. */
import { entity } from '@strongroom/kit/entity'
import { contains, expr, oneOf } from '@strongroom/kit/expression'
import type { Page } from '@strongroom/kit/query-page'
import { isLive, isoNow } from '../expiry.ts'
import { type ApiKey, ApiKeyItem } from '../items/api-key.ts'
import {
  type Site,
  type SiteEnvironment,
  SiteItem,
  siteKey,
  type SiteName,
  type SiteStatus,
  type SiteSummary,
  SiteSummaryItem,
  statusKeysOf,
} from '../items/site.ts'
import { DomainOwnerItem, domainOwnerKey } from '../items/site-names.ts'
import { formBridgeTable } from '../table.ts'
import { DEFAULT_LIMIT, type PageRequest, type StoreDeps } from './deps.ts'
import { createPlaces } from './places.ts'
import { requireFit } from './require-fit.ts'
import { settle } from './settle.ts'
import { CHANGED, whileItChanges } from './while-it-changes.ts'
import { written } from '@strongroom/kit/written'

export function createSites({ db, clock }: StoreDeps) {
  const sites = entity(db, formBridgeTable, SiteItem)
  const summaries = entity(db, formBridgeTable, SiteSummaryItem)
  const owners = entity(db, formBridgeTable, DomainOwnerItem)
  const apiKeys = entity(db, formBridgeTable, ApiKeyItem)
  const places = createPlaces({ db })
  const { attr } = sites

  function statusUpdate(to: SiteStatus) {
    const { GSI1SK, GSI2PK } = statusKeysOf(to)
    return expr`SET ${attr('status')} = ${to}, ${attr('GSI1SK')} = ${GSI1SK}, ${attr('GSI2PK')} = ${GSI2PK}`
  }

  return {
    get(name: SiteName): Promise<Site | undefined> {
      return sites.get(siteKey(name))
    },

    /** The site that a domain belongs to now. */
    async ofDomain(domain: string): Promise<Site | undefined> {
      const owner = await owners.get(domainOwnerKey(domain))
      return owner && sites.get(siteKey(owner))
    },

    /** All that a domain ever had, those that were disabled among them. */
    async allOfDomain(domain: string): Promise<Site[]> {
      const { items } = await sites.query({
        key: expr`${attr('PK')} = ${`SITE#${domain}`} AND begins_with(${attr('SK')}, ${'CREDS#'})`,
      })
      return items
    },

    /** By the index, so a moment behind; authentication does not use it. */
    async findActive(site_id: string): Promise<Site | undefined> {
      const { items } = await sites.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`SITE#${site_id}`} AND ${attr('GSI1SK')} = ${'ACTIVE'}`,
        limit: 1,
      })
      return items[0]
    },

    /** Newest first; `search` is part of a domain. */
    list(
      status: SiteStatus,
      { limit = DEFAULT_LIMIT, after, search }: PageRequest & { search?: string } = {},
    ): Promise<Page<SiteSummary>> {
      return summaries.query({
        index: 'GSI2',
        key: expr`${summaries.attr('GSI2PK')} = ${statusKeysOf(status).GSI2PK}`,
        ...(search && { filter: contains(summaries.attr('domain'), search) }),
        newestFirst: true,
        limit,
        after,
      })
    },

    /** By the index, so a moment behind. */
    async apiKeys(site_id: string): Promise<ApiKey[]> {
      const { items } = await apiKeys.query({
        index: 'GSI1',
        key: expr`${apiKeys.attr('GSI1PK')} = ${`SITE#${site_id}`} AND ${apiKeys.attr('GSI1SK')} = ${'API_KEY'}`,
      })
      return items.filter((item) => isLive(item, clock))
    },

    /** Notes requests that were admitted; false if there is no such site. Not needed at every one. */
    async touch(
      name: SiteName,
      { requests, remaining }: { requests: number; remaining: number },
    ): Promise<boolean> {
      requireFit(SiteItem, siteKey(name), {
        request_count: requests,
        rate_limit_remaining: remaining,
      })
      return written(
        sites.update(
          siteKey(name),
          expr`SET ${attr('last_seen')} = ${isoNow(clock)}, ${attr('rate_limit_remaining')} = ${remaining} ADD ${attr('request_count')} ${requests}`,
          expr`attribute_exists(${attr('PK')})`,
        ),
      )
    },

    /** Where its submissions go, sealed; undefined removes it. False if there is no such site. */
    setDestination(name: SiteName, destination: string | undefined): Promise<boolean> {
      const update = destination
        ? expr`SET ${attr('destination')} = ${destination}`
        : expr`REMOVE ${attr('destination')}`
      return written(sites.update(siteKey(name), update, expr`attribute_exists(${attr('PK')})`))
    },

    /** Somebody says that the site is still theirs; false if nothing was to be confirmed. */
    confirm(name: SiteName): Promise<boolean> {
      const since = attr('unconfirmed_since')
      return written(
        sites.update(siteKey(name), expr`REMOVE ${since}`, expr`attribute_exists(${since})`),
      )
    },

    /** What the site says of itself; telemetry with consent only, without it what was kept is deleted. */
    noteState(
      name: SiteName,
      { environment, telemetry }: { environment: SiteEnvironment; telemetry: Site['telemetry'] },
    ): Promise<boolean> {
      const kept = attr('telemetry')
      const change = telemetry ? expr`, ${kept} = ${telemetry}` : expr` REMOVE ${kept}`
      return written(
        sites.update(
          siteKey(name),
          expr`SET ${attr('environment')} = ${environment}, ${attr('last_seen')} = ${isoNow(clock)}${change}`,
          expr`attribute_exists(${attr('PK')})`,
        ),
      )
    },

    /** Active → suspended; false if it was not active. */
    suspend(name: SiteName): Promise<boolean> {
      return written(
        sites.update(
          siteKey(name),
          statusUpdate('suspended'),
          expr`${attr('status')} = ${'active'}`,
        ),
      )
    },

    /** Suspended → active; false if it was not suspended. */
    resume(name: SiteName): Promise<boolean> {
      return written(
        sites.update(
          siteKey(name),
          statusUpdate('active'),
          expr`${attr('status')} = ${'suspended'}`,
        ),
      )
    },

    /**
     * For ever; its domain may then be registered as a new site, and its places in agencies are
     * free again, all at once. False if it was disabled before.
     */
    async disable(name: SiteName): Promise<boolean> {
      const owned = owners.attr('site_id')
      return whileItChanges(async () => {
        // Before its places: whoever joins with it later changes its keys.
        const site = await sites.get(siteKey(name))
        if (!site || site.status === 'disabled') return false
        const members = await places.of(name.site_id)
        const refusal = await settle<string>(db, {
          site: sites.part.update(
            siteKey(name),
            statusUpdate('disabled'),
            expr`${oneOf(attr('status'), ['active', 'suspended'])} AND ${attr('key_version')} = ${site.key_version}`,
          ),
          owner: owners.part.delete(
            domainOwnerKey(name.domain),
            expr`attribute_not_exists(${owners.attr('PK')}) OR ${owned} = ${name.site_id}`,
          ),
          ...Object.assign({}, ...members.map((member) => places.leaving(member))),
        })
        if (!refusal) return true
        return refusal.has('owner') ? false : CHANGED
      })
    },
  }
}

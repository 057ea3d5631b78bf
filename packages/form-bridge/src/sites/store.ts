/** Sites after the exchange: read, list, change their status. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr, oneOf } from '@strongroom/kit/expression'
import type { Page, PageRequest } from '@strongroom/kit/paging'
import { CONFLICT, retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transactParts } from '@strongroom/kit/transact'
import { createMemberships } from '../agencies/membership.ts'
import { type Counted, countItems } from '../count-items.ts'
import { checkValues, DEFAULT_PAGE_SIZE, formBridgeTable, type StoreDeps } from '../tables.ts'
import { isoNow, isUnexpired } from '../time.ts'
import {
  type ApiKey,
  ApiKeyItem,
  DomainOwnerItem,
  domainOwnerKey,
  type Site,
  type SiteEnvironment,
  SiteItem,
  siteKey,
  type SiteName,
  type SiteStatus,
  siteStatusKeys,
  type SiteSummary,
  SiteSummaryItem,
} from './item.ts'

export type SiteStore = ReturnType<typeof createSiteStore>

export function createSiteStore({ db, clock }: StoreDeps) {
  const sites = entity(db, formBridgeTable, SiteItem)
  const summaries = entity(db, formBridgeTable, SiteSummaryItem)
  const owners = entity(db, formBridgeTable, DomainOwnerItem)
  const apiKeys = entity(db, formBridgeTable, ApiKeyItem)
  const memberships = createMemberships({ db })
  const { attr } = sites
  const exists = expr`attribute_exists(${attr('PK')})`
  const hasStatus = (status: SiteStatus) => expr`${attr('status')} = ${status}`

  function setStatus(status: SiteStatus) {
    const { GSI1SK, GSI2PK } = siteStatusKeys(status)
    return expr`SET ${attr('status')} = ${status}, ${attr('GSI1SK')} = ${GSI1SK}, ${attr('GSI2PK')} = ${GSI2PK}`
  }

  return {
    get(name: SiteName): Promise<Site | undefined> {
      return sites.get(siteKey(name))
    },

    /** The site that the domain belongs to now. */
    async findByDomain(domain: string): Promise<Site | undefined> {
      const owner = await owners.get(domainOwnerKey(domain))
      return owner && sites.get(siteKey(owner))
    },

    /** Reads GSI1: eventually consistent, so authentication does not use it. */
    async findActive(site_id: string): Promise<Site | undefined> {
      const { items } = await sites.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`SITE#${site_id}`} AND ${attr('GSI1SK')} = ${'ACTIVE'}`,
        limit: 1,
      })
      return items[0]
    },

    /** Newest first; from the one `before` this sort key on. Reads GSI2: eventually consistent. */
    list(
      status: SiteStatus,
      { limit = DEFAULT_PAGE_SIZE, after, before }: PageRequest & { before?: string } = {},
    ): Promise<Page<SiteSummary>> {
      const inStatus = expr`${summaries.attr('GSI2PK')} = ${siteStatusKeys(status).GSI2PK}`
      return summaries.query({
        index: 'GSI2',
        key: before ? expr`${inStatus} AND ${summaries.attr('GSI2SK')} < ${before}` : inStatus,
        newestFirst: true,
        limit,
        after,
      })
    },

    /** How many there are, up to `max`. Reads GSI2: eventually consistent. */
    count(status: SiteStatus, max: number): Promise<Counted> {
      const { GSI2PK } = siteStatusKeys(status)
      return countItems(db, expr`${summaries.attr('GSI2PK')} = ${GSI2PK}`, max)
    },

    /** Reads GSI1: eventually consistent. */
    async listApiKeys(site_id: string): Promise<ApiKey[]> {
      const { items } = await apiKeys.query({
        index: 'GSI1',
        key: expr`${apiKeys.attr('GSI1PK')} = ${`SITE#${site_id}`} AND ${apiKeys.attr('GSI1SK')} = ${'API_KEY'}`,
      })
      return items.filter((item) => isUnexpired(item, clock))
    },

    /** Adds to the request count; false if there is no such site. */
    async recordRequests(
      name: SiteName,
      { requests, remaining }: { requests: number; remaining: number },
    ): Promise<boolean> {
      checkValues(SiteItem, siteKey(name), {
        request_count: requests,
        rate_limit_remaining: remaining,
      })
      return conditionHeld(
        sites.update(
          siteKey(name),
          expr`SET ${attr('last_seen')} = ${isoNow(clock)}, ${attr('rate_limit_remaining')} = ${remaining} ADD ${attr('request_count')} ${requests}`,
          exists,
        ),
      )
    },

    /**
     * Sets the encrypted destination, or removes it; false if there is no such site, or the
     * `permission` refuses it.
     */
    async setDestination(
      name: SiteName,
      encrypted: string | undefined,
      permission?: TransactWriteItem,
    ): Promise<boolean> {
      const update = encrypted
        ? expr`SET ${attr('destination')} = ${encrypted}`
        : expr`REMOVE ${attr('destination')}`
      const site = sites.part.update(siteKey(name), update, exists)
      return (await transactParts(db, { site, ...(permission && { permission }) })).kind === 'done'
    },

    /** False if the site did not need a confirmation, or the `permission` refuses it. */
    async confirm(name: SiteName, permission?: TransactWriteItem): Promise<boolean> {
      const since = attr('unconfirmed_since')
      const isNeeded = expr`attribute_exists(${since})`
      const site = sites.part.update(siteKey(name), expr`REMOVE ${since}`, isNeeded)
      return (await transactParts(db, { site, ...(permission && { permission }) })).kind === 'done'
    },

    /** Without telemetry the stored one is deleted, because consent was withdrawn. */
    updateReportedState(
      name: SiteName,
      { environment, telemetry }: { environment: SiteEnvironment; telemetry: Site['telemetry'] },
    ): Promise<boolean> {
      const change = telemetry
        ? expr`, ${attr('telemetry')} = ${telemetry}`
        : expr` REMOVE ${attr('telemetry')}`
      return conditionHeld(
        sites.update(
          siteKey(name),
          expr`SET ${attr('environment')} = ${environment}, ${attr('last_seen')} = ${isoNow(clock)}${change}`,
          exists,
        ),
      )
    },

    /** False if the site was not active. */
    suspend(name: SiteName): Promise<boolean> {
      return conditionHeld(sites.update(siteKey(name), setStatus('suspended'), hasStatus('active')))
    },

    /** False if the site was not suspended. */
    resume(name: SiteName): Promise<boolean> {
      return conditionHeld(sites.update(siteKey(name), setStatus('active'), hasStatus('suspended')))
    },

    /**
     * Permanent. Frees the domain and all agency memberships in one transaction. With a
     * `key_version`, only while the site has those keys.
     */
    async disable(
      name: SiteName,
      required: { key_version?: number } = {},
    ): Promise<{ kind: 'disabled' | 'already_disabled' | 'keys_changed' }> {
      return retryOnConflict(
        async () => {
          // Read the site before its memberships: joining an agency changes key_version.
          const site = await sites.get(siteKey(name))
          if (!site || site.status === 'disabled') return { kind: 'already_disabled' }
          if (site.key_version !== (required.key_version ?? site.key_version)) {
            return { kind: 'keys_changed' }
          }
          const canDisable = expr`${oneOf(attr('status'), ['active', 'suspended'])} AND ${attr('key_version')} = ${site.key_version}`
          const isFreeOrOwn = expr`attribute_not_exists(${owners.attr('PK')}) OR ${owners.attr('site_id')} = ${name.site_id}`
          const result = await transactParts<string>(db, {
            site: sites.part.update(siteKey(name), setStatus('disabled'), canDisable),
            owner: owners.part.delete(domainOwnerKey(name.domain), isFreeOrOwn),
            ...memberships.leaveParts(await memberships.listBySite(name.site_id)),
          })
          if (result.kind === 'done') return { kind: 'disabled' }
          return result.by.has('owner') ? { kind: 'already_disabled' } : CONFLICT
        },
        { maxAttempts: MAX_ATTEMPTS },
      )
    },
  }
}

/** Each conflict means that another write succeeded, so a few attempts are enough. */
const MAX_ATTEMPTS = 20

/** What operators do to sites; the command line does the same on the store itself. */
import type { Page } from '@strongroom/kit/query-page'
import { formBridgeError } from '../errors.ts'
import type { Site, SiteStatus, SiteSummary } from '../items/site.ts'
import type { createAuthentication } from '../store/authentication.ts'
import type { PageRequest } from '../store/deps.ts'
import type { createPlaces } from '../store/places.ts'
import type { createSites } from '../store/sites.ts'
import type { createUpdateChecks } from '../store/update-checks.ts'

/** A site without its secrets. */
export interface SiteFacts {
  site_id: string
  domain: string
  status: SiteStatus
  environment: string
  created_at: string
  activated_at: string
  last_seen: string
  request_count: number
  key_version: number
  has_destination: boolean
  confirmation_needed: boolean
  agencies: string[]
  installed_version: string | null
}

export type SiteDesk = ReturnType<typeof createSiteDesk>

export function createSiteDesk(deps: {
  sites: ReturnType<typeof createSites>
  authentication: Pick<ReturnType<typeof createAuthentication>, 'siteOfId'>
  places: Pick<ReturnType<typeof createPlaces>, 'of'>
  checks: Pick<ReturnType<typeof createUpdateChecks>, 'current'>
}) {
  const { sites, authentication, places, checks } = deps

  async function existing(site_id: string): Promise<Site> {
    const site = await authentication.siteOfId(site_id)
    if (!site) throw formBridgeError('site_not_found')
    return site
  }

  async function factsOf(site: Site): Promise<SiteFacts> {
    const [members, version] = await Promise.all([
      places.of(site.site_id),
      checks.current(site.site_id),
    ])
    return {
      site_id: site.site_id,
      domain: site.domain,
      status: site.status,
      environment: site.environment ?? 'production',
      created_at: site.created_at,
      activated_at: site.activated_at,
      last_seen: site.last_seen,
      request_count: site.request_count,
      key_version: site.key_version,
      has_destination: site.destination !== undefined,
      confirmation_needed: site.unconfirmed_since !== undefined,
      agencies: members.map(({ agency_id }) => agency_id),
      installed_version: version?.current_version ?? null,
    }
  }

  async function changed(site_id: string, change: (site: Site) => Promise<boolean>) {
    const isChanged = await change(await existing(site_id))
    const facts = await factsOf(await existing(site_id))
    if (isChanged) return facts
    const { status, confirmation_needed } = facts
    throw formBridgeError('wrong_status', { data: { status, confirmation_needed } })
  }

  return {
    existing,
    list: (
      status: SiteStatus,
      page: PageRequest & { search?: string },
    ): Promise<Page<SiteSummary>> => sites.list(status, page),
    show: async (site_id: string) => factsOf(await existing(site_id)),
    suspend: (site_id: string) => changed(site_id, (site) => sites.suspend(site)),
    resume: (site_id: string) => changed(site_id, (site) => sites.resume(site)),
    disable: (site_id: string) => changed(site_id, (site) => sites.disable(site)),
    confirm: (site_id: string) => changed(site_id, (site) => sites.confirm(site)),
    setDestination: (site_id: string, sealed: string | undefined) =>
      changed(site_id, (site) => sites.setDestination(site, sealed)),
  }
}

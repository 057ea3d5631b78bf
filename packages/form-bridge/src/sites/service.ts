/** Sites: what a site does itself, and what operators and agencies do to it. */
import type { Page, PageRequest } from '@strongroom/kit/paging'
import type { AgencySite } from '../agencies/item.ts'
import type { MembershipStore } from '../agencies/membership.ts'
import type { AuthenticationStore } from '../authentication/store.ts'
import type { PlainKeys, SiteSecrets } from '../credentials/secrets.ts'
import type { CredentialStore } from '../credentials/store.ts'
import { formBridgeError } from '../errors.ts'
import type { LatestRelease } from '../releases/latest.ts'
import type { SiteVersion } from '../updates/item.ts'
import type { UpdateCheckStore } from '../updates/store.ts'
import type { Site, SiteEnvironment, SiteStatus, SiteSummary } from './item.ts'
import type { SiteStore } from './store.ts'
import type { SiteDetails } from './view.ts'

export interface Heartbeat {
  wp_version?: string | undefined
  php_version?: string | undefined
  environment?: SiteEnvironment | undefined
  telemetry: boolean
}

export interface RotatedKeys extends PlainKeys {
  key_version: number
  previous_valid_until: string | null
}

/** The slug of the plugin that sends heartbeats. */
const OWN_PLUGIN = 'form-bridge'

export type SiteService = ReturnType<typeof createSiteService>

/** Requests that a connected site sends about itself. */
export function createSiteService(deps: {
  sites: SiteStore
  memberships: MembershipStore
  credentials: CredentialStore
  siteSecrets: SiteSecrets
  latestRelease: LatestRelease
}) {
  const { sites, memberships, credentials, siteSecrets, latestRelease } = deps

  return {
    async findAgency({ site_id }: Site): Promise<string | undefined> {
      const [membership] = await memberships.listBySite(site_id)
      return membership?.agency_id
    },

    /** Returns the newest version of the plugin. */
    async recordHeartbeat(
      site: Site,
      { wp_version, php_version, environment, telemetry }: Heartbeat,
    ): Promise<string | undefined> {
      await sites.updateReportedState(site, {
        environment: environment ?? site.environment ?? 'production',
        telemetry: telemetry
          ? { ...(wp_version && { wp_version }), ...(php_version && { php_version }) }
          : undefined,
      })
      return latestRelease.findVersion(OWN_PLUGIN)
    },

    /** The previous key and secret stay valid for the grace period. */
    async rotateKeys(site: Site, graceSeconds: number): Promise<RotatedKeys> {
      const keys = await siteSecrets.issueKeys(site.site_id)
      const result = await credentials.rotate(site, keys.stored, graceSeconds)
      // The keys or the status changed after the site was read.
      if (result.kind === 'conflict') throw formBridgeError('changed_meanwhile')
      const { key_version, previous_valid_until = null } = result
      return { ...keys.plain, key_version, previous_valid_until }
    },

    async disconnect(site: Site): Promise<void> {
      // A rotation after the request was authenticated may have replaced its keys.
      const { kind } = await sites.disable(site, { key_version: site.key_version })
      if (kind === 'keys_changed') throw formBridgeError('changed_meanwhile')
      if (kind === 'already_disabled') throw formBridgeError('site_disabled')
    },
  }
}

export type SiteAdmin = ReturnType<typeof createSiteAdmin>

/** For operators and agencies. The command line uses it on the store, without a server. */
export function createSiteAdmin(deps: {
  sites: SiteStore
  authentication: Pick<AuthenticationStore, 'findSiteById'>
  memberships: Pick<MembershipStore, 'listBySite'>
  updateChecks: Pick<UpdateCheckStore, 'current'>
}) {
  const { sites, authentication, memberships, updateChecks } = deps

  async function requireSite(site_id: string): Promise<Site> {
    const site = await authentication.findSiteById(site_id)
    if (!site) throw formBridgeError('site_not_found')
    return site
  }

  async function get(site_id: string): Promise<SiteDetails> {
    const site = await requireSite(site_id)
    const [members, version] = await Promise.all([
      memberships.listBySite(site_id),
      updateChecks.current(site_id),
    ])
    return toSiteDetails(site, members, version)
  }

  /** `change` returns false if the status of the site does not allow it. */
  async function applyChange(
    site_id: string,
    change: (site: Site) => Promise<boolean>,
  ): Promise<SiteDetails> {
    const isChanged = await change(await requireSite(site_id))
    const details = await get(site_id)
    if (isChanged) return details
    const { status, confirmation_needed } = details
    throw formBridgeError('wrong_status', { data: { status, confirmation_needed } })
  }

  return {
    requireSite,
    get,

    list(status: SiteStatus, page: PageRequest & { search?: string }): Promise<Page<SiteSummary>> {
      return sites.list(status, page)
    },

    suspend: (site_id: string) => applyChange(site_id, (site) => sites.suspend(site)),
    resume: (site_id: string) => applyChange(site_id, (site) => sites.resume(site)),
    confirm: (site_id: string) => applyChange(site_id, (site) => sites.confirm(site)),
    disable: (site_id: string) =>
      applyChange(site_id, async (site) => (await sites.disable(site)).kind === 'disabled'),

    setDestination: (site_id: string, encrypted: string | undefined) =>
      applyChange(site_id, (site) => sites.setDestination(site, encrypted)),
  }
}

function toSiteDetails(
  site: Site,
  memberships: readonly AgencySite[],
  version: SiteVersion | undefined,
): SiteDetails {
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
    agencies: memberships.map(({ agency_id }) => agency_id),
    installed_version: version?.current_version ?? null,
  }
}

/** Sites: what a site does itself, and what operators and agencies do to it. */
import type { AgencySite } from '../agencies/item.ts'
import type { MembershipStore } from '../agencies/membership.ts'
import type { AgencyPermission } from '../agencies/service.ts'
import type { AuthenticationStore } from '../authentication/store.ts'
import type { SiteMoves } from '../credentials/move.ts'
import type { Destination, PlainKeys, SiteSecrets } from '../credentials/secrets.ts'
import type { CredentialStore } from '../credentials/store.ts'
import { formBridgeError } from '../errors.ts'
import type { LatestRelease } from '../releases/latest.ts'
import type { SiteVersion } from '../updates/item.ts'
import type { UpdateCheckStore } from '../updates/store.ts'
import { type ApiKey, apiKeyHash, type Site, type SiteEnvironment } from './item.ts'
import type { SiteStore } from './store.ts'
import type { ApiKeyLine, SiteDetails } from './view.ts'

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
  authentication: Pick<AuthenticationStore, 'findSiteById' | 'getApiKey'>
  memberships: Pick<MembershipStore, 'listBySite'>
  updateChecks: Pick<UpdateCheckStore, 'current'>
  siteMoves: Pick<SiteMoves, 'approve'>
  /** For sites without their own. */
  defaultDestination: Destination | undefined
}) {
  const { sites, authentication, memberships, updateChecks } = deps
  const { siteMoves, defaultDestination } = deps

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
    const has_default_destination = defaultDestination !== undefined
    return { ...toSiteDetails(site, members, version), has_default_destination }
  }

  /** `change` returns false if the status of the site or the `permission` does not allow it. */
  async function applyChange(
    site_id: string,
    change: (site: Site) => Promise<boolean>,
    permission?: AgencyPermission,
  ): Promise<SiteDetails> {
    const isChanged = await change(await requireSite(site_id))
    const details = await get(site_id)
    if (isChanged) return details
    await permission?.require()
    const { status, confirmation_needed } = details
    throw formBridgeError('wrong_status', { data: { status, confirmation_needed } })
  }

  return {
    requireSite,
    get,

    /** Newest first. The index may lag, so each key that it lists is read again from the table. */
    async listApiKeys(site_id: string): Promise<ApiKeyLine[]> {
      const site = await requireSite(site_id)
      const hashes = new Set([site.api_key_hash])
      for (const { PK } of await sites.listApiKeys(site_id)) hashes.add(apiKeyHash({ PK }))
      const keys = await Promise.all([...hashes].map((hash) => authentication.getApiKey(hash)))
      return keys
        .filter((key) => key !== undefined)
        .toSorted((a, b) => b.key_version - a.key_version)
        .map((key) => toApiKeyView(key, site))
    },

    /** For a site that has lost its secret. Returns until when it may move. */
    async approveMove(site_id: string, domain: string): Promise<string> {
      const site = await requireSite(site_id)
      const result = await siteMoves.approve(site, domain)
      if (result.kind === 'approved') return result.expires_at
      if (result.kind === 'domain_has_site') throw formBridgeError('domain_has_site')
      const { status, confirmation_needed } = await get(site_id)
      throw formBridgeError('wrong_status', { data: { status, confirmation_needed } })
    },

    suspend: (site_id: string) => applyChange(site_id, (site) => sites.suspend(site)),
    resume: (site_id: string) => applyChange(site_id, (site) => sites.resume(site)),
    confirm: (site_id: string, permission?: AgencyPermission) =>
      applyChange(site_id, (site) => sites.confirm(site, permission?.part), permission),
    disable: (site_id: string) =>
      applyChange(site_id, async (site) => (await sites.disable(site)).kind === 'disabled'),

    setDestination: (
      site_id: string,
      encrypted: string | undefined,
      permission?: AgencyPermission,
    ) =>
      applyChange(
        site_id,
        (site) => sites.setDestination(site, encrypted, permission?.part),
        permission,
      ),
  }
}

function toSiteDetails(
  site: Site,
  memberships: readonly AgencySite[],
  version: SiteVersion | undefined,
): Omit<SiteDetails, 'has_default_destination'> {
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

function toApiKeyView(key: ApiKey, site: Site): ApiKeyLine {
  const { key_version, created_at, last_used, expires_at = null } = key
  const isRevoked = key_version < site.oldest_key_version
  const state = isRevoked ? 'revoked' : key_version === site.key_version ? 'current' : 'grace'
  return { key_version, state, created_at, last_used, expires_at }
}

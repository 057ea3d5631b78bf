/** Issues credentials for a proved domain: to a new site, to its existing site, or to one that moves. */
import { ROLES_THAT_MAY } from '../agencies/item.ts'
import type { JoinRefusal, MembershipStore, NewMembership } from '../agencies/membership.ts'
import type { JoinTokenStore } from '../agencies/store.ts'
import type { Authenticated } from '../authentication/service.ts'
import type { AuthenticationStore } from '../authentication/store.ts'
import { formBridgeError } from '../errors.ts'
import type { Caller } from '../limits/caller.ts'
import type { ProofMethod, Registration } from '../registrations/item.ts'
import type { SecurityEventLog } from '../security/event-log.ts'
import { isStagingHost, type SiteAddress } from '../sites/address.ts'
import { type ApprovedMove, newSiteId, type Site } from '../sites/item.ts'
import type { SiteStore } from '../sites/store.ts'
import { isKey, sha256Hex } from './keys.ts'
import type { SiteMoves } from './move.ts'
import type { SiteSecrets } from './secrets.ts'
import type { CredentialStore } from './store.ts'

export interface Credentials {
  result: 'connected' | 'reconnected' | 'moved'
  site_id: string
  domain: string
  api_key: string
  webhook_secret: string
  proved_by: ProofMethod
  confirmation_needed: boolean
}

export interface ProvedDomain {
  address: SiteAddress
  proved_by: ProofMethod
  caller: Caller
  /** What the caller has of the site that it was before. */
  previous: PreviousKeys
}

interface PreviousKeys {
  api_key: string | undefined
  /** The site that signed the request. */
  signer: Authenticated | undefined
}

export type CredentialService = ReturnType<typeof createCredentialService>

export function createCredentialService(deps: {
  credentials: CredentialStore
  siteMoves: SiteMoves
  authentication: Pick<AuthenticationStore, 'findSiteByApiKey' | 'findSiteById'>
  sites: Pick<SiteStore, 'findByDomain'>
  memberships: Pick<MembershipStore, 'listBySite'>
  joinTokens: Pick<JoinTokenStore, 'get'>
  siteSecrets: Pick<SiteSecrets, 'issueKeys'>
  events: SecurityEventLog
  /** The first `rate_limit_remaining` of a new site. */
  initialRemaining: number
}) {
  const { credentials, siteMoves, authentication, sites, memberships, joinTokens } = deps
  const { siteSecrets, events, initialRemaining } = deps

  /** The active site that the previous keys belong to; undefined without keys. */
  async function findPreviousSite({ api_key, signer }: PreviousKeys): Promise<Site | undefined> {
    if (api_key === undefined) return signer && requireActive(signer.site)
    const known = isKey('live', api_key)
      ? await authentication.findSiteByApiKey(sha256Hex(api_key))
      : undefined
    const isOther = signer !== undefined && signer.site.site_id !== known?.site.site_id
    if (!known || isOther) throw formBridgeError('previous_key_invalid')
    return requireActive(signer?.site ?? known.site)
  }

  /** The proof of the new domain says nothing about the old one: only the current secret does. */
  function requireCanMove({ signer }: PreviousKeys): void {
    if (!signer) throw formBridgeError('signature_required')
    if (signer.inGrace) throw formBridgeError('keys_replaced')
  }

  /** Undefined if the registration has no join token, or the token was revoked or has expired. */
  async function findJoinToken({ agency_id, join_token_hash: token_hash }: Registration) {
    if (agency_id === undefined || token_hash === undefined) return undefined
    return joinTokens.get({ agency_id, token_hash })
  }

  async function newMembership(
    registration: Registration,
    { host }: SiteAddress,
  ): Promise<NewMembership | undefined> {
    if (registration.join_token_hash === undefined) return undefined
    const token = await findJoinToken(registration)
    if (!token) throw formBridgeError('join_token_invalid')
    return {
      agency_id: token.agency_id,
      role: token.role,
      join_token_hash: token.token_hash,
      ...(isStagingHost(host) && { outside_limit: true }),
    }
  }

  async function connectNewSite(
    registration: Registration,
    { address, proved_by }: ProvedDomain,
  ): Promise<Credentials> {
    const site_id = newSiteId()
    const { domain } = registration
    const keys = await siteSecrets.issueKeys(site_id)
    const result = await credentials.connect(registration, {
      site_id,
      rate_limit_remaining: initialRemaining,
      environment: registration.environment,
      ...keys.stored,
      agency: await newMembership(registration, address),
    })
    if (result.kind === 'refused') {
      // A concurrent exchange connected the domain. This registration is unused and can reconnect it.
      throw result.reason === 'domain'
        ? formBridgeError('changed_meanwhile')
        : refusedError(result.reason)
    }
    return {
      result: 'connected',
      site_id,
      domain,
      ...keys.plain,
      proved_by,
      confirmation_needed: false,
    }
  }

  async function reconnectSite(
    site: Site,
    registration: Registration,
    { address, proved_by, caller, previous }: ProvedDomain,
  ): Promise<Credentials> {
    requireActive(site)
    const { site_id, domain } = site
    const known = await findPreviousSite(previous)
    // The key of another site: either that site moves here, or a copy of its database is here.
    if (known && known.site_id !== site_id) throw formBridgeError('domain_has_site')
    const [members, token] = await Promise.all([
      memberships.listBySite(site_id),
      findJoinToken(registration),
    ])
    // Without the old key it may be another owner, who must not get the destination and the agency.
    const isUnknownToAgency = members.some(
      ({ agency_id, role }) =>
        agency_id !== token?.agency_id || !ROLES_THAT_MAY.confirm.includes(role),
    )
    const confirmed = known !== undefined || !(isUnknownToAgency || site.destination !== undefined)
    // An agency may confirm its sites, so an unconfirmed site cannot join one.
    const canJoin = confirmed && site.unconfirmed_since === undefined && members.length === 0
    const agency = canJoin ? await newMembership(registration, address) : undefined
    const keys = await siteSecrets.issueKeys(site_id)
    const result = await credentials.reconnect(registration, site, keys.stored, {
      confirmed,
      agency,
    })
    if (result.kind === 'refused') throw refusedError(result.reason)
    await events.record({
      event_type: 'suspicious_activity',
      reason: 'reconnected',
      caller,
      site: { site_id, domain },
      details: { confirmed },
    })
    return {
      result: 'reconnected',
      site_id,
      domain,
      ...keys.plain,
      proved_by,
      confirmation_needed: !confirmed || site.unconfirmed_since !== undefined,
    }
  }

  async function moveSite(
    site: Site,
    registration: Registration,
    { proved_by, caller }: ProvedDomain,
    approval?: ApprovedMove,
  ): Promise<Credentials> {
    const { site_id } = site
    const { domain } = registration
    const keys = await siteSecrets.issueKeys(site_id)
    const result = await siteMoves.move(registration, site, keys.stored, approval)
    if (result.kind === 'refused') throw refusedError(result.reason)
    await events.record({
      event_type: 'suspicious_activity',
      reason: 'moved',
      caller,
      site: { site_id, domain },
      details: { from: site.domain, approved: approval !== undefined },
    })
    return {
      result: 'moved',
      site_id,
      domain,
      ...keys.plain,
      proved_by,
      confirmation_needed: site.unconfirmed_since !== undefined,
    }
  }

  return {
    async connect(registration: Registration, proved: ProvedDomain): Promise<Credentials> {
      const owner = await sites.findByDomain(registration.domain)
      if (owner) return reconnectSite(owner, registration, proved)
      const known = await findPreviousSite(proved.previous)
      const approval = await siteMoves.findApproved(registration.domain)
      const approved = approval && (await authentication.findSiteById(approval.site_id))
      if (approved && (!known || known.site_id === approved.site_id)) {
        return moveSite(requireActive(approved), registration, proved, approval)
      }
      if (!known) return connectNewSite(registration, proved)
      requireCanMove(proved.previous)
      return moveSite(known, registration, proved)
    },
  }
}

function requireActive(site: Site): Site {
  if (site.status === 'suspended') throw formBridgeError('site_suspended')
  if (site.status === 'disabled') throw formBridgeError('site_disabled')
  return site
}

function refusedError(reason: 'registration' | 'site' | 'domain' | JoinRefusal) {
  switch (reason) {
    case 'agency_full':
    case 'agency_closed':
      return formBridgeError(reason)
    case 'join_token':
      return formBridgeError('join_token_invalid')
    case 'registration':
      return formBridgeError('registration_invalid')
    case 'domain':
      return formBridgeError('domain_has_site')
    case 'site':
    case 'already_member':
      return formBridgeError('changed_meanwhile')
  }
}

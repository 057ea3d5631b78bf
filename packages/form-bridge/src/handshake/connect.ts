/** What a proved domain gets: a new site, its old one with new keys, or a site that moves here. */
import { formBridgeError } from '../errors.ts'
import type { ProofMethod, Registration } from '../items/registration.ts'
import { newSiteId, type Site } from '../items/site.ts'
import { hashOf, isKey, newKey, newWebhookSecret } from '../keys/key-text.ts'
import type { KeptSecrets } from '../keys/kept-secrets.ts'
import type { Caller } from '../limits/client-ids.ts'
import type { Journal } from '../security/journal.ts'
import type { SiteAddress } from '../sites/domain.ts'
import { isTryingOut } from '../sites/environment.ts'
import type { createAuthentication } from '../store/authentication.ts'
import type { JoinRefusal } from '../store/agency-join.ts'
import type { createConnections, NewPlace } from '../store/connections.ts'
import type { createJoinTokens } from '../store/join-tokens.ts'
import type { createPlaces } from '../store/places.ts'
import type { createSites } from '../store/sites.ts'

export interface Credentials {
  result: 'connected' | 'reconnected' | 'moved'
  site_id: string
  domain: string
  api_key: string
  webhook_secret: string
  proved_by: ProofMethod
  confirmation_needed: boolean
}

interface Proved {
  address: SiteAddress
  proved_by: ProofMethod
  caller: Caller
  previous: string | undefined
}

export type Connect = (registration: Registration, proved: Proved) => Promise<Credentials>

export function createConnect(deps: {
  connections: ReturnType<typeof createConnections>
  authentication: Pick<ReturnType<typeof createAuthentication>, 'siteOfApiKey'>
  sites: Pick<ReturnType<typeof createSites>, 'ofDomain'>
  places: Pick<ReturnType<typeof createPlaces>, 'of'>
  joinTokens: Pick<ReturnType<typeof createJoinTokens>, 'get'>
  kept: Pick<KeptSecrets, 'sealWebhookSecret'>
  journal: Journal
  /** What a new site has left in its first window. */
  firstRemaining: number
}): Connect {
  const { connections, authentication, sites, places, joinTokens, kept, journal } = deps

  async function newKeys(site_id: string) {
    const [api_key, webhook_secret] = [newKey('live'), newWebhookSecret()]
    const sealed = await kept.sealWebhookSecret(site_id, webhook_secret)
    return {
      shown: { api_key, webhook_secret },
      stored: { api_key_hash: hashOf(api_key), webhook_secret: sealed },
    }
  }

  /** The site whose key the caller had before, active or not. */
  async function previousSite(previous: string): Promise<Site> {
    const known = isKey('live', previous)
      ? await authentication.siteOfApiKey(hashOf(previous))
      : undefined
    if (!known) throw formBridgeError('previous_key_invalid')
    requireActive(known.site)
    return known.site
  }

  /** The token by which it was registered, unless it was revoked since, or has expired. */
  async function tokenOf({ agency_id, join_token_hash: token_hash }: Registration) {
    if (agency_id === undefined || token_hash === undefined) return undefined
    return joinTokens.get({ agency_id, token_hash })
  }

  /** Its place in the agency that let it in, spent in the same transaction. */
  async function agencyOf(registration: Registration, { host }: SiteAddress) {
    if (registration.join_token_hash === undefined) return undefined
    const token = await tokenOf(registration)
    if (!token) throw formBridgeError('join_token_invalid')
    const place: NewPlace = {
      agency_id: token.agency_id,
      role: token.role,
      join_token_hash: token.token_hash,
      ...(isTryingOut(host) && { outside_limit: true }),
    }
    return place
  }

  async function asNew(registration: Registration, { address, proved_by }: Proved) {
    const site_id = newSiteId()
    const { shown, stored } = await newKeys(site_id)
    const agency = await agencyOf(registration, address)
    const made = await connections.connect(registration, {
      site_id,
      rate_limit_remaining: deps.firstRemaining,
      environment: registration.environment,
      ...stored,
      ...(agency && { agency }),
    })
    const { domain } = registration
    if (made.connected) {
      const confirmation_needed = false
      return {
        result: 'connected',
        site_id,
        domain,
        ...shown,
        proved_by,
        confirmation_needed,
      } as const
    }
    // Who was faster has made a site of the domain; this registration is unspent and reconnects it.
    throw made.refused === 'domain'
      ? formBridgeError('changed_meanwhile')
      : refusedChange(made.refused)
  }

  async function again(site: Site, registration: Registration, proved: Proved) {
    requireActive(site)
    const { proved_by, caller, previous } = proved
    // The key of another site: it was to move here, or a copy of its database came here.
    if (previous !== undefined && (await previousSite(previous)).site_id !== site.site_id) {
      throw formBridgeError('domain_has_site')
    }
    const { site_id, domain } = site
    const [members, token] = await Promise.all([places.of(site_id), tokenOf(registration)])
    // Without the old key somebody must say that destination and agency still go with the domain.
    const isOthers = members.some(({ agency_id }) => agency_id !== token?.agency_id)
    const confirmed = previous !== undefined || !(isOthers || site.destination !== undefined)
    // Who is in an agency may confirm: what is to be confirmed by others comes first.
    const mayJoin = confirmed && site.unconfirmed_since === undefined && members.length === 0
    const agency = mayJoin ? await agencyOf(registration, proved.address) : undefined
    const { shown, stored } = await newKeys(site_id)
    const done = await connections.reconnect(registration, site, stored, { confirmed, agency })
    if (!done.connected) throw refusedChange(done.refused)
    const details = { confirmed }
    await journal.note({
      event_type: 'suspicious_activity',
      reason: 'reconnected',
      caller,
      site: { site_id, domain },
      details,
    })
    const confirmation_needed = !confirmed || site.unconfirmed_since !== undefined
    return {
      result: 'reconnected',
      site_id,
      domain,
      ...shown,
      proved_by,
      confirmation_needed,
    } as const
  }

  async function moved(site: Site, registration: Registration, { proved_by, caller }: Proved) {
    const { site_id } = site
    const { domain } = registration
    const { shown, stored } = await newKeys(site_id)
    const done = await connections.move(registration, site, stored)
    if (!done.moved) throw refusedChange(done.refused)
    const details = { from: site.domain }
    await journal.note({
      event_type: 'suspicious_activity',
      reason: 'moved',
      caller,
      site: { site_id, domain },
      details,
    })
    const confirmation_needed = site.unconfirmed_since !== undefined
    return { result: 'moved', site_id, domain, ...shown, proved_by, confirmation_needed } as const
  }

  return async (registration, proved) => {
    const owner = await sites.ofDomain(registration.domain)
    if (owner) return again(owner, registration, proved)
    if (proved.previous === undefined) return asNew(registration, proved)
    return moved(await previousSite(proved.previous), registration, proved)
  }
}

function requireActive({ status }: Pick<Site, 'status'>): void {
  if (status === 'suspended') throw formBridgeError('site_suspended')
  if (status === 'disabled') throw formBridgeError('site_disabled')
}

function refusedChange(refused: 'registration' | 'site' | 'domain' | JoinRefusal) {
  switch (refused) {
    case 'agency_full':
    case 'agency_closed':
      return formBridgeError(refused)
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

/**
 * What a proved registration does: it becomes a site, or gives new keys to the site that its domain
 * has, or moves a site to its domain. Each is one transaction, so there is never half a site.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { type Entity, entity } from '@strongroom/kit/entity'
import { all, expr, type Expression } from '@strongroom/kit/expression'
import { isoNow } from '../expiry.ts'
import { type AgencySite, AgencySiteItem, agencySiteKey } from '../items/agency-site.ts'
import { ApiKeyItem, apiKeyKey } from '../items/api-key.ts'
import { type Registration, RegistrationItem, registrationKey } from '../items/registration.ts'
import { type Site, type SiteEnvironment, SiteItem, siteKey, statusKeysOf } from '../items/site.ts'
import { DomainOwnerItem, domainOwnerKey, SiteIdItem, siteIdKey } from '../items/site-names.ts'
import { formBridgeTable } from '../table.ts'
import { agencyJoin, type JoinRefusal } from './agency-join.ts'
import { apiKeyParts, isUnchanged, type NewKeys } from './new-keys.ts'
import type { StoreDeps } from './deps.ts'
import { createPlaces } from './places.ts'
import { requireFit } from './require-fit.ts'
import { settle } from './settle.ts'
import { CHANGED, whileItChanges } from './while-it-changes.ts'

/** The registration as its owner names it: the hash of the temporary key must be the stored one. */
export type Claim = Pick<Registration, 'domain' | 'registration_id' | 'temp_key'>

/** A place in an agency, and the token that is spent for it. */
export type NewPlace = Pick<AgencySite, 'agency_id' | 'role' | 'outside_limit'> & {
  join_token_hash?: string
}

export interface NewSite extends NewKeys {
  site_id: string
  rate_limit_remaining: number
  environment?: SiteEnvironment | undefined
  agency?: NewPlace
}

export type Connected =
  | { connected: true; site: Site }
  /** `registration`: not pending, expired, or another temporary key. `domain`: it has a site. */
  | { connected: false; refused: 'registration' | 'domain' | JoinRefusal }

export type Reconnected =
  | { connected: true }
  /** `site`: its keys or its status have changed since it was read. */
  | { connected: false; refused: 'registration' | 'site' | JoinRefusal }

export type Moved =
  | { moved: true; site: Site }
  | { moved: false; refused: 'registration' | 'domain' | 'site' }

export function createConnections({ db, clock }: StoreDeps) {
  const registrations = entity(db, formBridgeTable, RegistrationItem)
  const sites = entity(db, formBridgeTable, SiteItem)
  const siteIds = entity(db, formBridgeTable, SiteIdItem)
  const owners = entity(db, formBridgeTable, DomainOwnerItem)
  const apiKeys = entity(db, formBridgeTable, ApiKeyItem)
  const agencySites = entity(db, formBridgeTable, AgencySiteItem)
  const newKeys = apiKeyParts({ db, clock })
  const places = createPlaces({ db })
  const { attr } = sites

  /** The registration is pending, its hour is not over, and the claimant has its key: once. */
  function claimPart(claim: Claim): TransactWriteItem {
    const of = registrations.attr
    return registrations.part.update(
      registrationKey(claim),
      expr`SET ${of('status')} = ${'active'}, ${of('GSI1SK')} = ${'STATUS#active'} REMOVE ${of('GSI2PK')}, ${of('GSI2SK')}`,
      expr`${of('status')} = ${'pending'} AND ${of('expires_at')} > ${isoNow(clock)} AND ${of('temp_key')} = ${claim.temp_key}`,
    )
  }

  function memberPart(name: Pick<AgencySite, 'agency_id' | 'site_id'>, domain: string) {
    const of = agencySites.attr
    return agencySites.part.update(
      agencySiteKey(name),
      expr`SET ${of('domain')} = ${domain}`,
      expr`attribute_exists(${of('PK')})`,
    )
  }

  return {
    /** Registration → site, with credentials, lookups, and a place in the agency if one is named. */
    async connect(claim: Claim, { agency, ...given }: NewSite): Promise<Connected> {
      const { domain } = claim
      const { site_id, api_key_hash } = given
      const now = isoNow(clock)
      const site: Site = {
        ...given,
        ...siteKey({ domain, site_id }),
        ...statusKeysOf('active'),
        GSI1PK: `SITE#${site_id}`,
        GSI2SK: `${now}#${site_id}`,
        domain,
        status: 'active',
        created_at: now,
        activated_at: now,
        last_seen: now,
        request_count: 0,
        key_version: 1,
        oldest_key_version: 1,
      }
      const joining = agency && agencyJoin({ db, clock }, { ...agency, site_id, domain })
      const refusal = await settle(db, {
        registration: claimPart(claim),
        domain: owners.part.put(
          { ...domainOwnerKey(domain), domain, site_id, created_at: now },
          expr`attribute_not_exists(${owners.attr('PK')})`,
        ),
        site: sites.part.put(site, expr`attribute_not_exists(${attr('PK')})`),
        siteId: siteIds.part.put(
          { ...siteIdKey(site_id), site_id, domain, created_at: now },
          expr`attribute_not_exists(${siteIds.attr('PK')})`,
        ),
        apiKey: newKeys.part(site, api_key_hash, 1),
        ...joining?.parts,
      })
      if (!refusal) return { connected: true, site }
      if (refusal.has('registration')) return { connected: false, refused: 'registration' }
      if (refusal.has('domain')) return { connected: false, refused: 'domain' }
      const refused = joining?.refusedBy(refusal)
      if (refused) return { connected: false, refused }
      throw new Error('Cannot connect a site: its new id or key is taken, so it was not random')
    },

    /**
     * New keys for the site of a domain that was proved again. All older keys end at once. Unless it
     * is confirmed, what the site had from others waits until somebody says that it still is theirs.
     * With a place in an agency if one is named.
     */
    async reconnect(
      claim: Claim,
      site: Site,
      keys: NewKeys,
      { confirmed = true, agency }: { confirmed?: boolean; agency?: NewPlace | undefined } = {},
    ): Promise<Reconnected> {
      const unconfirmed = confirmed
        ? expr``
        : expr`, ${attr('unconfirmed_since')} = ${isoNow(clock)}`
      requireFit(SiteItem, siteKey(site), keys)
      const { site_id, domain } = site
      const joining = agency && agencyJoin({ db, clock }, { ...agency, site_id, domain })
      const key_version = site.key_version + 1
      const refusal = await settle<string>(db, {
        registration: claimPart(claim),
        owner: owners.part.check(
          domainOwnerKey(claim.domain),
          expr`${owners.attr('site_id')} = ${site.site_id}`,
        ),
        site: sites.part.update(
          siteKey(site),
          expr`SET ${attr('api_key_hash')} = ${keys.api_key_hash}, ${attr('webhook_secret')} = ${keys.webhook_secret}, ${attr('key_version')} = ${key_version}, ${attr('oldest_key_version')} = ${key_version}, ${attr('activated_at')} = ${isoNow(clock)}${unconfirmed} REMOVE ${attr('previous_webhook_secret')}, ${attr('previous_valid_until')}`,
          isUnchanged(sites, site),
        ),
        oldKey: apiKeys.part.delete(apiKeyKey(site.api_key_hash)),
        apiKey: newKeys.part(site, keys.api_key_hash, key_version),
        ...joining?.parts,
      })
      if (!refusal) return { connected: true }
      if (refusal.has('registration')) return { connected: false, refused: 'registration' }
      return { connected: false, refused: joining?.refusedBy(refusal) ?? 'site' }
    },

    /**
     * Takes a site to the domain of the registration, with new keys. Whoever calls this knows that
     * the claimant has the site's old key: the proof of the new domain says nothing of the old one.
     * All else that it has moves along, its places in agencies too, as it is when it moves.
     */
    async move(claim: Claim, read: Site, keys: NewKeys): Promise<Moved> {
      const { domain } = claim
      const { site_id } = read
      // It has a site, this one: a reconnection.
      if (domain === read.domain) return { moved: false, refused: 'domain' }
      return whileItChanges(async () => {
        const [site, members] = await Promise.all([sites.get(siteKey(read)), places.of(site_id)])
        const isSame = site?.key_version === read.key_version && site.status === 'active'
        if (!isSame) return { moved: false, refused: 'site' } as const
        const now = isoNow(clock)
        const moved: Site = {
          ...site,
          ...siteKey({ domain, site_id }),
          ...keys,
          domain,
          activated_at: now,
          key_version: site.key_version + 1,
          oldest_key_version: site.key_version + 1,
          previous_webhook_secret: undefined,
          previous_valid_until: undefined,
        }
        const refusal = await settle<string>(db, {
          registration: claimPart(claim),
          domain: owners.part.put(
            { ...domainOwnerKey(domain), domain, site_id, created_at: now },
            expr`attribute_not_exists(${owners.attr('PK')})`,
          ),
          site: sites.part.delete(siteKey(site), isAsRead(sites, site)),
          oldDomain: owners.part.delete(domainOwnerKey(site.domain)),
          moved: sites.part.put(moved),
          siteId: siteIds.part.put({
            ...siteIdKey(site_id),
            site_id,
            domain,
            created_at: site.created_at,
          }),
          oldKey: apiKeys.part.delete(apiKeyKey(site.api_key_hash)),
          apiKey: newKeys.part(moved, keys.api_key_hash, moved.key_version),
          ...Object.fromEntries(
            members.map((member) => [member.agency_id, memberPart(member, domain)]),
          ),
        })
        if (!refusal) return { moved: true, site: moved } as const
        const refused = (['registration', 'domain'] as const).find((part) => refusal.has(part))
        return refused ? { moved: false, refused } : CHANGED
      })
    },
  }
}

/** Nothing of the site has changed since it was read. */
function isAsRead({ attr }: Entity<Site, unknown>, site: Site): Expression | undefined {
  const names = SiteItem.keyof().options.filter((name) => name !== 'PK' && name !== 'SK')
  return all(
    ...names.map((name) =>
      site[name] === undefined
        ? expr`attribute_not_exists(${attr(name)})`
        : expr`${attr(name)} = ${site[name]}`,
    ),
  )
}

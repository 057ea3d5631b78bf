/**
 * Transactions that issue keys: connect a new site, reconnect the site of a domain, rotate the keys
 * of a site. Each writes everything or nothing. `move.ts` has the fourth.
 */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { type Entity, entity } from '@strongroom/kit/entity'
import { expr, type Expression } from '@strongroom/kit/expression'
import { transactParts } from '@strongroom/kit/transact'
import { joinParts, type JoinRefusal, type NewMembership } from '../agencies/membership.ts'
import { type Registration, RegistrationItem, registrationKey } from '../registrations/item.ts'
import {
  ApiKeyItem,
  apiKeyKey,
  DomainOwnerItem,
  domainOwnerKey,
  type Site,
  type SiteEnvironment,
  SiteIdItem,
  siteIdKey,
  SiteItem,
  siteKey,
  type SiteName,
  siteStatusKeys,
} from '../sites/item.ts'
import { checkValues, formBridgeTable, type StoreDeps } from '../tables.ts'
import { expiresIn, isoNow } from '../time.ts'
import type { StoredKeys } from './secrets.ts'

/** The hash of the temporary key must match the stored one. */
export type RegistrationRef = Pick<Registration, 'domain' | 'registration_id' | 'temp_key'>

export interface NewSite extends StoredKeys {
  site_id: string
  rate_limit_remaining: number
  environment?: SiteEnvironment | undefined
  agency?: NewMembership | undefined
}

export type ConnectOutcome =
  | { kind: 'connected'; site: Site }
  /** `registration`: not pending, expired, or another temporary key. `domain`: it has a site. */
  | { kind: 'refused'; reason: 'registration' | 'domain' | JoinRefusal }

export type ReconnectOutcome =
  | { kind: 'reconnected' }
  /** `site`: its keys or its status changed after it was read. */
  | { kind: 'refused'; reason: 'registration' | 'site' | JoinRefusal }

export type RotateOutcome =
  | { kind: 'rotated'; key_version: number; previous_valid_until?: string }
  /** The keys or the status changed after the site was read. */
  | { kind: 'conflict' }

/** Parts of every transaction that issues keys. */
export function credentialParts({ db, clock }: StoreDeps) {
  const registrations = entity(db, formBridgeTable, RegistrationItem)
  const owners = entity(db, formBridgeTable, DomainOwnerItem)
  const apiKeys = entity(db, formBridgeTable, ApiKeyItem)

  return {
    /** Uses up a registration that is pending and unexpired. */
    claimRegistration(registration: RegistrationRef): TransactWriteItem {
      const { attr } = registrations
      return registrations.part.update(
        registrationKey(registration),
        expr`SET ${attr('status')} = ${'active'}, ${attr('GSI1SK')} = ${'STATUS#active'} REMOVE ${attr('GSI2PK')}, ${attr('GSI2SK')}`,
        expr`${attr('status')} = ${'pending'} AND ${attr('expires_at')} > ${isoNow(clock)} AND ${attr('temp_key')} = ${registration.temp_key}`,
      )
    },

    claimDomain({ domain, site_id }: SiteName, created_at: string): TransactWriteItem {
      return owners.part.put(
        { ...domainOwnerKey(domain), domain, site_id, created_at },
        expr`attribute_not_exists(${owners.attr('PK')})`,
      )
    },

    addApiKey(
      { site_id, domain }: SiteName,
      api_key_hash: string,
      key_version: number,
    ): TransactWriteItem {
      const now = isoNow(clock)
      return apiKeys.part.put(
        {
          ...apiKeyKey(api_key_hash),
          GSI1PK: `SITE#${site_id}`,
          GSI1SK: 'API_KEY',
          site_id,
          domain,
          created_at: now,
          last_used: now,
          key_version,
        },
        expr`attribute_not_exists(${apiKeys.attr('PK')})`,
      )
    },
  }
}

export type CredentialStore = ReturnType<typeof createCredentialStore>

export function createCredentialStore({ db, clock }: StoreDeps) {
  const sites = entity(db, formBridgeTable, SiteItem)
  const siteIds = entity(db, formBridgeTable, SiteIdItem)
  const owners = entity(db, formBridgeTable, DomainOwnerItem)
  const apiKeys = entity(db, formBridgeTable, ApiKeyItem)
  const parts = credentialParts({ db, clock })
  const { attr } = sites

  /** The old key and the old secret stay valid for the grace period. */
  function expireOldKeys(site: Site, graceSeconds: number) {
    const { ttl, iso: previous_valid_until } = expiresIn(clock, graceSeconds)
    checkValues(ApiKeyItem, apiKeyKey(site.api_key_hash), { ttl })
    return {
      previous_valid_until,
      siteChange: expr`${attr('previous_webhook_secret')} = ${site.webhook_secret}, ${attr('previous_valid_until')} = ${previous_valid_until}`,
      oldKey: apiKeys.part.update(
        apiKeyKey(site.api_key_hash),
        expr`SET ${apiKeys.attr('expires_at')} = ${previous_valid_until}, ${apiKeys.attr('ttl')} = ${ttl}`,
        expr`attribute_exists(${apiKeys.attr('PK')})`,
      ),
    }
  }

  /** All old keys, including those in a grace period. */
  function revokeOldKeys(site: Site, key_version: number) {
    return {
      previous_valid_until: undefined,
      siteChange: expr`${attr('oldest_key_version')} = ${key_version} REMOVE ${attr('previous_webhook_secret')}, ${attr('previous_valid_until')}`,
      oldKey: apiKeys.part.delete(apiKeyKey(site.api_key_hash)),
    }
  }

  return {
    /** Creates the site of a registration, as a member of an agency if one is given. */
    async connect(
      registration: RegistrationRef,
      { agency, ...fields }: NewSite,
    ): Promise<ConnectOutcome> {
      const { domain } = registration
      const { site_id, api_key_hash } = fields
      const now = isoNow(clock)
      const site: Site = {
        ...fields,
        ...siteKey({ domain, site_id }),
        ...siteStatusKeys('active'),
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
      const join = agency && joinParts({ db, clock }, site, agency)
      const result = await transactParts<string>(db, {
        registration: parts.claimRegistration(registration),
        domain: parts.claimDomain(site, now),
        site: sites.part.put(site, expr`attribute_not_exists(${attr('PK')})`),
        siteId: siteIds.part.put(
          { ...siteIdKey(site_id), site_id, domain, created_at: now },
          expr`attribute_not_exists(${siteIds.attr('PK')})`,
        ),
        apiKey: parts.addApiKey(site, api_key_hash, 1),
        ...join?.parts,
      })
      if (result.kind === 'done') return { kind: 'connected', site }
      if (result.by.has('registration')) return { kind: 'refused', reason: 'registration' }
      if (result.by.has('domain')) return { kind: 'refused', reason: 'domain' }
      const reason = join?.refusal(result.by)
      if (reason) return { kind: 'refused', reason }
      throw new Error('Cannot connect the site: its new random id or key already exists')
    },

    /**
     * Issues new keys to the site of a domain that was proved again, and revokes all older keys.
     * Unless `confirmed`, an operator or the agency of the site must confirm it.
     */
    async reconnect(
      registration: RegistrationRef,
      site: Site,
      keys: StoredKeys,
      {
        confirmed = true,
        agency,
      }: { confirmed?: boolean; agency?: NewMembership | undefined } = {},
    ): Promise<ReconnectOutcome> {
      checkValues(SiteItem, siteKey(site), keys)
      const now = isoNow(clock)
      const unconfirmed = confirmed ? expr`` : expr`, ${attr('unconfirmed_since')} = ${now}`
      const key_version = site.key_version + 1
      const join = agency && joinParts({ db, clock }, site, agency)
      const result = await transactParts<string>(db, {
        registration: parts.claimRegistration(registration),
        owner: owners.part.check(
          domainOwnerKey(registration.domain),
          expr`${owners.attr('site_id')} = ${site.site_id}`,
        ),
        site: sites.part.update(
          siteKey(site),
          expr`SET ${attr('api_key_hash')} = ${keys.api_key_hash}, ${attr('webhook_secret')} = ${keys.webhook_secret}, ${attr('key_version')} = ${key_version}, ${attr('oldest_key_version')} = ${key_version}, ${attr('activated_at')} = ${now}${unconfirmed} REMOVE ${attr('previous_webhook_secret')}, ${attr('previous_valid_until')}`,
          isActiveWithSameKeys(sites, site),
        ),
        oldKey: apiKeys.part.delete(apiKeyKey(site.api_key_hash)),
        apiKey: parts.addApiKey(site, keys.api_key_hash, key_version),
        ...join?.parts,
      })
      if (result.kind === 'done') return { kind: 'reconnected' }
      if (result.by.has('registration')) return { kind: 'refused', reason: 'registration' }
      return { kind: 'refused', reason: join?.refusal(result.by) ?? 'site' }
    },

    async rotate(site: Site, keys: StoredKeys, graceSeconds: number): Promise<RotateOutcome> {
      checkValues(SiteItem, siteKey(site), keys)
      const key_version = site.key_version + 1
      const { siteChange, oldKey, previous_valid_until } =
        graceSeconds > 0 ? expireOldKeys(site, graceSeconds) : revokeOldKeys(site, key_version)
      const result = await transactParts(db, {
        site: sites.part.update(
          siteKey(site),
          expr`SET ${attr('api_key_hash')} = ${keys.api_key_hash}, ${attr('webhook_secret')} = ${keys.webhook_secret}, ${attr('key_version')} = ${key_version}, ${siteChange}`,
          isActiveWithSameKeys(sites, site),
        ),
        oldKey,
        apiKey: parts.addApiKey(site, keys.api_key_hash, key_version),
      })
      if (result.kind === 'refused') return { kind: 'conflict' }
      return { kind: 'rotated', key_version, ...(previous_valid_until && { previous_valid_until }) }
    },
  }
}

function isActiveWithSameKeys({ attr }: Entity<Site, unknown>, { key_version }: Site): Expression {
  return expr`${attr('key_version')} = ${key_version} AND ${attr('status')} = ${'active'}`
}

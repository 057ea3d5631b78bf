/** Moves a site to another domain, with new keys and everything else that it has. */
import { type Entity, entity } from '@strongroom/kit/entity'
import { all, expr, type Expression } from '@strongroom/kit/expression'
import { CONFLICT, retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transactParts } from '@strongroom/kit/transact'
import { AgencySiteItem, agencySiteKey, type MembershipName } from '../agencies/item.ts'
import { createMemberships } from '../agencies/membership.ts'
import {
  ApiKeyItem,
  apiKeyKey,
  DomainOwnerItem,
  domainOwnerKey,
  type Site,
  SiteIdItem,
  siteIdKey,
  SiteItem,
  siteKey,
} from '../sites/item.ts'
import { formBridgeTable, type StoreDeps } from '../tables.ts'
import { isoNow } from '../time.ts'
import type { StoredKeys } from './secrets.ts'
import { credentialParts, type RegistrationRef } from './store.ts'

export type MoveOutcome =
  | { kind: 'moved'; site: Site }
  /** As for `connect` and `reconnect`. */
  | { kind: 'refused'; reason: 'registration' | 'domain' | 'site' }

/** Each conflict means that another write succeeded, so a few attempts are enough. */
const MAX_ATTEMPTS = 20

export type SiteMoves = ReturnType<typeof createSiteMoves>

export function createSiteMoves({ db, clock }: StoreDeps) {
  const sites = entity(db, formBridgeTable, SiteItem)
  const siteIds = entity(db, formBridgeTable, SiteIdItem)
  const owners = entity(db, formBridgeTable, DomainOwnerItem)
  const apiKeys = entity(db, formBridgeTable, ApiKeyItem)
  const agencySites = entity(db, formBridgeTable, AgencySiteItem)
  const memberships = createMemberships({ db })
  const parts = credentialParts({ db, clock })

  function memberPart(name: MembershipName, domain: string) {
    const { attr } = agencySites
    return agencySites.part.update(
      agencySiteKey(name),
      expr`SET ${attr('domain')} = ${domain}`,
      expr`attribute_exists(${attr('PK')})`,
    )
  }

  return {
    /**
     * The caller must have checked that the request is signed with the current secret of the site,
     * because the proof of the new domain says nothing about the old one.
     */
    async move(registration: RegistrationRef, read: Site, keys: StoredKeys): Promise<MoveOutcome> {
      const { domain } = registration
      const { site_id } = read
      // A site that stays at its domain is reconnected instead.
      if (domain === read.domain) return { kind: 'refused', reason: 'domain' }
      return retryOnConflict(
        async (): Promise<MoveOutcome | typeof CONFLICT> => {
          const [site, members] = await Promise.all([
            sites.get(siteKey(read)),
            memberships.listBySite(site_id),
          ])
          const isSame = site?.key_version === read.key_version && site.status === 'active'
          if (!isSame) return { kind: 'refused', reason: 'site' }
          const now = isoNow(clock)
          const key_version = site.key_version + 1
          const moved: Site = {
            ...site,
            ...siteKey({ domain, site_id }),
            ...keys,
            domain,
            activated_at: now,
            key_version,
            oldest_key_version: key_version,
            previous_webhook_secret: undefined,
            previous_valid_until: undefined,
          }
          const result = await transactParts<string>(db, {
            registration: parts.claimRegistration(registration),
            domain: parts.claimDomain(moved, now),
            site: sites.part.delete(siteKey(site), isUnchanged(sites, site)),
            oldDomain: owners.part.delete(domainOwnerKey(site.domain)),
            moved: sites.part.put(moved),
            siteId: siteIds.part.put({
              ...siteIdKey(site_id),
              site_id,
              domain,
              created_at: site.created_at,
            }),
            oldKey: apiKeys.part.delete(apiKeyKey(site.api_key_hash)),
            apiKey: parts.addApiKey(moved, keys.api_key_hash, key_version),
            ...Object.fromEntries(
              members.map((member) => [member.agency_id, memberPart(member, domain)]),
            ),
          })
          if (result.kind === 'done') return { kind: 'moved', site: moved }
          if (result.by.has('registration')) return { kind: 'refused', reason: 'registration' }
          return result.by.has('domain') ? { kind: 'refused', reason: 'domain' } : CONFLICT
        },
        { maxAttempts: MAX_ATTEMPTS },
      )
    },
  }
}

/** No attribute of the site changed after it was read. */
function isUnchanged({ attr }: Entity<Site, unknown>, site: Site): Expression | undefined {
  const names = SiteItem.keyof().options.filter((name) => name !== 'PK' && name !== 'SK')
  return all(
    ...names.map((name) =>
      site[name] === undefined
        ? expr`attribute_not_exists(${attr(name)})`
        : expr`${attr(name)} = ${site[name]}`,
    ),
  )
}

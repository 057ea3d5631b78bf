/** Moves a site to another domain, with new keys and everything else that it has. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { type Entity, entity } from '@strongroom/kit/entity'
import { all, expr, type Expression } from '@strongroom/kit/expression'
import { CONFLICT, retryOnConflict } from '@strongroom/kit/retry-on-conflict'
import { transactParts } from '@strongroom/kit/transact'
import { AgencySiteItem, agencySiteKey, type MembershipName } from '../agencies/item.ts'
import { createMemberships } from '../agencies/membership.ts'
import {
  ApiKeyItem,
  apiKeyKey,
  type ApprovedMove,
  ApprovedMoveItem,
  approvedMoveKey,
  DomainOwnerItem,
  domainOwnerKey,
  type Site,
  SiteIdItem,
  siteIdKey,
  SiteItem,
  siteKey,
} from '../sites/item.ts'
import { formBridgeTable, type StoreDeps, TTL_SECONDS } from '../tables.ts'
import { expiresIn, isoNow, unexpired } from '../time.ts'
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
  const approvals = entity(db, formBridgeTable, ApprovedMoveItem)
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

  /** An approval is used up by the move, and by one move only. */
  function approvalPart({ domain, site_id }: ApprovedMove): TransactWriteItem {
    const { attr } = approvals
    return approvals.part.delete(
      approvedMoveKey(domain),
      expr`${attr('site_id')} = ${site_id} AND ${attr('expires_at')} > ${isoNow(clock)}`,
    )
  }

  return {
    /** Replaces an earlier approval for the domain. */
    async approve(
      site: Site,
      domain: string,
    ): Promise<
      { kind: 'approved'; expires_at: string } | { kind: 'domain_has_site' | 'inactive' }
    > {
      const { ttl, iso: expires_at } = expiresIn(clock, TTL_SECONDS.approvedMove)
      const result = await transactParts(db, {
        approval: approvals.part.put({
          ...approvedMoveKey(domain),
          domain,
          site_id: site.site_id,
          created_at: isoNow(clock),
          expires_at,
          ttl,
        }),
        site: sites.part.check(siteKey(site), expr`${sites.attr('status')} = ${'active'}`),
        owner: owners.part.check(
          domainOwnerKey(domain),
          expr`attribute_not_exists(${owners.attr('PK')})`,
        ),
      })
      if (result.kind === 'done') return { kind: 'approved', expires_at }
      return { kind: result.by.has('owner') ? 'domain_has_site' : 'inactive' }
    },

    findApproved(domain: string): Promise<ApprovedMove | undefined> {
      return approvals.get(approvedMoveKey(domain)).then(unexpired(clock))
    },

    /**
     * Without an approval, the caller must have checked that the request is signed with the current
     * secret of the site, because the proof of the new domain says nothing about the old one.
     */
    async move(
      registration: RegistrationRef,
      read: Site,
      keys: StoredKeys,
      approval?: ApprovedMove,
    ): Promise<MoveOutcome> {
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
            ...(approval && { approval: approvalPart(approval) }),
            ...Object.fromEntries(
              members.map((member) => [member.agency_id, memberPart(member, domain)]),
            ),
          })
          if (result.kind === 'done') return { kind: 'moved', site: moved }
          if (result.by.has('registration')) return { kind: 'refused', reason: 'registration' }
          if (result.by.has('approval')) return { kind: 'refused', reason: 'site' }
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

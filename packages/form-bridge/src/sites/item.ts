/** A site with its credentials, and the items by which it is looked up. */
import { newId } from '@strongroom/kit/ids'
import * as z from 'zod'
import {
  Count,
  Domain,
  EpochSecond,
  IsoTime,
  key,
  SealedSecret,
  Sha256,
  SiteId,
  Version,
} from '../formats.ts'

export const SiteStatus = z.enum(['active', 'suspended', 'disabled'])
export type SiteStatus = z.infer<typeof SiteStatus>

/** The environment types of WordPress. */
export const SiteEnvironment = z.enum(['production', 'staging', 'development', 'local'])
export type SiteEnvironment = z.infer<typeof SiteEnvironment>

/** Versions that a site runs, stored only with the consent of its owner. */
const Telemetry = z.record(z.string(), Version)

export const SiteItem = z.object({
  PK: key('SITE#'),
  SK: key('CREDS#'),
  GSI1PK: key('SITE#'),
  /** The status, so a query for `ACTIVE` does not find a suspended site. */
  GSI1SK: z.enum(['ACTIVE', 'SUSPENDED', 'DISABLED']),
  GSI2PK: z.enum(['SITES#active', 'SITES#suspended', 'SITES#disabled']),
  GSI2SK: z.string(),
  site_id: SiteId,
  domain: Domain,
  api_key_hash: Sha256,
  /** Verifies signed requests. */
  webhook_secret: SealedSecret,
  status: SiteStatus,
  created_at: IsoTime,
  activated_at: IsoTime,
  last_seen: IsoTime,
  request_count: Count,
  rate_limit_remaining: Count,
  /** Increases with every rotation. Writes depend on it, so only one of two concurrent ones succeeds. */
  key_version: z.int().min(1),
  /** Keys with a lower version are revoked, even if their lookup item still exists. */
  oldest_key_version: z.int().min(1),
  previous_webhook_secret: SealedSecret.optional(),
  previous_valid_until: IsoTime.optional(),
  environment: SiteEnvironment.optional(),
  /** Encrypted: the URL and the secret of its own destination. */
  destination: SealedSecret.optional(),
  /** Set when it was reconnected without its old key, until an operator or its agency confirms it. */
  unconfirmed_since: IsoTime.optional(),
  telemetry: Telemetry.optional(),
})
export type Site = z.infer<typeof SiteItem>

/** The part of a site in GSI2: no secrets, and nothing that changes with a request. */
export const SiteSummaryItem = SiteItem.pick({
  PK: true,
  SK: true,
  GSI2PK: true,
  GSI2SK: true,
  site_id: true,
  domain: true,
  status: true,
  created_at: true,
})
export type SiteSummary = z.infer<typeof SiteSummaryItem>

export type SiteName = Pick<Site, 'domain' | 'site_id'>

export function siteKey({ domain, site_id }: SiteName) {
  return { PK: `SITE#${domain}`, SK: `CREDS#${site_id}` }
}

const STATUS_KEYS = {
  active: { GSI1SK: 'ACTIVE', GSI2PK: 'SITES#active' },
  suspended: { GSI1SK: 'SUSPENDED', GSI2PK: 'SITES#suspended' },
  disabled: { GSI1SK: 'DISABLED', GSI2PK: 'SITES#disabled' },
} as const

/** The index keys that change with the status. */
export function siteStatusKeys(status: SiteStatus) {
  return STATUS_KEYS[status]
}

export function newSiteId(): string {
  return newId('site')
}

/** The domain of a site id, so a signed request is verified without reading an index. */
export const SiteIdItem = z.object({
  PK: key('SITEID#'),
  SK: z.literal('DOMAIN'),
  site_id: SiteId,
  domain: Domain,
  created_at: IsoTime,
})

export function siteIdKey(site_id: string) {
  return { PK: `SITEID#${site_id}`, SK: 'DOMAIN' } as const
}

/** The site of a domain. Its key has only the domain, so a domain has at most one site. */
export const DomainOwnerItem = z.object({
  PK: key('SITE#'),
  SK: z.literal('OWNER'),
  domain: Domain,
  site_id: SiteId,
  created_at: IsoTime,
})

export function domainOwnerKey(domain: string) {
  return { PK: `SITE#${domain}`, SK: 'OWNER' } as const
}

/** An admin allows a site without its secret to move to the domain, once the domain is proved. */
export const ApprovedMoveItem = z.object({
  PK: key('SITE#'),
  SK: z.literal('MOVE'),
  domain: Domain,
  site_id: SiteId,
  created_at: IsoTime,
  expires_at: IsoTime,
  ttl: EpochSecond,
})
export type ApprovedMove = z.infer<typeof ApprovedMoveItem>

export function approvedMoveKey(domain: string) {
  return { PK: `SITE#${domain}`, SK: 'MOVE' } as const
}

/** Finds a site by the hash of its API key. The key itself is not stored. */
export const ApiKeyItem = z.object({
  PK: z.string().regex(/^API#[0-9a-f]{64}$/),
  SK: z.literal('LOOKUP'),
  GSI1PK: key('SITE#'),
  GSI1SK: z.literal('API_KEY'),
  site_id: SiteId,
  domain: Domain,
  created_at: IsoTime,
  last_used: IsoTime,
  key_version: z.int().min(1),
  /** The end of the grace period; only after a rotation replaced the key. */
  expires_at: IsoTime.optional(),
  ttl: EpochSecond.optional(),
})
export type ApiKey = z.infer<typeof ApiKeyItem>

export function apiKeyKey(api_key_hash: string) {
  return { PK: `API#${api_key_hash}`, SK: 'LOOKUP' } as const
}

export function apiKeyHash({ PK }: Pick<ApiKey, 'PK'>): string {
  return PK.slice('API#'.length)
}

/** A nonce that a site has used. */
export const NonceItem = z.object({
  PK: z.string().regex(/^NONCE#site_[A-Za-z0-9_-]{16}$/),
  SK: z.string().regex(/^[0-9]{10}#[0-9a-f]{32}$/),
  ttl: EpochSecond,
})

export interface NonceUse {
  site_id: string
  /** The epoch second in the signed request. */
  timestamp: number
  nonce: string
}

export function nonceKey({ site_id, timestamp, nonce }: NonceUse) {
  return { PK: `NONCE#${site_id}`, SK: `${timestamp}#${nonce}` }
}

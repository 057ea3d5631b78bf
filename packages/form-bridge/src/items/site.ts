/** A site's credentials, made when its registration is exchanged. */
import { newId } from '@strongroom/kit/ids'
import * as z from 'zod'
import { Count, Domain, IsoTime, key, SealedSecret, Sha256, SiteId, Version } from './formats.ts'

export const SiteStatus = z.enum(['active', 'suspended', 'disabled'])
export type SiteStatus = z.infer<typeof SiteStatus>

/** As WordPress names them. */
export const SiteEnvironment = z.enum(['production', 'staging', 'development', 'local'])
export type SiteEnvironment = z.infer<typeof SiteEnvironment>

/** What a site runs, kept only with its owner's consent. */
const Telemetry = z.record(z.string(), Version)

export const SiteItem = z.object({
  PK: key('SITE#'),
  SK: key('CREDS#'),
  GSI1PK: key('SITE#'),
  /** The status: whoever asks for `ACTIVE` must not get a suspended site. */
  GSI1SK: z.enum(['ACTIVE', 'SUSPENDED', 'DISABLED']),
  GSI2PK: z.enum(['SITES#active', 'SITES#suspended', 'SITES#disabled']),
  GSI2SK: z.string(),
  site_id: SiteId,
  domain: Domain,
  api_key_hash: Sha256,
  /** Signed requests are checked with it. */
  webhook_secret: SealedSecret,
  status: SiteStatus,
  created_at: IsoTime,
  activated_at: IsoTime,
  last_seen: IsoTime,
  request_count: Count,
  rate_limit_remaining: Count,
  /** Rises with every rotation; the condition that lets only one of two at once through. */
  key_version: z.int().min(1),
  /** Keys of an older version are revoked, whatever their lookup item says. */
  oldest_key_version: z.int().min(1),
  previous_webhook_secret: SealedSecret.optional(),
  previous_valid_until: IsoTime.optional(),
  environment: SiteEnvironment.optional(),
  /** Where its submissions go: an address and a secret, sealed. */
  destination: SealedSecret.optional(),
  /** Since it was reconnected without its old key: nobody has confirmed that it is still the same. */
  unconfirmed_since: IsoTime.optional(),
  telemetry: Telemetry.optional(),
})
export type Site = z.infer<typeof SiteItem>

/** What GSI2 holds of one: nothing secret, and nothing that changes with a request. */
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

const statusKeys = {
  active: { GSI1SK: 'ACTIVE', GSI2PK: 'SITES#active' },
  suspended: { GSI1SK: 'SUSPENDED', GSI2PK: 'SITES#suspended' },
  disabled: { GSI1SK: 'DISABLED', GSI2PK: 'SITES#disabled' },
} as const

/** The index keys that change with the status. */
export function statusKeysOf(status: SiteStatus) {
  return statusKeys[status]
}

export function newSiteId(): string {
  return newId('site')
}

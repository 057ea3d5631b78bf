/** The two items that say which site and which domain belong together, both read by key. */
import * as z from 'zod'
import { Domain, IsoTime, key, SiteId } from './formats.ts'

/** Which domain a site id stands for, so that a signed request is checked without an index. */
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

/** Which site a domain belongs to: there is one such item, so there is one such site. */
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

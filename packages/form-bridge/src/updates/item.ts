/** Update checks, the installed version of each site, and the totals of each day. */
import * as z from 'zod'
import { Count, Domain, EpochSecond, IsoDate, IsoTime, key, SiteId, Version } from '../formats.ts'

/** Not in an index, which would list a site once for each of its checks. */
export const UpdateCheckItem = z.object({
  PK: key('UPDATE_CHECK#'),
  SK: key('TIME#'),
  site_id: SiteId,
  domain: Domain,
  current_version: Version,
  latest_version: Version,
  update_available: z.boolean(),
  checked_at: IsoTime,
  ttl: EpochSecond,
})
export type UpdateCheck = z.infer<typeof UpdateCheckItem>

/** The last check of a site. GSI1 lists the sites of each installed version. */
export const SiteVersionItem = UpdateCheckItem.extend({
  SK: z.literal('CURRENT'),
  GSI1PK: key('UPDATES#'),
  GSI1SK: key('SITE#'),
  /** The last day whose totals include the site. */
  counted_on: IsoDate,
})
export type SiteVersion = z.infer<typeof SiteVersionItem>

/** The number of sites that had a version on a day. */
export const AdoptionItem = z.object({
  PK: key('ADOPTION#'),
  SK: key('VERSION#'),
  n: Count,
})

export function updateCheckPartition(site_id: string): string {
  return `UPDATE_CHECK#${site_id}`
}

export function siteVersionKey(site_id: string) {
  return { PK: updateCheckPartition(site_id), SK: 'CURRENT' } as const
}

export function adoptionKey(date: string, version: string) {
  return { PK: `ADOPTION#${date}`, SK: `VERSION#${version}` }
}

/** What sites run: each check for updates, the state of each site, and the totals of each day. */
import * as z from 'zod'
import { Count, Domain, EpochSecond, IsoDate, IsoTime, key, SiteId, Version } from './formats.ts'

/** Not in an index: there it would show a site as often as it has checked. */
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

/** The last check of a site, in GSI1 under the version that it has installed. */
export const SiteVersionItem = UpdateCheckItem.extend({
  SK: z.literal('CURRENT'),
  GSI1PK: key('UPDATES#'),
  GSI1SK: key('SITE#'),
  /** The day in whose totals the site is. */
  counted_on: IsoDate,
})
export type SiteVersion = z.infer<typeof SiteVersionItem>

/** How many sites had a version on a day. */
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

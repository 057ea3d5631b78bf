/** A site that belongs to an agency. */
import * as z from 'zod'
import { AgencyId, Domain, IsoTime, key, SiteId } from './formats.ts'

export const AgencyRole = z.enum(['owner', 'member', 'viewer'])

export const AgencySiteItem = z.object({
  PK: key('AGENCY#'),
  SK: key('SITE#'),
  GSI1PK: key('SITE#'),
  GSI1SK: key('AGENCY#'),
  agency_id: AgencyId,
  site_id: SiteId,
  domain: Domain,
  added_at: IsoTime,
  role: AgencyRole,
  /** A staging site, which does not use up the limit. */
  outside_limit: z.boolean().optional(),
})
export type AgencySite = z.infer<typeof AgencySiteItem>

export function agencySiteKey({ agency_id, site_id }: Pick<AgencySite, 'agency_id' | 'site_id'>) {
  return { PK: `AGENCY#${agency_id}`, SK: `SITE#${site_id}` }
}

/** The same from the site's side, so that its places are read without an index. */
export const SitePlaceItem = z.object({
  PK: key('SITEID#'),
  SK: key('AGENCY#'),
  site_id: SiteId,
  agency_id: AgencyId,
})

export function sitePlaceKey({ agency_id, site_id }: Pick<AgencySite, 'agency_id' | 'site_id'>) {
  return { PK: `SITEID#${site_id}`, SK: `AGENCY#${agency_id}` }
}

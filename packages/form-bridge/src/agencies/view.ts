/** Agencies in responses. No view has a key or a hash of one. */
import { z } from '@hono/zod-openapi'
import {
  type Agency,
  AgencyRole,
  type AgencySite,
  type AgencySummary,
  type JoinToken,
} from './item.ts'

export const AgencyView = z
  .object({
    agency_id: z.string(),
    agency_name: z.string(),
    contact_email: z.string(),
    max_sites: z.int(),
    current_sites: z.int(),
    status: z.enum(['active', 'suspended']),
    created_at: z.string(),
  })
  .openapi('FormBridgeAgency')

export function toAgencyView(agency: Agency | AgencySummary): z.infer<typeof AgencyView> {
  return AgencyView.parse(agency)
}

export const AgencySiteView = z.object({
  site_id: z.string(),
  domain: z.string(),
  role: AgencyRole,
  added_at: z.string(),
  outside_limit: z.boolean(),
})

export function toAgencySiteView(site: AgencySite): z.infer<typeof AgencySiteView> {
  return AgencySiteView.parse({ ...site, outside_limit: site.outside_limit ?? false })
}

export const JoinTokenView = z.object({
  id: z.string().openapi({ description: 'Identifies the token; it is not the token itself' }),
  role: AgencyRole,
  max_uses: z.int(),
  uses: z.int(),
  created_at: z.string(),
  expires_at: z.string(),
})

export function toJoinTokenView({
  token_hash,
  ...token
}: JoinToken): z.infer<typeof JoinTokenView> {
  return JoinTokenView.parse({ ...token, id: token_hash })
}

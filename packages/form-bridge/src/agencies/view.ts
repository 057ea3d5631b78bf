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

export type AgencyLine = z.infer<typeof AgencyView>

export function toAgencyView(agency: Agency | AgencySummary): AgencyLine {
  return AgencyView.parse(agency)
}

export const AgencySiteView = z.object({
  site_id: z.string(),
  domain: z.string(),
  role: AgencyRole,
  added_at: z.string(),
  outside_limit: z.boolean(),
})

export type AgencySiteLine = z.infer<typeof AgencySiteView>

export function toAgencySiteView(site: AgencySite): AgencySiteLine {
  return AgencySiteView.parse({ ...site, outside_limit: site.outside_limit ?? false })
}

const MAX_TOKEN_SECONDS = 366 * 86_400

/** The body of a request for one. */
export const NewJoinToken = z.strictObject({
  role: AgencyRole.default('owner').openapi({
    description:
      'What the agency may do with the sites that join: `owner` everything, `member` read and confirm, `viewer` read',
  }),
  max_uses: z.int().min(1).max(10_000).default(1),
  expires_in: z.int().min(60).max(MAX_TOKEN_SECONDS).default(86_400),
})

export const JoinTokenView = z.object({
  id: z.string().openapi({ description: 'Identifies the token; it is not the token itself' }),
  role: AgencyRole,
  max_uses: z.int(),
  uses: z.int(),
  created_at: z.string(),
  expires_at: z.string(),
})

export type JoinTokenLine = z.infer<typeof JoinTokenView>

export function toJoinTokenView({ token_hash, ...token }: JoinToken): JoinTokenLine {
  return JoinTokenView.parse({ ...token, id: token_hash })
}

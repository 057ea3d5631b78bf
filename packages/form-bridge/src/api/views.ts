/** How what is stored becomes what is shown. Nothing secret is in any of it. */
import { z } from '@hono/zod-openapi'
import type { Agency, AgencySummary } from '../items/agency.ts'
import { AgencyRole, type AgencySite } from '../items/agency-site.ts'
import type { JoinToken } from '../items/join-token.ts'
import type { Release } from '../items/release.ts'
import { SiteStatus } from '../items/site.ts'
import type { Validated } from '../validation/validate.ts'

export const ValidationView = z.object({
  domain: z.string(),
  registration_id: z.string(),
  validation_level: z.string(),
  passes_validation: z.boolean(),
  validation_score: z.number(),
  validation_results: z.record(z.string(), z.unknown()),
  validated_at: z.string(),
  valid_until: z.string(),
  cached: z.boolean(),
})

export function viewValidation({ validation, cached }: Validated): z.infer<typeof ValidationView> {
  return { ...ValidationView.omit({ cached: true }).parse(validation), cached }
}

export const SiteSummaryView = z.object({
  site_id: z.string(),
  domain: z.string(),
  status: SiteStatus,
  created_at: z.string(),
})

export const SiteFactsView = SiteSummaryView.extend({
  environment: z.string(),
  activated_at: z.string(),
  last_seen: z.string(),
  request_count: z.int(),
  key_version: z.int(),
  has_destination: z.boolean(),
  confirmation_needed: z.boolean(),
  agencies: z.array(z.string()),
  installed_version: z.string().nullable(),
}).openapi('FormBridgeSite')

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

export function viewAgency(agency: Agency | AgencySummary): z.infer<typeof AgencyView> {
  return AgencyView.parse(agency)
}

export const AgencySiteView = z.object({
  site_id: z.string(),
  domain: z.string(),
  role: AgencyRole,
  added_at: z.string(),
  outside_limit: z.boolean(),
})

export function viewAgencySite(site: AgencySite): z.infer<typeof AgencySiteView> {
  return AgencySiteView.parse({ ...site, outside_limit: site.outside_limit ?? false })
}

export const JoinTokenView = z.object({
  id: z.string().openapi({ description: 'Names it, and is not the token' }),
  role: AgencyRole,
  max_uses: z.int(),
  uses: z.int(),
  created_at: z.string(),
  expires_at: z.string(),
})

export function viewJoinToken({ token_hash, ...token }: JoinToken): z.infer<typeof JoinTokenView> {
  return JoinTokenView.parse({ ...token, id: token_hash })
}

export const ReleaseView = z
  .object({
    slug: z.string(),
    version: z.string(),
    status: z.string(),
    sha256: z.string(),
    signature: z.string(),
    file_size: z.int(),
    published_at: z.string().nullable(),
  })
  .openapi('FormBridgeRelease')

export function viewRelease(release: Release): z.infer<typeof ReleaseView> {
  return ReleaseView.parse({ ...release, published_at: release.published_at ?? null })
}

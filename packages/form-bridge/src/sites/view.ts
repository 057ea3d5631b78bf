/** Sites in responses. No view has a secret or a hash. */
import { z } from '@hono/zod-openapi'
import { SiteStatus } from './item.ts'

export const SiteSummaryView = z.object({
  site_id: z.string(),
  domain: z.string(),
  status: SiteStatus,
  created_at: z.string(),
})

export const SiteDetailsView = SiteSummaryView.extend({
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
export type SiteDetails = z.infer<typeof SiteDetailsView>

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
  has_destination: z.boolean().openapi({ description: 'Whether the site has its own' }),
  has_default_destination: z
    .boolean()
    .openapi({ description: 'Whether the server has one for sites without their own' }),
  confirmation_needed: z.boolean(),
  agencies: z.array(z.string()),
  installed_version: z.string().nullable(),
}).openapi('FormBridgeSite')
export type SiteDetails = z.infer<typeof SiteDetailsView>

export const ApiKeyView = z.object({
  key_version: z.int(),
  state: z.enum(['current', 'grace', 'revoked']),
  created_at: z.string(),
  last_used: z.string(),
  expires_at: z.string().nullable(),
})
export type ApiKeyLine = z.infer<typeof ApiKeyView>

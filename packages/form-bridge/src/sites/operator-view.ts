/** Sites in responses for operators. No view has a secret or a hash. */
import { z } from '@hono/zod-openapi'
import { auditOutcomes } from '@strongroom/kit/audit-item'
import { SecurityEventType } from '../security/item.ts'
import { SiteDetailsView, SiteSummaryView } from './view.ts'

const AgencyName = z.object({ agency_id: z.string(), agency_name: z.string() })

export const SiteLineView = SiteSummaryView.extend({
  environment: z.string(),
  last_seen: z.string(),
  confirmation_needed: z.boolean(),
  installed_version: z.string().nullable(),
  agency: AgencyName.nullable(),
}).openapi('FormBridgeSiteLine')
export type SiteLine = z.infer<typeof SiteLineView>

export const OperatorSiteView = SiteDetailsView.extend({
  agency: AgencyName.nullable(),
  unconfirmed_since: z.string().nullable(),
  previous_valid_until: z
    .string()
    .nullable()
    .openapi({ description: 'Until when the keys before the last rotation work' }),
  wp_version: z.string().nullable().openapi({ description: 'Only with consent of the owner' }),
  php_version: z.string().nullable(),
}).openapi('FormBridgeOperatorSite')
export type OperatorSite = z.infer<typeof OperatorSiteView>

const Counted = z.object({
  count: z.int(),
  is_complete: z.boolean().openapi({ description: 'False if there may be more' }),
})

export const SiteCountsView = z
  .object({
    active: Counted,
    suspended: Counted,
    disabled: Counted,
    unconfirmed: Counted,
    not_seen: Counted,
    pending_registrations: Counted,
  })
  .openapi('FormBridgeSiteCounts')
export type SiteCounts = z.infer<typeof SiteCountsView>

export const HistoryEntryView = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('change').openapi({ description: 'By an operator, from the audit log' }),
      at: z.string(),
      actor: z.string(),
      action: z.string().openapi({ example: 'form-bridge.site.suspended' }),
      outcome: z.enum(auditOutcomes),
      reason: z.string().nullable(),
    }),
    z.object({
      kind: z.literal('security_event'),
      at: z.string(),
      event_type: SecurityEventType,
      details: z.record(z.string(), z.unknown()),
    }),
    z.object({
      kind: z.literal('version').openapi({ description: 'An update check with another version' }),
      at: z.string(),
      version: z.string(),
      previous_version: z.string().nullable(),
    }),
  ])
  .openapi('FormBridgeSiteHistoryEntry')
export type HistoryEntry = z.infer<typeof HistoryEntryView>

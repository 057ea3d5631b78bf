/** Security events and abuse patterns in responses. */
import { z } from '@hono/zod-openapi'
import { AbusePatternType, AbuseSeverity, SecurityEventType } from './item.ts'

export const EventView = z.object({
  event_type: SecurityEventType,
  site_id: z.string(),
  domain: z.string().optional(),
  client_ip: z.string().openapi({ description: 'A keyed hash, the same for the same network' }),
  user_agent: z.string(),
  details: z.record(z.string(), z.unknown()),
  timestamp: z.string(),
})
export type SecurityEventLine = z.infer<typeof EventView>

export const AbuseView = z.object({
  pattern_type: AbusePatternType,
  identifier: z.string(),
  severity: AbuseSeverity,
  details: z.record(z.string(), z.unknown()),
  detected_at: z.string(),
})
export type AbuseLine = z.infer<typeof AbuseView>

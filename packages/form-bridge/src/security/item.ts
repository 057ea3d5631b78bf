/** Security events and detected abuse patterns. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { ClientIp, Details, Domain, EpochSecond, IsoTime, key, SiteId } from '../formats.ts'

export const SecurityEventType = z.enum(['auth_failure', 'rate_limit', 'suspicious_activity'])
export type SecurityEventType = z.infer<typeof SecurityEventType>

/** The site id of an event whose site is unknown. */
export const UNKNOWN_SITE = 'unknown'

export const MAX_USER_AGENT_LENGTH = 512

export const SecurityEventItem = z.object({
  PK: key('FAILED#'),
  SK: key('TIME#'),
  GSI1PK: key('SECURITY#'),
  GSI1SK: key('TIME#'),
  site_id: z.union([SiteId, z.literal(UNKNOWN_SITE)]),
  domain: Domain.optional(),
  event_type: SecurityEventType,
  client_ip: ClientIp,
  user_agent: z.string().max(MAX_USER_AGENT_LENGTH),
  details: Details,
  timestamp: IsoTime,
  ttl: EpochSecond,
})
export type SecurityEvent = z.infer<typeof SecurityEventItem>

/** Index partitions for each type and day. An attack may write more than one partition can take. */
export const EVENT_SHARDS = 8

/** Events of unknown sites are spread by address; one partition for all of them would be hot. */
export function securityEventPartition(
  subject: { site_id: string } | { client_ip: string },
): string {
  if ('site_id' in subject) return `FAILED#${subject.site_id}`
  return `FAILED#${UNKNOWN_SITE}#${subject.client_ip}`
}

export function eventTypePartition(type: SecurityEventType, date: string, shard: number): string {
  return `SECURITY#${type}#${date}#${shard}`
}

/** By the time key, which is unique to each event, even within one site. */
export function eventShard(timeKey: string): number {
  return createHash('sha256').update(timeKey).digest().readUInt8(0) % EVENT_SHARDS
}

export const AbusePatternType = z.enum(['registration_spam', 'api_abuse', 'invalid_domains'])
export type AbusePatternType = z.infer<typeof AbusePatternType>

/** Severe patterns are stored longer. */
export const AbuseSeverity = z.enum(['low', 'medium', 'high', 'critical'])

export const AbuseItem = z.object({
  PK: key('ABUSE#'),
  SK: z.string(),
  GSI1PK: key('ABUSE_TRACKING#'),
  GSI1SK: key('TIME#'),
  GSI2PK: key('ABUSE#'),
  GSI2SK: z.string(),
  pattern_type: AbusePatternType,
  identifier: z.union([ClientIp, Domain, SiteId]),
  severity: AbuseSeverity,
  details: Details,
  detected_at: IsoTime,
  ttl: EpochSecond,
})
export type Abuse = z.infer<typeof AbuseItem>

export type AbuseName = Pick<Abuse, 'pattern_type' | 'identifier'>

/** The part of a pattern in GSI2. */
export const AbuseSummaryItem = AbuseItem.omit({ GSI1PK: true, GSI1SK: true })
export type AbuseSummary = z.infer<typeof AbuseSummaryItem>

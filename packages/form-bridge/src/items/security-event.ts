/** Security events: by site, or by address where no site is known, and by type and day. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { ClientIp, Details, Domain, EpochSecond, IsoTime, key, SiteId } from './formats.ts'

export const SecurityEventType = z.enum(['auth_failure', 'rate_limit', 'suspicious_activity'])
export type SecurityEventType = z.infer<typeof SecurityEventType>

/** In place of a site id when nobody knows whose request it was. */
export const UNKNOWN_SITE = 'unknown'

/** Of what a caller says of itself, how many characters are kept. */
export const LONGEST_USER_AGENT = 512

export const SecurityEventItem = z.object({
  PK: key('FAILED#'),
  SK: key('TIME#'),
  GSI1PK: key('SECURITY#'),
  GSI1SK: key('TIME#'),
  site_id: z.union([SiteId, z.literal(UNKNOWN_SITE)]),
  domain: Domain.optional(),
  event_type: SecurityEventType,
  client_ip: ClientIp,
  user_agent: z.string().max(LONGEST_USER_AGENT),
  details: Details,
  timestamp: IsoTime,
  ttl: EpochSecond,
})
export type SecurityEvent = z.infer<typeof SecurityEventItem>

/** An attack writes as fast as it likes: eight index partitions a day share it. */
export const EVENT_SHARDS = 8

/** Without a site the address spreads them; one partition for all unknown callers would be hot. */
export function securityEventPartition(
  subject: { site_id: string } | { client_ip: string },
): string {
  if ('site_id' in subject) return `FAILED#${subject.site_id}`
  return `FAILED#${UNKNOWN_SITE}#${subject.client_ip}`
}

export function eventTypePartition(type: SecurityEventType, date: string, shard: number): string {
  return `SECURITY#${type}#${date}#${shard}`
}

/** By the time key, which is different for every event also of one site. */
export function eventShard(timeKey: string): number {
  return createHash('sha256').update(timeKey).digest().readUInt8(0) % EVENT_SHARDS
}

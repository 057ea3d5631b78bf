/** Patterns of abuse that were detected, kept the longer the worse they are. */
import * as z from 'zod'
import { ClientIp, Details, Domain, EpochSecond, IsoTime, key, SiteId } from './formats.ts'

export const AbusePatternType = z.enum(['registration_spam', 'api_abuse', 'invalid_domains'])
export type AbusePatternType = z.infer<typeof AbusePatternType>

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

/** What GSI2 holds of one: all but the keys of GSI1. */
export const AbuseSummaryItem = AbuseItem.omit({ GSI1PK: true, GSI1SK: true })
export type AbuseSummary = z.infer<typeof AbuseSummaryItem>

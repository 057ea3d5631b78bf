/**
 * Counters of requests. One scope is one kind of request, with limits of its own: a site's update
 * checks do not use up its API calls, and an address that registers too often can still validate.
 */
import { z } from 'zod'
import { Count, EpochSecond, IsoTime, key } from './formats.ts'

export const RequestType = z.enum(['api', 'webhook', 'update_check'])
export const RateAction = z.enum(['registration', 'key_exchange', 'validation'])
const DomainScope = z.enum(['registration_domain', 'validation_domain'])
export const actionOfDomainScope = {
  registration_domain: 'registration',
  validation_domain: 'validation',
} as const
/** The limits of an agency are shared by its sites. */
export const RateScope = z.enum([
  ...RequestType.options,
  ...RateAction.options,
  ...DomainScope.options,
  'agency',
])
export type RateScope = z.infer<typeof RateScope>

/** Whose requests are counted: a site's, an address's, all those that aim at a domain, an agency's. */
export type RateSubject =
  | { scope: z.infer<typeof RequestType>; site_id: string }
  | { scope: z.infer<typeof RateAction>; client_ip: string }
  | { scope: z.infer<typeof DomainScope>; domain: string }
  | { scope: 'agency'; agency_id: string }

/** The item that decides; `kit/rate-limit` keeps `{limit}_win`, `_cur` and `_prev` in it. */
export const RateWindowItem = z
  .object({ PK: key('RATE#'), SK: z.literal('WINDOW'), ttl: EpochSecond })
  .catchall(z.int())

/** How many requests a stretch of time had, for analysis. */
export const RateBucketItem = z.object({
  PK: key('RATE#'),
  SK: key('TIME#'),
  /** The start of the bucket. */
  timestamp: EpochSecond,
  /** Of a site's requests. */
  request_type: RequestType.optional(),
  /** Of an address's, or of those that aim at a domain. */
  action: RateAction.optional(),
  n: Count,
  ttl: EpochSecond,
})
export type RateBucket = z.infer<typeof RateBucketItem>

/** Limits of one subject in place of the general ones. */
export const RateOverrideItem = z.object({
  PK: key('RATE#'),
  SK: z.literal('OVERRIDE'),
  GSI2PK: z.literal('RATE_OVERRIDES'),
  GSI2SK: z.string(),
  scope: RateScope,
  id: z.string().min(1),
  /** Limit name (`minute`, `hour`, `day`) → requests. */
  limits: z.record(z.string(), z.int().min(1)),
  created_at: IsoTime,
})
export type RateOverride = z.infer<typeof RateOverrideItem>

export function rateId(subject: RateSubject): string {
  if ('site_id' in subject) return subject.site_id
  if ('client_ip' in subject) return subject.client_ip
  return 'domain' in subject ? subject.domain : subject.agency_id
}

export function ratePartition(subject: RateSubject): string {
  return `RATE#${subject.scope}#${rateId(subject)}`
}

export function rateWindowKey(subject: RateSubject) {
  return { PK: ratePartition(subject), SK: 'WINDOW' } as const
}

export function rateOverrideKey(subject: RateSubject) {
  return { PK: ratePartition(subject), SK: 'OVERRIDE' } as const
}

/** Ten digits, so that the order of texts is the order of times. */
export function rateBucketKey(subject: RateSubject, windowSeconds: number, start: number) {
  const digits = String(start).padStart(10, '0')
  return { PK: ratePartition(subject), SK: `TIME#${windowSeconds}#${digits}` }
}

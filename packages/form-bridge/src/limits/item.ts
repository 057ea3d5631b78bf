/**
 * Request counters. Each scope is one kind of request with its own limits, so update checks of a site
 * do not use up its API calls.
 */
import * as z from 'zod'
import { Count, EpochSecond, IsoTime, key } from '../formats.ts'

export const RequestType = z.enum(['api', 'webhook', 'update_check'])
export const RateAction = z.enum(['registration', 'key_exchange', 'validation'])
export type RateAction = z.infer<typeof RateAction>
/** Requests for a domain, of all callers together. */
const DomainScope = z.enum(['validation_domain'])
/** Requests for a domain, of one address or agency. */
const DomainShareScope = z.enum(['registration_domain', 'validation_share'])
export const ACTION_OF_DOMAIN_SCOPE = {
  registration_domain: 'registration',
  validation_domain: 'validation',
  validation_share: 'validation',
} as const
export const RateScope = z.enum([
  ...RequestType.options,
  ...RateAction.options,
  ...DomainScope.options,
  ...DomainShareScope.options,
  /** Shared by all sites of an agency. */
  'agency',
])
export type RateScope = z.infer<typeof RateScope>

/** Whose requests are counted. */
export type RateSubject =
  | { scope: z.infer<typeof RequestType>; site_id: string }
  /** With a factor, it allows this many times the default limits. */
  | { scope: RateAction; client_ip: string; factor?: number }
  | { scope: z.infer<typeof DomainScope>; domain: string }
  | { scope: z.infer<typeof DomainShareScope>; domain: string; requested_by: string }
  | { scope: 'agency'; agency_id: string }

/** The item that decides. `kit/rate-limit` stores `{limit}_win`, `_cur` and `_prev` in it. */
export const RateWindowItem = z
  .object({ PK: key('RATE#'), SK: z.literal('WINDOW'), ttl: EpochSecond })
  .catchall(z.int())

/** The length of a bucket. */
export const BUCKET_SECONDS = 60

/** The number of requests in a period, for analysis. */
export const RateBucketItem = z.object({
  PK: key('RATE#'),
  SK: key('TIME#'),
  /** The start of the bucket. */
  timestamp: EpochSecond,
  /** For requests of a site. */
  request_type: RequestType.optional(),
  /** For requests of an address, or for a domain. */
  action: RateAction.optional(),
  n: Count,
  ttl: EpochSecond,
})
export type RateBucket = z.infer<typeof RateBucketItem>

/** Limits of one subject instead of the default limits. */
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

/** A subject for which operators can set limits. */
export type LimitedSubject = Pick<RateOverride, 'scope' | 'id'>

/** A share of a domain has the limits of the domain, for every requester. */
export function limitedSubject(subject: RateSubject): LimitedSubject {
  return { scope: subject.scope, id: subjectId(subject) }
}

function subjectId(subject: RateSubject): string {
  if ('site_id' in subject) return subject.site_id
  if ('client_ip' in subject) return subject.client_ip
  return 'domain' in subject ? subject.domain : subject.agency_id
}

export function ratePartition(subject: RateSubject): string {
  const partition = `RATE#${subject.scope}#${subjectId(subject)}`
  return 'requested_by' in subject ? `${partition}#${subject.requested_by}` : partition
}

export function rateWindowKey(subject: RateSubject) {
  return { PK: ratePartition(subject), SK: 'WINDOW' } as const
}

export function rateOverrideKey({ scope, id }: LimitedSubject) {
  return { PK: `RATE#${scope}#${id}`, SK: 'OVERRIDE' } as const
}

/** The time has ten digits, so the keys sort by time. */
export function rateBucketKey(subject: RateSubject, windowSeconds: number, start: number) {
  const digits = String(start).padStart(10, '0')
  return { PK: ratePartition(subject), SK: `TIME#${windowSeconds}#${digits}` }
}

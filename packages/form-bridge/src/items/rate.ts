/**
 * Counters of requests. One scope is one kind of request, with limits of its own: a site's update
 * checks do not use up its API calls, and an address that registers too often can still validate.
 */
import * as z from 'zod'
import { Count, EpochSecond, IsoTime, key } from './formats.ts'

export const RequestType = z.enum(['api', 'webhook', 'update_check'])
export const RateAction = z.enum(['registration', 'key_exchange', 'validation'])
/** Of requests that aim at a domain: all of them together, or those of one who asks. */
const SharedScope = z.enum(['validation_domain'])
const OwnShareScope = z.enum(['registration_domain', 'validation_share'])
export const actionOfDomainScope = {
  registration_domain: 'registration',
  validation_domain: 'validation',
  validation_share: 'validation',
} as const
/** The limits of an agency are shared by its sites. */
export const RateScope = z.enum([
  ...RequestType.options,
  ...RateAction.options,
  ...SharedScope.options,
  ...OwnShareScope.options,
  'agency',
])
export type RateScope = z.infer<typeof RateScope>

/**
 * Whose requests are counted: a site's, an address's, all those that aim at a domain, those of one
 * address or agency that aim at a domain, an agency's.
 */
export type RateSubject =
  | { scope: z.infer<typeof RequestType>; site_id: string }
  | { scope: z.infer<typeof RateAction>; client_ip: string }
  | { scope: z.infer<typeof SharedScope>; domain: string }
  | { scope: z.infer<typeof OwnShareScope>; domain: string; asked_by: string }
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

/** What an operator may set limits for. */
export type LimitedSubject = Pick<RateOverride, 'scope' | 'id'>

/** A share of a domain has the limits of the domain, whoever asks. */
export function limitedSubject(subject: RateSubject): LimitedSubject {
  return { scope: subject.scope, id: nameOf(subject) }
}

function nameOf(subject: RateSubject): string {
  if ('site_id' in subject) return subject.site_id
  if ('client_ip' in subject) return subject.client_ip
  return 'domain' in subject ? subject.domain : subject.agency_id
}

export function ratePartition(subject: RateSubject): string {
  const partition = `RATE#${subject.scope}#${nameOf(subject)}`
  return 'asked_by' in subject ? `${partition}#${subject.asked_by}` : partition
}

export function rateWindowKey(subject: RateSubject) {
  return { PK: ratePartition(subject), SK: 'WINDOW' } as const
}

export function rateOverrideKey({ scope, id }: LimitedSubject) {
  return { PK: `RATE#${scope}#${id}`, SK: 'OVERRIDE' } as const
}

/** Ten digits, so that the order of texts is the order of times. */
export function rateBucketKey(subject: RateSubject, windowSeconds: number, start: number) {
  const digits = String(start).padStart(10, '0')
  return { PK: ratePartition(subject), SK: `TIME#${windowSeconds}#${digits}` }
}

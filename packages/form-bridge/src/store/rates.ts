/** Rate limits, the counts behind them for analysis, and exceptions from the general limits. */
import { entity } from '@strongroom/kit/entity'
import { expr, type Expression } from '@strongroom/kit/expression'
import type { Page } from '@strongroom/kit/query-page'
import { createRateLimiter, type RateDecision } from '@strongroom/kit/rate-limit'
import type { RateLimit } from '@strongroom/kit/sliding-window'
import { isLive, isoNow } from '../expiry.ts'
import {
  actionOfDomainScope,
  type LimitedSubject,
  type RateBucket,
  RateBucketItem,
  rateBucketKey,
  type RateOverride,
  RateOverrideItem,
  rateOverrideKey,
  ratePartition,
  type RateSubject,
  rateWindowKey,
} from '../items/rate.ts'
import { lifetimes } from '../lifetimes.ts'
import { formBridgeTable } from '../table.ts'
import { DEFAULT_LIMIT, type PageRequest, type StoreDeps } from './deps.ts'
import { requireFit } from './require-fit.ts'
import { written } from '@strongroom/kit/written'

export interface TimeRange {
  /** Epoch seconds, both included. */
  from: number
  to: number
}

export function createRates({ db, clock }: StoreDeps) {
  const buckets = entity(db, formBridgeTable, RateBucketItem)
  const overrides = entity(db, formBridgeTable, RateOverrideItem)

  /** Sets the attribute that says what was counted: a site's request type, or an action. */
  function kindOf(subject: RateSubject): Expression {
    const { attr } = buckets
    if ('site_id' in subject) return expr`, ${attr('request_type')} = ${subject.scope}`
    if ('client_ip' in subject) return expr`, ${attr('action')} = ${subject.scope}`
    if ('domain' in subject)
      return expr`, ${attr('action')} = ${actionOfDomainScope[subject.scope]}`
    return expr``
  }

  return {
    /** A limiter for one set of limits; it remembers callers, so it is made once and kept. */
    limiter(limits: [RateLimit, ...RateLimit[]]) {
      const limiter = createRateLimiter({ db, table: formBridgeTable, clock, limits })
      return {
        take: (subject: RateSubject): Promise<RateDecision> => limiter.take(rateWindowKey(subject)),
      }
    },

    /**
     * Adds requests to the bucket of now. A process may gather them for a while and add them at
     * once; the limits do not depend on it.
     */
    async count(subject: RateSubject, windowSeconds: number, requests = 1): Promise<void> {
      const start = Math.floor(clock.now() / 1000 / windowSeconds) * windowSeconds
      const ttl = start + windowSeconds + bucketLifetime(subject)
      const { attr } = buckets
      requireFit(RateBucketItem, { PK: ratePartition(subject) }, { n: requests })
      await buckets.update(
        rateBucketKey(subject, windowSeconds, start),
        expr`SET ${attr('timestamp')} = ${start}, ${attr('ttl')} = ${ttl}${kindOf(subject)} ADD ${attr('n')} ${requests}`,
      )
    },

    /** The buckets that begin in a stretch of time, oldest first. */
    async analyse(
      subject: RateSubject,
      windowSeconds: number,
      { from, to }: TimeRange,
    ): Promise<RateBucket[]> {
      const { attr } = buckets
      const [first, last] = [from, to].map((at) => rateBucketKey(subject, windowSeconds, at).SK)
      if (first === undefined || last === undefined || from > to) return []
      const { items } = await buckets.query({
        key: expr`${attr('PK')} = ${ratePartition(subject)} AND ${attr('SK')} BETWEEN ${first} AND ${last}`,
      })
      return items.filter((item) => isLive(item, clock))
    },

    async setOverride(
      subject: LimitedSubject,
      limits: Record<string, number>,
    ): Promise<RateOverride> {
      const { scope, id } = subject
      const item: RateOverride = {
        ...rateOverrideKey(subject),
        GSI2PK: 'RATE_OVERRIDES',
        GSI2SK: `${scope}#${id}`,
        scope,
        id,
        limits,
        created_at: isoNow(clock),
      }
      await overrides.put(item)
      return item
    },

    override(subject: LimitedSubject): Promise<RateOverride | undefined> {
      return overrides.get(rateOverrideKey(subject))
    },

    removeOverride(subject: LimitedSubject): Promise<boolean> {
      const exists = expr`attribute_exists(${overrides.attr('PK')})`
      return written(overrides.delete(rateOverrideKey(subject), exists))
    },

    /** By scope and id. */
    listOverrides({ limit = DEFAULT_LIMIT, after }: PageRequest = {}): Promise<Page<RateOverride>> {
      return overrides.query({
        index: 'GSI2',
        key: expr`${overrides.attr('GSI2PK')} = ${'RATE_OVERRIDES'}`,
        limit,
        after,
      })
    },
  }
}

function bucketLifetime({ scope }: RateSubject): number {
  return scope === 'registration' || scope === 'registration_domain'
    ? lifetimes.registrationRateBucket
    : lifetimes.rateBucket
}

/** Rate limits, request counts for analysis, and overrides of the default limits. */
import { epochSeconds } from '@strongroom/platform/clock'
import { conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr, type Expression } from '@strongroom/kit/expression'
import type { Page, PageRequest } from '@strongroom/kit/paging'
import { createRateLimiter, type RateDecision } from '@strongroom/kit/rate-limit'
import type { RateLimit } from '@strongroom/kit/sliding-window'
import {
  checkValues,
  DEFAULT_PAGE_SIZE,
  formBridgeTable,
  type StoreDeps,
  TTL_SECONDS,
} from '../tables.ts'
import { isoNow, isUnexpired } from '../time.ts'
import {
  ACTION_OF_DOMAIN_SCOPE,
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
} from './item.ts'

/** Epoch seconds, both included. */
export interface TimeRange {
  from: number
  to: number
}

export type RateStore = ReturnType<typeof createRateStore>

export function createRateStore({ db, clock }: StoreDeps) {
  const buckets = entity(db, formBridgeTable, RateBucketItem)
  const overrides = entity(db, formBridgeTable, RateOverrideItem)

  /** Sets `request_type` or `action`. */
  function setKind(subject: RateSubject): Expression {
    const { attr } = buckets
    if ('site_id' in subject) return expr`, ${attr('request_type')} = ${subject.scope}`
    if ('client_ip' in subject) return expr`, ${attr('action')} = ${subject.scope}`
    if ('domain' in subject) {
      return expr`, ${attr('action')} = ${ACTION_OF_DOMAIN_SCOPE[subject.scope]}`
    }
    return expr``
  }

  return {
    /** A limiter caches its callers, so create one for each set of limits and reuse it. */
    limiter(limits: [RateLimit, ...RateLimit[]]) {
      const limiter = createRateLimiter({ db, table: formBridgeTable, clock, limits })
      return {
        take: (subject: RateSubject): Promise<RateDecision> => limiter.take(rateWindowKey(subject)),
        usage: (subject: RateSubject) => limiter.usage(rateWindowKey(subject)),
      }
    },

    /** Adds requests to the bucket of an epoch second. The limits do not depend on it. */
    async count(
      subject: RateSubject,
      windowSeconds: number,
      requests = 1,
      at = epochSeconds(clock),
    ): Promise<void> {
      const start = Math.floor(at / windowSeconds) * windowSeconds
      const ttl = start + windowSeconds + bucketLifetime(subject)
      const { attr } = buckets
      checkValues(RateBucketItem, { PK: ratePartition(subject) }, { n: requests })
      await buckets.update(
        rateBucketKey(subject, windowSeconds, start),
        expr`SET ${attr('timestamp')} = ${start}, ${attr('ttl')} = ${ttl}${setKind(subject)} ADD ${attr('n')} ${requests}`,
      )
    },

    /** The buckets that start in a period, oldest first. */
    async analyse(
      subject: RateSubject,
      windowSeconds: number,
      { from, to }: TimeRange,
    ): Promise<RateBucket[]> {
      if (from > to) return []
      const { attr } = buckets
      const first = rateBucketKey(subject, windowSeconds, from).SK
      const last = rateBucketKey(subject, windowSeconds, to).SK
      const { items } = await buckets.query({
        key: expr`${attr('PK')} = ${ratePartition(subject)} AND ${attr('SK')} BETWEEN ${first} AND ${last}`,
      })
      return items.filter((item) => isUnexpired(item, clock))
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

    getOverride(subject: LimitedSubject): Promise<RateOverride | undefined> {
      return overrides.get(rateOverrideKey(subject))
    },

    removeOverride(subject: LimitedSubject): Promise<boolean> {
      const exists = expr`attribute_exists(${overrides.attr('PK')})`
      return conditionHeld(overrides.delete(rateOverrideKey(subject), exists))
    },

    /** Sorted by scope and id. */
    listOverrides({ limit = DEFAULT_PAGE_SIZE, after }: PageRequest = {}): Promise<
      Page<RateOverride>
    > {
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
    ? TTL_SECONDS.registrationRateBucket
    : TTL_SECONDS.rateBucket
}

/**
 * Rate limits of a subject: the defaults, an override by an operator, or a quarter of them while the
 * subject is slowed down because of abuse.
 *
 * The limits of a subject are cached for a few seconds, so a request costs one write and no read.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { rateLimitHeaders } from '@strongroom/kit/http/rate-limit-headers'
import type { RateDecision } from '@strongroom/kit/rate-limit'
import type { RateLimit } from '@strongroom/kit/sliding-window'
import { LRUCache } from 'lru-cache'
import { formBridgeError } from '../errors.ts'
import type { FormBridgeSettings } from '../settings.ts'
import {
  type LimitedSubject,
  limitedSubject,
  rateOverrideKey,
  type RateScope,
  type RateSubject,
} from './item.ts'
import type { RateStore } from './store.ts'

export type Limits = [RateLimit, ...RateLimit[]]

const minute = (limit: number): RateLimit => ({ name: 'minute', limit, windowSeconds: 60 })
const fiveMinutes = (limit: number): RateLimit => ({ name: 'minutes', limit, windowSeconds: 300 })
const hour = (limit: number): RateLimit => ({ name: 'hour', limit, windowSeconds: 3600 })
const day = (limit: number): RateLimit => ({ name: 'day', limit, windowSeconds: 86_400 })

export function defaultLimits(
  settings: Pick<FormBridgeSettings, 'FORM_BRIDGE_API_LIMIT' | 'FORM_BRIDGE_REGISTRATION_LIMIT'>,
): Record<RateScope, Limits> {
  const api = settings.FORM_BRIDGE_API_LIMIT
  return {
    api: [minute(api), hour(20 * api), day(100 * api)],
    webhook: [minute(api), hour(20 * api), day(100 * api)],
    update_check: [minute(10), hour(100), day(500)],
    registration: [fiveMinutes(settings.FORM_BRIDGE_REGISTRATION_LIMIT)],
    // Counts wrong keys only.
    key_exchange: [minute(30), hour(300)],
    validation: [minute(20), hour(200)],
    // For each address, so another caller who names a domain does not use up the limit of its owner.
    registration_domain: [fiveMinutes(10), hour(30)],
    // Requests to a host, for all callers together. Beyond it, each address has its share.
    validation_domain: [minute(10), hour(60)],
    validation_share: [minute(30), hour(300)],
    agency: [minute(300), hour(6000)],
  }
}

/** An override applies within this time in every process. */
const CACHE_MS = 5_000
const MAX_ENTRIES = 10_000
const SLOWDOWN_FACTOR = 4

type Limiter = ReturnType<RateStore['limiter']>

export type RateLimits = ReturnType<typeof createRateLimits>

export function createRateLimits(deps: {
  rates: Pick<RateStore, 'limiter' | 'getOverride'>
  clock: Clock
  defaults: Record<RateScope, Limits>
  isSlowed(subject: RateSubject): Promise<boolean>
}) {
  const { rates, clock, defaults, isSlowed } = deps
  const limiters = new LRUCache<string, Limiter>({ max: MAX_ENTRIES })
  const cached = new LRUCache<string, { readAt: number; limits: Limits }>({ max: MAX_ENTRIES })

  /** One for each set of limits, because a limiter caches its callers. */
  function limiterFor(limits: Limits): Limiter {
    const name = limits.map(({ name: each, limit }) => `${each} ${limit}`).join()
    let limiter = limiters.get(name)
    if (!limiter) {
      limiter = rates.limiter(limits)
      limiters.set(name, limiter)
    }
    return limiter
  }

  async function readLimits(subject: RateSubject) {
    const [override, slowed] = await Promise.all([
      rates.getOverride(limitedSubject(subject)),
      isSlowed(subject),
    ])
    const factor = 'factor' in subject ? subject.factor : 1
    const adjust = (limit: RateLimit): RateLimit => {
      const requests = override?.limits[limit.name] ?? factor * limit.limit
      return { ...limit, limit: slowed ? Math.ceil(requests / SLOWDOWN_FACTOR) : requests }
    }
    const [first, ...others] = defaults[subject.scope]
    const limits: Limits = [adjust(first), ...others.map(adjust)]
    return { limits, override, slowed }
  }

  async function limitsOf(subject: RateSubject): Promise<Limits> {
    const name = rateOverrideKey(limitedSubject(subject)).PK
    const found = cached.get(name)
    if (found && isRecent(clock, found.readAt, CACHE_MS)) return found.limits
    const { limits } = await readLimits(subject)
    cached.set(name, { readAt: clock.now(), limits })
    return limits
  }

  async function take(subject: RateSubject): Promise<RateDecision> {
    return limiterFor(await limitsOf(subject)).take(subject)
  }

  return {
    limitsOf,
    take,

    /** The limits of a subject as they are stored now, and what counts against them. */
    async describe(subject: RateSubject) {
      const { limits, override, slowed } = await readLimits(subject)
      return { usage: await rates.limiter(limits).usage(subject), override, slowed }
    },

    /** Throws `rate_limited` if one of the subjects is over its limits. */
    async require(...subjects: RateSubject[]): Promise<void> {
      for (const subject of subjects) {
        const decision = await take(subject)
        if (!decision.admitted) throw rateLimited(subject.scope, decision)
      }
    },

    /** After an operator changed the limits: applies here immediately, elsewhere in a few seconds. */
    invalidate(subject: LimitedSubject): void {
      cached.delete(rateOverrideKey(subject).PK)
    },
  }
}

export function rateLimited(scope: RateScope, decision: RateDecision) {
  const retryAfterSeconds = Math.max(1, decision.retryAfterSeconds)
  return formBridgeError('rate_limited', {
    headers: rateLimitHeaders({ ...decision, retryAfterSeconds }),
    data: { scope, limit: decision.limit.name },
  })
}

/**
 * Counts requests against the limits of their subject: the general ones, those that an operator set,
 * or a quarter of them while the subject is slowed down.
 *
 * What deviates is remembered for a few seconds, so that a request costs one write and no further read.
 */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import { rateLimitHeaders } from '@strongroom/kit/http/rate-limit-headers'
import type { RateDecision } from '@strongroom/kit/rate-limit'
import { formBridgeError } from '../errors.ts'
import {
  type LimitedSubject,
  limitedSubject,
  rateOverrideKey,
  type RateScope,
  type RateSubject,
} from '../items/rate.ts'
import type { createRates } from '../store/rates.ts'
import type { Limits } from './general-limits.ts'

/** How soon an operator's change holds. */
const FRESH_MS = 5_000
const REMEMBERED = 10_000
const SLOWED = 4

type Limiter = ReturnType<ReturnType<typeof createRates>['limiter']>

export type RateGuard = ReturnType<typeof createRateGuard>

export function createRateGuard(deps: {
  rates: Pick<ReturnType<typeof createRates>, 'limiter' | 'override'>
  clock: Clock
  general: Record<RateScope, Limits>
  /** Whether abuse has slowed a subject down. */
  isSlowed(subject: RateSubject): Promise<boolean>
}) {
  const { rates, clock, general, isSlowed } = deps
  const limiters = new Map<string, Limiter>()
  const known = new Map<string, { at: number; limits: Limits }>()

  /** One for each set of limits: a limiter remembers its callers. */
  function limiterFor(limits: Limits): Limiter {
    const name = limits.map(({ name: each, limit }) => `${each} ${limit}`).join()
    let limiter = limiters.get(name)
    if (!limiter) {
      if (limiters.size >= REMEMBERED) limiters.clear()
      limiter = rates.limiter(limits)
      limiters.set(name, limiter)
    }
    return limiter
  }

  async function limitsOf(subject: RateSubject): Promise<Limits> {
    const limited = limitedSubject(subject)
    const name = rateOverrideKey(limited).PK
    const found = known.get(name)
    if (found && isRecent(clock, found.at, FRESH_MS)) return found.limits
    const [override, slowed] = await Promise.all([rates.override(limited), isSlowed(subject)])
    const of = ({ name: limit, ...rest }: Limits[number]) => {
      const own = override?.limits[limit] ?? rest.limit
      return { ...rest, name: limit, limit: slowed ? Math.ceil(own / SLOWED) : own }
    }
    const [first, ...others] = general[subject.scope]
    const limits: Limits = [of(first), ...others.map(of)]
    known.delete(name)
    if (known.size >= REMEMBERED) known.clear()
    known.set(name, { at: clock.now(), limits })
    return limits
  }

  return {
    limitsOf,

    /** What an operator has just changed holds here at once, elsewhere in a few seconds. */
    forget(subject: LimitedSubject): void {
      known.delete(rateOverrideKey(subject).PK)
    },

    async take(subject: RateSubject): Promise<RateDecision> {
      return limiterFor(await limitsOf(subject)).take(subject)
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

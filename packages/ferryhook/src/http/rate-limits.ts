/** Rate limits of the management API and of sign-in. Their subjects are stored as a MAC only. */
import { createHmac } from 'node:crypto'
import type { CountedNetworks } from '@strongroom/kit/http/client-address'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import { createRateLimiter, type RateDecision, type RateLimiter } from '@strongroom/kit/rate-limit'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { RateLimit } from '@strongroom/kit/sliding-window'
import * as z from 'zod'
import { keyTemplate } from '../storage/key-template.ts'
import { seconds } from '../storage/schemas.ts'
import type { StoreDeps, Stores } from '../stores.ts'
import { eventsTable } from '../tables.ts'

export const rateWindowKey = keyTemplate({ PK: 'RATE#{scope}#{id}', SK: 'WINDOW' })

/** `kit/rate-limit` stores `{limit}_win`, `_cur` and `_prev` in it. */
export const RateWindowItem = z
  .object({ ...rateWindowKey.fields, expiresAt: seconds })
  .catchall(z.int())

const perMinute = (limit: number): RateLimit => ({ name: 'minute', limit, windowSeconds: 60 })
const perQuarter = (limit: number): RateLimit => ({ name: 'quarter', limit, windowSeconds: 900 })
const perHour = (limit: number): RateLimit => ({ name: 'hour', limit, windowSeconds: 3_600 })

const limits = {
  /** Requests of an API key to the management API. */
  key: perMinute(100),
  /** Requests of a user, with all keys and sessions. */
  user: perMinute(1_000),
  /** Sign-in attempts from one network as one user. */
  login: perQuarter(10),
  /** Sign-in attempts from one network as any user. */
  login_network: perQuarter(100),
  /** Sign-in attempts as one user from anywhere. Beyond it, each network has `login_attacked`. */
  login_email: perHour(100),
  /** Sign-in attempts from one network as a user whose password is being guessed from many. */
  login_attacked: perHour(2),
  /** Sign-ups, and tickets tried, from one network. */
  signup: perHour(20),
  /** Replays of single events, and of lists of events, by one user. */
  replay: perMinute(300),
  /** Actions of one user on lists of events. */
  bulk: perMinute(60),
  /** Replay jobs of one user. */
  replay_range: perHour(60),
  /** Password confirmations by one signed-in user. */
  password: perQuarter(10),
  /** Mails to one address. */
  mail: perHour(20),
} as const

export type RateScope = keyof typeof limits

export function createRateLimitStore({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const limiters = new Map<string, RateLimiter>()

  function limiterOf(scope: RateScope, factor: number): RateLimiter {
    const name = `${scope} ${factor}`
    let limiter = limiters.get(name)
    if (!limiter) {
      const limit = { ...limits[scope], limit: factor * limits[scope].limit }
      limiter = createRateLimiter({ db, table: eventsTable, clock, limits: [limit] })
      limiters.set(name, limiter)
    }
    return limiter
  }

  return {
    /** Counts one request, unless it exceeds the limit, or this many times the limit. */
    take(scope: RateScope, id: string, factor = 1): Promise<RateDecision> {
      return limiterOf(scope, factor).take(rateWindowKey.of({ scope, id }))
    },
  }
}

/** An id, an e-mail address, or the networks of a client, each of which is counted. */
type Subject = string | CountedNetworks

/**
 * Throws `request.rate_limited`. The subject may have several parts, such as the networks of a client,
 * which come first, and a user.
 */
export type EnforceRateLimit = (
  scope: RateScope,
  subject: Subject,
  ...more: string[]
) => Promise<void>

/** Counts a request like `EnforceRateLimit`, and returns false instead of throwing. */
export type IsWithinRateLimit = (...subject: Parameters<EnforceRateLimit>) => Promise<boolean>

const SECRET = 'ferryhook-rates'

interface RateLimitDeps {
  stores: Pick<Stores, 'rateLimits'>
  secrets: ServerSecrets
}

export function createEnforceRateLimit(deps: RateLimitDeps): EnforceRateLimit {
  const refusalOf = createRefusal(deps)
  return async (...subject) => {
    const refusal = await refusalOf(...subject)
    if (refusal) throw rateLimited(refusal)
  }
}

export function createIsWithinRateLimit(deps: RateLimitDeps): IsWithinRateLimit {
  const refusalOf = createRefusal(deps)
  return async (...subject) => (await refusalOf(...subject)) === undefined
}

/** Counts a request, and returns the decision that refuses it, if any. */
function createRefusal({ stores, secrets }: RateLimitDeps) {
  return async (
    scope: RateScope,
    subject: Subject,
    ...more: string[]
  ): Promise<RateDecision | undefined> => {
    const { key } = await secrets.current(SECRET)
    const counted = typeof subject === 'string' ? [{ network: subject, factor: 1 }] : subject
    for (const { network, factor } of counted) {
      // JSON, so that different lists never give the same text.
      const text = JSON.stringify([network, ...more])
      const id = createHmac('sha256', key).update(text).digest('base64url')
      const decision = await stores.rateLimits.take(scope, id, factor)
      if (!decision.admitted) return decision
    }
    return undefined
  }
}

/** Rate limits of the management API and of sign-in. Their subjects are stored as a MAC only. */
import { createHmac } from 'node:crypto'
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
  /** Sign-in attempts as one user from anywhere: it bounds guessing from many machines. */
  login_email: perHour(100),
  /** Sign-ups, and tickets tried, from one network. */
  signup: perHour(20),
  /** Replays of single events, and of lists of events, by one user. */
  replay: perMinute(300),
  /** Replay jobs of one user. */
  replay_range: perHour(60),
  /** Password confirmations by one signed-in user. */
  password: perQuarter(10),
  /** Mails to one address. */
  mail: perHour(20),
} as const

export type RateScope = keyof typeof limits

export function createRateLimitStore({ db, clock }: Pick<StoreDeps, 'db' | 'clock'>) {
  const limiters = new Map<RateScope, RateLimiter>()
  for (const [scope, limit] of Object.entries(limits)) {
    const limiter = createRateLimiter({ db, table: eventsTable, clock, limits: [limit] })
    limiters.set(scope as RateScope, limiter)
  }

  return {
    /** Counts one request, unless it exceeds the limit. */
    take(scope: RateScope, id: string): Promise<RateDecision> {
      const limiter = limiters.get(scope) as RateLimiter
      return limiter.take(rateWindowKey.of({ scope, id }))
    },
  }
}

/** Throws `request.rate_limited`. The subject may have several parts, such as network and user. */
export type EnforceRateLimit = (scope: RateScope, ...subject: string[]) => Promise<void>

const SECRET = 'ferryhook-rates'

export function createEnforceRateLimit(deps: {
  stores: Pick<Stores, 'rateLimits'>
  secrets: ServerSecrets
}): EnforceRateLimit {
  return async (scope, ...subject) => {
    const { key } = await deps.secrets.current(SECRET)
    // JSON, so that different lists never give the same text.
    const id = createHmac('sha256', key).update(JSON.stringify(subject)).digest('base64url')
    const decision = await deps.stores.rateLimits.take(scope, id)
    if (!decision.admitted) throw rateLimited(decision)
  }
}

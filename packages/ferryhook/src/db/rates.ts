/** Counts requests, so that nobody asks for more than their share or guesses passwords. */
import { createRateLimiter, type RateDecision, type RateLimiter } from '@strongroom/kit/rate-limit'
import type { RateLimit } from '@strongroom/kit/sliding-window'
import { rateWindowKey } from '../items/rate-window.ts'
import { eventsTable } from '../table.ts'
import type { DataLayerDeps } from './deps.ts'

const perMinute = (limit: number): RateLimit => ({ name: 'minute', limit, windowSeconds: 60 })
const perQuarter = (limit: number): RateLimit => ({ name: 'quarter', limit, windowSeconds: 900 })
const perHour = (limit: number): RateLimit => ({ name: 'hour', limit, windowSeconds: 3_600 })

const limits = {
  /** What an API key asks of the management API. */
  key: perMinute(100),
  /** What a user asks of it, with all keys and sessions. */
  user: perMinute(1_000),
  /** Attempts to sign in from one network as one user. */
  login: perQuarter(10),
  /** From one network as anybody. */
  login_network: perQuarter(100),
  /** As one user from anywhere: guessing goes on at this pace, however many machines do it. */
  login_email: perHour(100),
  /** New accounts, and tickets tried, from one network. */
  signup: perHour(20),
  /** Replays of single events, and of lists of them, by one user. */
  replay: perMinute(300),
  /** Replays of whatever a filter finds. */
  replay_range: perHour(60),
  /** Passwords that somebody with a session gives to prove who they are. */
  password: perQuarter(10),
  /** Mails to one address. */
  mail: perHour(20),
} as const

export type RateScope = keyof typeof limits

export function createRates({ db, clock }: Pick<DataLayerDeps, 'db' | 'clock'>) {
  const limiters = new Map<RateScope, RateLimiter>()
  for (const [scope, limit] of Object.entries(limits)) {
    const limiter = createRateLimiter({ db, table: eventsTable, clock, limits: [limit] })
    limiters.set(scope as RateScope, limiter)
  }

  return {
    /** Counts one request, if its limit allows it. */
    take(scope: RateScope, id: string): Promise<RateDecision> {
      const limiter = limiters.get(scope) as RateLimiter
      return limiter.take(rateWindowKey.of({ scope, id }))
    },
  }
}

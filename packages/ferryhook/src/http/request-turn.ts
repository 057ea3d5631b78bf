/**
 * Lets one large request body be parsed and validated in a turn of the event loop. Without it, the
 * bodies of parallel requests would be parsed one after the other before anything else runs.
 */
import type { MiddlewareHandler } from 'hono'
import type { PrincipalEnv } from './permissions.ts'
import { MAX_UNITS_BEFORE_YIELD, type WorkScheduler } from '../sandbox/work-scheduler.ts'

/** Requests below this size do not wait for a turn. */
const MIN_BODY_LENGTH = 16_384

export function createRequestTurn(scheduler: WorkScheduler): MiddlewareHandler<PrincipalEnv> {
  return async (c, next) => {
    // Read before the turn, because reading takes several turns itself.
    const { length } = await c.req.text()
    if (length >= MIN_BODY_LENGTH) {
      // Fills the turn, in which validation then continues.
      await scheduler.run(c.get('principal').user.userId, (budget) =>
        budget.spend(MAX_UNITS_BEFORE_YIELD),
      )
    }
    await next()
  }
}

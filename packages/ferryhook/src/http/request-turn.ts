/**
 * Lets one large request body be parsed and validated in a turn of the event loop. Without it, the
 * bodies of parallel requests would be parsed one after the other before anything else runs.
 */
import type { MiddlewareHandler } from 'hono'
import type { PrincipalEnv } from './permissions.ts'
import { compilePatterns } from '../filters/pattern-compilation.ts'
import { parseJson } from '../filters/received-event.ts'
import { MAX_UNITS_BEFORE_YIELD, type WorkScheduler } from '../sandbox/work-scheduler.ts'

/** Requests below this size do not wait for a turn. */
const MIN_BODY_LENGTH = 4_096

export function createRequestTurn(scheduler: WorkScheduler): MiddlewareHandler<PrincipalEnv> {
  return async (c, next) => {
    // Read before the turn, because reading takes several turns itself.
    const text = await c.req.text()
    if (text.length >= MIN_BODY_LENGTH) {
      const owner = c.get('principal').user.userId
      const fillTurn = () => scheduler.run(owner, (budget) => budget.spend(MAX_UNITS_BEFORE_YIELD))
      await fillTurn()
      await compilePatterns(filtersIn(text), owner, scheduler)
      // Fills the turn in which validation then continues.
      await fillTurn()
    }
    await next()
  }
}

function filtersIn(text: string): unknown {
  return (parseJson(text)?.value as { filters?: unknown } | null | undefined)?.filters
}

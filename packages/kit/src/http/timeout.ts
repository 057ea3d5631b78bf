import type { MiddlewareHandler } from 'hono'
import type { AppEnv } from './env.ts'
import { requestError } from './errors.ts'

/**
 * Answers `request.timeout` when a handler takes longer, and fires `c.get('signal')`, which the
 * handler passes on to what it waits for: without that its work would go on unseen.
 */
export function timeout(ms: number): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const controller = new AbortController()
    c.set('signal', controller.signal)
    let timer: NodeJS.Timeout | undefined
    const expired = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = requestError('timeout')
        controller.abort(error)
        reject(error)
      }, ms)
    })
    try {
      await Promise.race([next(), expired])
    } finally {
      clearTimeout(timer)
    }
  }
}

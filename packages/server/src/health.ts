/** `/healthz`: the process responds. `/readyz`: its store and its KMS do too. */
import { once } from 'node:events'
import { serverError } from '@strongroom/kit/http/errors'
import type { HotRoute } from '@strongroom/kit/http/hot-routes'
import { KEY_CACHE_SECONDS } from '@strongroom/kit/key-cache'

/** Not the name of a service, so an operator that is limited to services has no access. */
export const SERVER = 'server'

/** Less than the timeout of common probes. */
const CHECK_TIMEOUT_MS = 2000
/** Probes send none. */
const MAX_BODY_BYTES = 1024

/** Hot, because a probe is the first request, and the app is built for the first one that needs it. */
export function createHealthRoutes({ check }: { check: () => Promise<void> }): HotRoute[] {
  return [
    hotRoute('/healthz', async () => ({ status: 'ok' })),
    hotRoute('/readyz', async () => {
      await checkWithin(check).catch((error: unknown) => {
        throw serverError('unavailable', { cause: error, headers: { 'retry-after': '1' } })
      })
      return { status: 'ready', keyCacheSeconds: KEY_CACHE_SECONDS }
    }),
  ]
}

function hotRoute(path: HotRoute['path'], view: () => Promise<object>): HotRoute {
  return {
    methods: ['GET'],
    path,
    maxBodyBytes: MAX_BODY_BYTES,
    handle: async () => ({
      status: 200,
      contentType: 'application/json',
      body: JSON.stringify(await view()),
    }),
  }
}

/** Fails if the check fails or takes too long. */
export async function checkWithin(check: () => Promise<void>): Promise<void> {
  const late = once(AbortSignal.timeout(CHECK_TIMEOUT_MS), 'abort').then(() => {
    throw new Error(`The store or the KMS did not respond within ${CHECK_TIMEOUT_MS} ms`)
  })
  await Promise.race([check(), late])
}

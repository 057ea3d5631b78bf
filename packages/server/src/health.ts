/** `/healthz`: the process responds. `/readyz`: its store and its KMS do too. */
import { once } from 'node:events'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { serverError } from '@strongroom/kit/http/errors'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { declarePermissions } from '@strongroom/kit/http/permissions'
import { KEY_CACHE_SECONDS } from '@strongroom/kit/key-cache'

const Alive = z.object({ status: z.literal('ok') })
const Ready = z.object({
  status: z.literal('ready'),
  keyCacheSeconds: z.number().int().openapi({
    description:
      'How long keys and decrypted secrets are used from memory: within this time, a disabled KMS key stops working everywhere',
    example: KEY_CACHE_SECONDS,
  }),
})

/** Less than the timeout of common probes. */
const CHECK_TIMEOUT_MS = 2000

export function healthRoutes({ check }: { check: () => Promise<void> }): OpenAPIHono<AppEnv> {
  const routes = new OpenAPIHono<AppEnv>()
  const permit = declarePermissions('Server')

  const alive = createRoute({
    ...permit.public,
    method: 'get',
    path: '/healthz',
    summary: 'Liveness',
    description: 'Whether the process responds.',
    responses: { 200: jsonResponse(Alive, 'The process responds') },
  })
  routes.openapi(alive, (c) => c.json({ status: 'ok' as const }, 200))

  const ready = createRoute({
    ...permit.public,
    method: 'get',
    path: '/readyz',
    summary: 'Readiness',
    description: 'Whether the store and the KMS respond too.',
    responses: {
      200: jsonResponse(Ready, 'Ready for requests'),
      ...errorResponses(serverError, 'unavailable'),
    },
  })
  routes.openapi(ready, async (c) => {
    await checkWithin(check).catch((error: unknown) => {
      throw serverError('unavailable', { cause: error, headers: { 'retry-after': '1' } })
    })
    return c.json({ status: 'ready' as const, keyCacheSeconds: KEY_CACHE_SECONDS }, 200)
  })
  return routes
}

/** Fails if the check fails or takes too long. */
export async function checkWithin(check: () => Promise<void>): Promise<void> {
  const late = once(AbortSignal.timeout(CHECK_TIMEOUT_MS), 'abort').then(() => {
    throw new Error(`The store or the KMS did not respond within ${CHECK_TIMEOUT_MS} ms`)
  })
  await Promise.race([check(), late])
}

/** `/healthz`: the process responds. `/readyz`: its store and its KMS do too. */
import { once } from 'node:events'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { serverError } from '@strongroom/kit/http/errors'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { honoHandler, type HotRoute } from '@strongroom/kit/http/hot-routes'
import { declarePermissions, publicRoute } from '@strongroom/kit/http/permissions'
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
/** Probes send none. */
const MAX_BODY_BYTES = 1024

const permit = declarePermissions('Server')

const aliveRoute = createRoute({
  ...permit.public,
  method: 'get',
  path: '/healthz',
  summary: 'Liveness',
  description: 'Whether the process responds.',
  responses: { 200: jsonResponse(Alive, 'The process responds') },
})

const readyRoute = createRoute({
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

/** Hot, because the first request of the app builds its router, and a probe is the first request. */
export function healthRoutes({ check }: { check: () => Promise<void> }) {
  const alive: z.infer<typeof Alive> = { status: 'ok' }
  const ready: z.infer<typeof Ready> = { status: 'ready', keyCacheSeconds: KEY_CACHE_SECONDS }
  const hotRoutes = [
    hotRoute(aliveRoute.path, async () => alive),
    hotRoute(readyRoute.path, async () => {
      await checkWithin(check).catch((error: unknown) => {
        throw serverError('unavailable', { cause: error, headers: { 'retry-after': '1' } })
      })
      return ready
    }),
  ]
  const routes = new OpenAPIHono<AppEnv>()
  for (const route of [aliveRoute, readyRoute]) routes.openAPIRegistry.registerPath(route)
  for (const route of hotRoutes) routes.get(route.path, publicRoute, honoHandler(route))
  return { routes, hotRoutes }
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

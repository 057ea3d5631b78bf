/** The health checks in the app, and in the API description. */
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

export function healthRoutes(hotRoutes: readonly HotRoute[]): OpenAPIHono<AppEnv> {
  const routes = new OpenAPIHono<AppEnv>()
  for (const route of [aliveRoute, readyRoute]) routes.openAPIRegistry.registerPath(route)
  for (const route of hotRoutes) routes.get(route.path, publicRoute, honoHandler(route))
  return routes
}

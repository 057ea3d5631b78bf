/** `/metrics` in the Prometheus text format: for operators, or on a port of its own. */
import type { RequestListener } from 'node:http'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { createApp } from '@strongroom/kit/http/app'
import type { AppEnv } from '@strongroom/kit/http/env'
import { nodeListener } from '@strongroom/kit/http/node'
import { errorResponses } from '@strongroom/kit/http/openapi'
import { operatorOnly } from '@strongroom/kit/http/permissions'
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'
import { operatorError, type Operators } from '@strongroom/kit/operators'

export function metricsRoutes(metrics: Metrics, operators: Operators): OpenAPIHono<AppEnv> {
  const routes = new OpenAPIHono<AppEnv>()
  const route = createRoute({
    method: 'get',
    path: '/metrics',
    tags: ['Server'],
    summary: 'Metrics',
    description: 'For operators, in the Prometheus text format.',
    security: [{ operator: [] }],
    middleware: operatorOnly(operators),
    responses: {
      200: { description: 'The metrics', content: { 'text/plain': { schema: z.string() } } },
      ...errorResponses(operatorError, 'unauthorized'),
    },
  })
  routes.openAPIRegistry.registerComponent('securitySchemes', 'operator', {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of an operator: `strongroom operator add` makes one',
  })
  routes.openapi(route, async (c) => {
    return c.text(await metrics.text(), 200, { 'content-type': metrics.contentType })
  })
  return routes
}

/** For a listener on 127.0.0.1 that only this machine reaches: needs no token. */
export function localMetrics({ log, metrics }: { log: Log; metrics: Metrics }): RequestListener {
  const app = createApp({ log, metrics })
  app.get('/metrics', async (c) =>
    c.text(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )
  return nodeListener(app)
}

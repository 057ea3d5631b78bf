/** `/metrics` in the Prometheus text format: for operators, or on a port of its own. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses } from '@strongroom/kit/http/openapi'
import { operatorOnly } from '@strongroom/kit/http/operator-only'
import type { Metrics } from '@strongroom/kit/metrics'
import { operatorError, type Operators } from '@strongroom/kit/operators'
import { Hono } from 'hono'

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

/** For a listener on 127.0.0.1 that only this machine reaches: no token needed. */
export function localMetrics(metrics: Metrics): Hono {
  return new Hono().get('/metrics', async (c) =>
    c.text(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )
}

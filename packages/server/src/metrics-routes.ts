/** `/metrics` in the Prometheus text format: for operators, or on a port of its own. */
import type { RequestListener } from 'node:http'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { createApp } from '@strongroom/kit/http/app'
import type { AppEnv } from '@strongroom/kit/http/env'
import { nodeListener } from '@strongroom/kit/http/node'
import { operatorErrors, type OperatorPermissions } from '@strongroom/kit/http/permissions'
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'

export function metricsRoutes(deps: {
  metrics: Metrics
  permit: OperatorPermissions
}): OpenAPIHono<AppEnv> {
  const { metrics, permit } = deps
  const route = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/metrics',
    summary: 'Metrics',
    description: 'For operators, in the Prometheus text format.',
    responses: {
      200: { description: 'The metrics', content: { 'text/plain': { schema: z.string() } } },
      ...operatorErrors,
    },
  })
  return new OpenAPIHono<AppEnv>().openapi(route, async (c) => {
    return c.text(await metrics.text(), 200, { 'content-type': metrics.contentType })
  })
}

/** For a listener on 127.0.0.1 that only this machine reaches: needs no token. */
export function localMetrics({ log, metrics }: { log: Log; metrics: Metrics }): RequestListener {
  const app = createApp({ log, metrics })
  app.get('/metrics', async (c) =>
    c.text(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )
  return nodeListener(app)
}

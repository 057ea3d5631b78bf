/** Delivery statistics and the usage of the plan. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import type { Permissions } from '../http/permissions.ts'
import { type GetOverview, periods } from './overview.ts'
import type { UsageService } from './service.ts'
import { OverviewView, toOverviewView, toUsageView, UsageView } from './view.ts'

export function usageRoutes(deps: {
  permit: Permissions
  usageService: UsageService
  getOverview: GetOverview
}): OpenAPIHono<AppEnv> {
  const { permit, usageService, getOverview } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')

  const overview = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/analytics/overview',
    summary: 'Get delivery statistics',
    description:
      'For all sources, or for one: altogether, over time and by source, with the connections that fail or are paused. Periods are whole buckets: 24 hours by hour, 7 days by six hours, 30 days by day in UTC.',
    request: {
      query: z.object({
        period: z.enum(periods).default('24h'),
        sourceId: z.string().max(100).optional(),
      }),
    },
    responses: {
      200: jsonResponse(OverviewView, 'The statistics'),
      ...denied,
      ...errorResponses(ferryhookError, 'source_not_found'),
    },
  })
  const usage = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/usage',
    summary: 'Get the usage of the plan',
    description: 'For the current calendar month in UTC, altogether and by day.',
    responses: { 200: jsonResponse(UsageView, 'The usage'), ...denied },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(overview, async (c) => {
      const query = c.req.valid('query')
      const found = await getOverview(c.get('principal'), query)
      return c.json(toOverviewView(query.period, found), 200)
    })
    .openapi(usage, async (c) =>
      c.json(toUsageView(await usageService.usage(c.get('principal'))), 200),
    )
}

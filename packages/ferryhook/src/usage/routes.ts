/** Delivery statistics and the usage of the plan. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import type { Permissions } from '../http/permissions.ts'
import { ferryhookError } from '../errors.ts'
import { deliveryStates } from '../deliveries/state.ts'
import { eventStatuses } from '../events/item.ts'
import { plans } from '../plans.ts'
import { periods, type UsageService } from './service.ts'

const OverviewView = z
  .object({
    period: z.enum(periods),
    from: z.string(),
    to: z.string(),
    events: z.object({
      total: z.int(),
      byStatus: z.record(z.enum(eventStatuses), z.int()),
    }),
    deliveries: z.record(z.enum(deliveryStates), z.int()),
    successRate: z.number().min(0).max(1).nullable().openapi({
      description: 'The share of finished deliveries that succeeded',
    }),
    latencyMs: z
      .object({ p50: z.int().nullable(), p99: z.int().nullable() })
      .openapi({ description: 'From receipt to delivery, accurate to 5 %' }),
    refused: z
      .object({ minuteLimit: z.int(), monthLimit: z.int(), unverified: z.int() })
      .openapi({ description: 'Rejected events by reason' }),
    beyondMonth: z.int().openapi({ description: 'Events accepted over the monthly limit' }),
    isComplete: z.boolean().openapi({
      description: 'False if there were too many events to count in one request',
    }),
  })
  .openapi('FerryhookOverview')

const UsageView = z
  .object({
    plan: z.enum(plans),
    periodStart: z.string().openapi({ example: '2026-01-01' }),
    periodEnd: z
      .string()
      .openapi({ description: 'The first day after the period', example: '2026-02-01' }),
    events: z.object({
      used: z.int(),
      limit: z.int(),
      remaining: z.int(),
      isExceeded: z.boolean(),
      refusesBeyond: z
        .boolean()
        .openapi({ description: 'Whether events over the limit are rejected' }),
    }),
    sources: z.object({ used: z.int(), limit: z.int() }),
    connectionsPerSource: z.int(),
    eventsPerMinute: z.int().openapi({ description: 'Per source' }),
  })
  .openapi('FerryhookUsage')

export function usageRoutes(deps: {
  permit: Permissions
  usageService: UsageService
}): OpenAPIHono<AppEnv> {
  const { permit, usageService } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')

  const overview = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/analytics/overview',
    summary: 'Get delivery statistics',
    description: 'For all sources, or for one. Periods are whole hours, or whole days in UTC.',
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
    description: 'For the current calendar month in UTC.',
    responses: { 200: jsonResponse(UsageView, 'The usage'), ...denied },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(overview, async (c) => {
      const query = c.req.valid('query')
      const found = await usageService.overview(c.get('principal'), query)
      const { minute, month, unverified, beyondMonth } = found.refused
      const { p50 = null, p99 = null } = found.latency
      const view = {
        period: query.period,
        from: new Date(found.from).toISOString(),
        to: new Date(found.to).toISOString(),
        events: {
          total: Object.values(found.events).reduce((sum, count) => sum + count, 0),
          byStatus: found.events,
        },
        deliveries: found.deliveries,
        successRate: found.successRate ?? null,
        latencyMs: { p50, p99 },
        refused: { minuteLimit: minute, monthLimit: month, unverified },
        beyondMonth,
        isComplete: found.isComplete,
      }
      return c.json(view, 200)
    })
    .openapi(usage, async (c) => {
      const { plan, limits, periodStart, periodEnd, events, sources } = await usageService.usage(
        c.get('principal'),
      )
      const { eventsPerMonth: limit, connectionsPerSource, eventsPerMinute } = limits
      const view = {
        plan,
        periodStart,
        periodEnd,
        events: {
          used: events,
          limit,
          remaining: Math.max(0, limit - events),
          isExceeded: events > limit,
          refusesBeyond: limits.refusesBeyondMonth,
        },
        sources: { used: sources, limit: limits.sources },
        connectionsPerSource,
        eventsPerMinute,
      }
      return c.json(view, 200)
    })
}

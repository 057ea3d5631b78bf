/** Routes for operators: overrides of the default limits. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorError } from '@strongroom/kit/operators'
import { formBridgeError } from '../errors.ts'
import { PageQuery } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import { RateScope } from './item.ts'
import type { RateLimits } from './service.ts'
import type { RateStore } from './store.ts'

const LimitsByName = z.partialRecord(
  z.enum(['minute', 'minutes', 'hour', 'day']),
  z.int().min(1).max(10_000_000),
)
const OverrideView = z.object({
  scope: RateScope,
  id: z.string(),
  limits: z.record(z.string(), z.int()),
  created_at: z.string(),
})
const SubjectParams = z.object({ scope: RateScope, id: z.string().min(1).max(600) })

export function limitRoutes(deps: {
  permit: Permissions
  pager: Pager
  rates: RateStore
  limits: RateLimits
}): OpenAPIHono<AppEnv> {
  const { permit, pager, rates, limits } = deps
  const denied = errorResponses(operatorError, 'unauthorized')

  const list = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/rate-limits',
    summary: 'List rate limit overrides',
    request: { query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(OverrideView), 'A page of overrides'),
      ...denied,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const set = createRoute({
    ...permit.operator,
    method: 'put',
    path: '/v1/rate-limits/{scope}/{id}',
    summary: 'Set a rate limit override',
    description:
      'Applies within five seconds. `id` is a site, an agency, a domain or a hashed address.',
    request: { params: SubjectParams, body: jsonBody(z.strictObject({ limits: LimitsByName })) },
    responses: { 200: jsonResponse(OverrideView, 'The override'), ...denied },
  })
  const remove = createRoute({
    ...permit.operator,
    method: 'delete',
    path: '/v1/rate-limits/{scope}/{id}',
    summary: 'Remove a rate limit override',
    request: { params: SubjectParams },
    responses: {
      204: { description: 'The default limits apply again' },
      ...denied,
      ...errorResponses(formBridgeError, 'override_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const page = await pager(
        ['overrides'],
        c.req.valid('query'),
        (request) => rates.listOverrides(request),
        (override) => OverrideView.parse(override),
      )
      return c.json(page, 200)
    })
    .openapi(set, async (c) => {
      const subject = c.req.valid('param')
      const override = await rates.setOverride(subject, c.req.valid('json').limits)
      limits.invalidate(subject)
      return c.json(OverrideView.parse(override), 200)
    })
    .openapi(remove, async (c) => {
      const subject = c.req.valid('param')
      if (!(await rates.removeOverride(subject))) throw formBridgeError('override_not_found')
      limits.invalidate(subject)
      return c.body(null, 204)
    })
}

/** Routes for operators: overrides of the default limits. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import type { AuditedStores } from '../audited-stores.ts'
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
  auditedStores: AuditedStores
}): OpenAPIHono<AppEnv> {
  const { permit, pager, rates, limits, auditedStores } = deps

  const list = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/rate-limits',
    summary: 'List rate limit overrides',
    request: { query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(OverrideView), 'A page of overrides'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const set = createRoute({
    ...permit.operator.editor,
    method: 'put',
    path: '/v1/rate-limits/{scope}/{id}',
    summary: 'Set a rate limit override',
    description:
      'Applies within five seconds. `id` is a site, an agency, a domain or a hashed address.',
    request: { params: SubjectParams, body: jsonBody(z.strictObject({ limits: LimitsByName })) },
    responses: { 200: jsonResponse(OverrideView, 'The override'), ...operatorErrors },
  })
  const remove = createRoute({
    ...permit.operator.editor,
    method: 'delete',
    path: '/v1/rate-limits/{scope}/{id}',
    summary: 'Remove a rate limit override',
    request: { params: SubjectParams },
    responses: {
      204: { description: 'The default limits apply again' },
      ...operatorErrors,
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
      const after = c.req.valid('json')
      const before = { limits: (await rates.getOverride(subject))?.limits ?? null }
      const target = `${subject.scope}/${subject.id}`
      const audited = auditedStores(c.get('actor'), {
        action: 'rate_limit.set',
        target,
        before,
        after,
      })
      const override = await audited.rates.setOverride(subject, after.limits)
      limits.invalidate(subject)
      return c.json(OverrideView.parse(override), 200)
    })
    .openapi(remove, async (c) => {
      const subject = c.req.valid('param')
      const target = `${subject.scope}/${subject.id}`
      const audited = auditedStores(c.get('actor'), { action: 'rate_limit.removed', target })
      if (!(await audited.rates.removeOverride(subject)))
        throw formBridgeError('override_not_found')
      limits.invalidate(subject)
      return c.body(null, 204)
    })
}

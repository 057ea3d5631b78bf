/** Routes for operators: overrides of the default limits, and request counts. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import type { AuditedStores } from '../audited-stores.ts'
import { formBridgeError } from '../errors.ts'
import { IsoTime } from '../formats.ts'
import { PageQuery } from '../params.ts'
import { TTL_SECONDS } from '../tables.ts'
import type { Permissions } from '../permissions.ts'
import { BUCKET_SECONDS, RateAction, RateScope, type RateSubject, RequestType } from './item.ts'
import type { RateLimits } from './service.ts'
import type { RateStore } from './store.ts'
import { LimitStateView, OverrideView, UsageView } from './view.ts'

const LimitsByName = z.partialRecord(
  z.enum(['minute', 'minutes', 'hour', 'day']),
  z.int().min(1).max(10_000_000),
)
const UsageParams = z.object({
  scope: z.enum([...RequestType.options, ...RateAction.options]),
  id: z.string().min(1).max(64),
})
const SubjectParams = z.object({ scope: RateScope, id: z.string().min(1).max(600) })

export function limitRoutes(deps: {
  permit: Permissions
  clock: Clock
  pager: Pager
  rates: RateStore
  limits: RateLimits
  auditedStores: AuditedStores
}): OpenAPIHono<AppEnv> {
  const { permit, clock, pager, rates, limits, auditedStores } = deps

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

  const getState = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/rate-limits/{scope}/{id}',
    summary: 'Get the limits of a site or address, and how much of them is used',
    request: { params: UsageParams },
    responses: { 200: jsonResponse(LimitStateView, 'The limits'), ...operatorErrors },
  })
  const getUsage = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/rate-limits/{scope}/{id}/usage',
    summary: 'Get the requests of a site or address by minute, oldest first',
    description:
      'Of the last 24 hours, of registrations the last minutes, unless a shorter time is given. `id` is a site or a hashed address. The last two minutes may be incomplete.',
    request: {
      params: UsageParams,
      query: z.object({ from: IsoTime.optional(), to: IsoTime.optional() }),
    },
    responses: { 200: jsonResponse(UsageView, 'The minutes with requests'), ...operatorErrors },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(getUsage, async (c) => {
      const now = epochSeconds(clock)
      const query = c.req.valid('query')
      const from = query.from ? toMinute(query.from) : now - TTL_SECONDS.rateBucket
      const to = query.to ? toMinute(query.to) : now
      const buckets = await rates.analyse(toSubject(c.req.valid('param')), BUCKET_SECONDS, {
        from,
        to,
      })
      const items = buckets.map(({ timestamp, n }) => ({
        start: new Date(1000 * timestamp).toISOString(),
        requests: n,
      }))
      return c.json({ total: items.reduce((sum, { requests }) => sum + requests, 0), items }, 200)
    })
    .openapi(getState, async (c) => {
      const subject = c.req.valid('param')
      const { usage, override, slowed } = await limits.describe(toSubject(subject))
      const states = usage.map(({ rate: { name, limit, windowSeconds }, used }) => ({
        name,
        window_seconds: windowSeconds,
        limit,
        used,
      }))
      const state = { limits: states, override: override?.limits ?? null, is_slowed: slowed }
      return c.json({ ...subject, ...state }, 200)
    })
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

/** The start of the minute, so the bucket of `from` is included. */
function toMinute(iso: string): number {
  const seconds = Math.floor(Date.parse(iso) / 1000)
  return Math.max(0, seconds - (seconds % BUCKET_SECONDS))
}

function toSubject({ scope, id }: z.infer<typeof UsageParams>): RateSubject {
  const isAddress = RateAction.options.some((each) => each === scope)
  return isAddress
    ? { scope: RateAction.parse(scope), client_ip: id }
    : { scope: RequestType.parse(scope), site_id: id }
}

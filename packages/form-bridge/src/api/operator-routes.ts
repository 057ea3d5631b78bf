/** What operators look at: registrations, events, patterns of abuse, adoption, limits. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorError } from '@strongroom/kit/operators'
import { formBridgeError } from '../errors.ts'
import { AbusePatternType, AbuseSeverity } from '../items/abuse.ts'
import { IsoDate, IsoTime, SiteId, Version } from '../items/formats.ts'
import { RateScope } from '../items/rate.ts'
import { SecurityEventType } from '../items/security-event.ts'
import type { ApiDeps } from './deps.ts'
import { PageQuery } from './schemas.ts'

const PendingView = z.object({
  registration_id: z.string(),
  domain: z.string(),
  agency_id: z.string().optional(),
  created_at: z.string(),
  expires_at: z.string(),
})
const EventView = z.object({
  event_type: SecurityEventType,
  site_id: z.string(),
  domain: z.string().optional(),
  client_ip: z.string().openapi({ description: 'A keyed hash, the same for the same network' }),
  user_agent: z.string(),
  details: z.record(z.string(), z.unknown()),
  timestamp: z.string(),
})
const AbuseView = z.object({
  pattern_type: AbusePatternType,
  identifier: z.string(),
  severity: AbuseSeverity,
  details: z.record(z.string(), z.unknown()),
  detected_at: z.string(),
})
const InstalledView = z.object({
  site_id: z.string(),
  domain: z.string(),
  current_version: z.string(),
  checked_at: z.string(),
})
const LimitNames = z.partialRecord(
  z.enum(['minute', 'minutes', 'hour', 'day']),
  z.int().min(1).max(10_000_000),
)
const OverrideView = z.object({
  scope: RateScope,
  id: z.string(),
  limits: z.record(z.string(), z.int()),
  created_at: z.string(),
})
const BySubject = z.object({ scope: RateScope, id: z.string().min(1).max(600) })
const EventQuery = PageQuery.extend({
  type: SecurityEventType.default('auth_failure'),
  site_id: SiteId.optional().openapi({ description: 'Of one site, of any type' }),
  from: IsoTime.optional(),
  to: IsoTime.optional(),
})

export function operatorRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, clock, layer, pager, guard } = deps
  const denied = errorResponses(operatorError, 'unauthorized')
  const listed = { ...denied, ...errorResponses(cursorError, 'invalid_cursor') }

  const pending = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/registrations',
    summary: 'List pending registrations, newest first',
    request: { query: PageQuery },
    responses: { 200: jsonResponse(pageOf(PendingView), 'A page of registrations'), ...listed },
  })
  const events = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/security-events',
    summary: 'List security events by type or site and time, newest first',
    request: { query: EventQuery },
    responses: { 200: jsonResponse(pageOf(EventView), 'A page of events'), ...listed },
  })
  const patterns = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/abuse-patterns',
    summary: 'List patterns of abuse by type, newest first',
    request: { query: PageQuery.extend({ type: AbusePatternType }) },
    responses: { 200: jsonResponse(pageOf(AbuseView), 'A page of patterns'), ...listed },
  })
  const forgive = createRoute({
    ...permit.operator,
    method: 'delete',
    path: '/v1/abuse-patterns/{type}/{id}',
    summary: 'Forget a pattern: what it blocked or slowed down goes on',
    request: { params: z.object({ type: AbusePatternType, id: z.string().min(1).max(600) }) },
    responses: {
      204: { description: 'Nothing is known of it any more' },
      ...denied,
      ...errorResponses(formBridgeError, 'pattern_not_found'),
    },
  })
  const adoption = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/adoption',
    summary: 'Count the sites that had each version on a day',
    request: { query: z.object({ date: IsoDate.optional() }) },
    responses: {
      200: jsonResponse(
        z.object({ date: z.string(), versions: z.record(z.string(), z.int()) }),
        'How many sites have checked that day, by installed version',
      ),
      ...denied,
    },
  })
  const installed = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/adoption/{version}/sites',
    summary: 'List the sites that have a version installed',
    request: { params: z.object({ version: Version }), query: PageQuery },
    responses: { 200: jsonResponse(pageOf(InstalledView), 'A page of sites'), ...listed },
  })
  const overrides = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/rate-limits',
    summary: 'List exceptions from the limits',
    request: { query: PageQuery },
    responses: { 200: jsonResponse(pageOf(OverrideView), 'A page of exceptions'), ...listed },
  })
  const setOverride = createRoute({
    ...permit.operator,
    method: 'put',
    path: '/v1/rate-limits/{scope}/{id}',
    summary: 'Set the limits of one caller',
    description:
      'Holds within five seconds. `id` is a site, an agency, a domain or a hashed address.',
    request: { params: BySubject, body: jsonBody(z.strictObject({ limits: LimitNames })) },
    responses: { 200: jsonResponse(OverrideView, 'The exception'), ...denied },
  })
  const removeOverride = createRoute({
    ...permit.operator,
    method: 'delete',
    path: '/v1/rate-limits/{scope}/{id}',
    summary: 'Remove an exception',
    request: { params: BySubject },
    responses: {
      204: { description: 'The general limits hold again' },
      ...denied,
      ...errorResponses(formBridgeError, 'override_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(pending, async (c) => {
      const list = (page: object) => layer.registrations.listPending(page)
      const view = await pager(['registrations'], c.req.valid('query'), list, (item) =>
        PendingView.parse(item),
      )
      return c.json(view, 200)
    })
    .openapi(events, async (c) => {
      const { type, site_id, from, to, ...page } = c.req.valid('query')
      const range = { ...(from && { from }), ...(to && { to }) }
      const list = (at: object) =>
        site_id
          ? layer.securityEvents.of({ site_id }, { ...at, ...range })
          : layer.securityEvents.ofType(type, { ...at, ...range })
      const scope = ['events', site_id ?? type, from ?? '', to ?? ''] as const
      return c.json(await pager(scope, page, list, (event) => EventView.parse(event)), 200)
    })
    .openapi(patterns, async (c) => {
      const { type, ...page } = c.req.valid('query')
      const list = (at: object) => layer.abusePatterns.ofType(type, at)
      return c.json(
        await pager(['abuse', type], page, list, (abuse) => AbuseView.parse(abuse)),
        200,
      )
    })
    .openapi(forgive, async (c) => {
      const { type: pattern_type, id: identifier } = c.req.valid('param')
      const cleared = await layer.abusePatterns.clear({ pattern_type, identifier })
      if (cleared === 0) throw formBridgeError('pattern_not_found')
      return c.body(null, 204)
    })
    .openapi(adoption, async (c) => {
      const { date = new Date(clock.now()).toISOString().slice(0, 10) } = c.req.valid('query')
      return c.json({ date, versions: await layer.updateChecks.adoptionOn(date) }, 200)
    })
    .openapi(installed, async (c) => {
      const { version } = c.req.valid('param')
      const list = (at: object) => layer.updateChecks.sitesOn(version, at)
      const view = await pager(['installed', version], c.req.valid('query'), list, (site) =>
        InstalledView.parse(site),
      )
      return c.json(view, 200)
    })
    .openapi(overrides, async (c) => {
      const list = (at: object) => layer.rates.listOverrides(at)
      const view = await pager(['overrides'], c.req.valid('query'), list, (each) =>
        OverrideView.parse(each),
      )
      return c.json(view, 200)
    })
    .openapi(setOverride, async (c) => {
      const subject = c.req.valid('param')
      const made = await layer.rates.setOverride(subject, c.req.valid('json').limits)
      guard.forget(subject)
      return c.json(OverrideView.parse(made), 200)
    })
    .openapi(removeOverride, async (c) => {
      const subject = c.req.valid('param')
      if (!(await layer.rates.removeOverride(subject))) throw formBridgeError('override_not_found')
      guard.forget(subject)
      return c.body(null, 204)
    })
}

/** Routes for operators: security events and abuse patterns. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import type { AuditedStores } from '../audited-stores.ts'
import { formBridgeError } from '../errors.ts'
import { IsoTime, SiteId } from '../formats.ts'
import { PageQuery } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import type { AbuseStore } from './abuse-store.ts'
import type { SecurityEventStore } from './event-store.ts'
import { AbusePatternType, SecurityEventType } from './item.ts'
import { AbuseView, EventView } from './view.ts'

const EventQuery = PageQuery.extend({
  type: SecurityEventType.default('auth_failure'),
  site_id: SiteId.optional().openapi({
    description: 'Only events of this site; `type` is then ignored',
  }),
  from: IsoTime.optional(),
  to: IsoTime.optional(),
})

export function securityRoutes(deps: {
  permit: Permissions
  pager: Pager
  securityEvents: SecurityEventStore
  abusePatterns: AbuseStore
  auditedStores: AuditedStores
}): OpenAPIHono<AppEnv> {
  const { permit, pager, securityEvents, abusePatterns, auditedStores } = deps
  const listErrors = { ...operatorErrors, ...errorResponses(cursorError, 'invalid_cursor') }

  const listEvents = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/security-events',
    summary: 'List security events by type or site and time, newest first',
    request: { query: EventQuery },
    responses: { 200: jsonResponse(pageOf(EventView), 'A page of events'), ...listErrors },
  })
  const listPatterns = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/abuse-patterns',
    summary: 'List abuse patterns by type, newest first',
    request: { query: PageQuery.extend({ type: AbusePatternType }) },
    responses: { 200: jsonResponse(pageOf(AbuseView), 'A page of patterns'), ...listErrors },
  })
  const clearPattern = createRoute({
    ...permit.operator.editor,
    method: 'delete',
    path: '/v1/abuse-patterns/{type}/{id}',
    summary: 'Clear an abuse pattern and lift its block and slowdown',
    request: { params: z.object({ type: AbusePatternType, id: z.string().min(1).max(600) }) },
    responses: {
      204: { description: 'The pattern is cleared' },
      ...operatorErrors,
      ...errorResponses(formBridgeError, 'pattern_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(listEvents, async (c) => {
      const { type, site_id, from, to, ...query } = c.req.valid('query')
      const range = { ...(from && { from }), ...(to && { to }) }
      const page = await pager(
        ['events', site_id ?? type, from ?? '', to ?? ''],
        query,
        (request) =>
          site_id
            ? securityEvents.listBySubject({ site_id }, { ...request, ...range })
            : securityEvents.listByType(type, { ...request, ...range }),
        (event) => EventView.parse(event),
      )
      return c.json(page, 200)
    })
    .openapi(listPatterns, async (c) => {
      const { type, ...query } = c.req.valid('query')
      const page = await pager(
        ['abuse', type],
        query,
        (request) => abusePatterns.listByType(type, request),
        (abuse) => AbuseView.parse(abuse),
      )
      return c.json(page, 200)
    })
    .openapi(clearPattern, async (c) => {
      const { type: pattern_type, id: identifier } = c.req.valid('param')
      const target = `${pattern_type}/${identifier}`
      const audited = auditedStores(c.get('actor'), { action: 'abuse_pattern.cleared', target })
      const cleared = await audited.abusePatterns.clear({ pattern_type, identifier })
      if (cleared === 0) throw formBridgeError('pattern_not_found')
      return c.body(null, 204)
    })
}

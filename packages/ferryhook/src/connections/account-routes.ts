/** The connections of all sources of a user, and the deliveries of one of them. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import {
  AttemptSummaryView,
  DeliveryView,
  Time,
  toAttemptSummaryView,
  toDeliveryView,
} from '../deliveries/view.ts'
import { ferryhookError } from '../errors.ts'
import type { Permissions } from '../http/permissions.ts'
import { ById, PageQuery } from '../http/schemas.ts'
import type { AccountConnections, ConnectionDelivery } from './account-connections.ts'
import { healthStates } from './account-connections.ts'
import { ConnectionSummaryView, toConnectionSummaryView } from './view.ts'

const ListQuery = PageQuery.extend({
  status: z.enum(healthStates).optional().openapi({
    description: '`failing`: active, with failed attempts since the last success',
  }),
})

export const ConnectionDeliveryView = DeliveryView.extend({
  eventType: z.string().nullable(),
  receivedAt: Time,
  lastAttempt: z.union([AttemptSummaryView, z.null()]),
}).openapi('FerryhookConnectionDelivery')

export function accountConnectionRoutes(deps: {
  permit: Permissions
  accountConnections: AccountConnections
}): OpenAPIHono<AppEnv> {
  const { permit, accountConnections } = deps
  const errors = {
    ...errorResponses(ferryhookError, 'unauthorized', 'permission_required'),
    ...errorResponses(cursorError, 'invalid_cursor'),
  }

  const list = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/connections',
    summary: 'List connections of all sources',
    description: 'Without their filters and transforms, which may be large.',
    request: { query: ListQuery },
    responses: {
      200: jsonResponse(pageOf(ConnectionSummaryView), 'A page of connections'),
      ...errors,
    },
  })
  const deliveries = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/connections/{id}/deliveries',
    summary: 'List the deliveries of a connection',
    description:
      'Newest event first, each with its last attempt. A page may be short or empty; continue while the response has a cursor.',
    request: { params: ById, query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(ConnectionDeliveryView), 'A page of deliveries'),
      ...errors,
      ...errorResponses(ferryhookError, 'connection_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { status: health, ...page } = c.req.valid('query')
      const { items, cursor } = await accountConnections.list(c.get('principal'), { health }, page)
      return c.json({ items: items.map(toConnectionSummaryView), cursor }, 200)
    })
    .openapi(deliveries, async (c) => {
      const { id } = c.req.valid('param')
      const page = c.req.valid('query')
      const { items, cursor } = await accountConnections.deliveries(c.get('principal'), id, page)
      return c.json({ items: items.map(toConnectionDeliveryView), cursor }, 200)
    })
}

function toConnectionDeliveryView({
  event,
  delivery,
  lastAttempt,
}: ConnectionDelivery): z.infer<typeof ConnectionDeliveryView> {
  return {
    ...toDeliveryView(delivery),
    eventType: event.eventType ?? null,
    receivedAt: new Date(event.receivedAt).toISOString(),
    lastAttempt: lastAttempt ? toAttemptSummaryView(lastAttempt) : null,
  }
}

import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import type { Permissions } from '../http/permissions.ts'
import { ById, PageQuery } from '../http/schemas.ts'
import { ferryhookError } from '../errors.ts'
import type { EventService } from './service.ts'
import { EventDetailView, EventView, toEventView, toEventDetailView } from './view.ts'
import {
  checkSearchRange,
  checkTimeRange,
  EventTypeFilter,
  SearchText,
  StatusFilter,
  ReceivedTime,
} from './search.ts'

const EventQuery = PageQuery.extend({
  id: z.string().max(100).optional().openapi({ description: 'Return only the event with this id' }),
  status: StatusFilter.optional(),
  type: EventTypeFilter.optional(),
  from: ReceivedTime.optional(),
  to: ReceivedTime.optional(),
  header: SearchText.optional().openapi({
    description: 'Text to find in a header, written as `name: value`. Requires `from`.',
    example: 'x-github-event: push',
  }),
  body: SearchText.optional().openapi({
    description: 'Text to find in the body. Requires `from`.',
  }),
}).superRefine((query, context) => {
  if (!query.id) checkSearchRange(query, context)
  checkTimeRange(query, context)
})

export function eventRoutes(deps: {
  permit: Permissions
  eventService: EventService
}): OpenAPIHono<AppEnv> {
  const { permit, eventService } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')
  const missing = errorResponses(ferryhookError, 'event_not_found')

  const list = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/sources/{id}/events',
    summary: 'List events',
    description:
      'The events of a source, newest first. A search may return a short or empty page; continue while the response has a cursor.',
    request: { params: ById, query: EventQuery },
    responses: {
      200: jsonResponse(pageOf(EventView), 'A page of events'),
      ...denied,
      ...errorResponses(ferryhookError, 'source_not_found'),
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/events/{id}',
    summary: 'Get an event',
    description: 'Includes its body, deliveries and attempts.',
    request: { params: ById },
    responses: { 200: jsonResponse(EventDetailView, 'The event'), ...denied, ...missing },
  })
  const body = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/events/{id}/body',
    summary: 'Download the body of an event',
    description: 'The bytes as received.',
    request: { params: ById },
    responses: {
      200: {
        description: 'The body',
        content: { 'application/octet-stream': { schema: z.string() } },
      },
      ...denied,
      ...missing,
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const query = c.req.valid('query')
      const { id } = c.req.valid('param')
      const page = await eventService.list(c.get('principal'), id, query)
      return c.json({ items: page.items.map(toEventView), cursor: page.cursor }, 200)
    })
    .openapi(get, async (c) => {
      const { event, ...found } = await eventService.getDetails(
        c.get('principal'),
        c.req.valid('param').id,
      )
      return c.json(toEventDetailView(event, found), 200)
    })
    .openapi(body, async (c) => {
      const { id } = c.req.valid('param')
      const bytes = await eventService.getBody(c.get('principal'), id)
      // Never with the sender's content type, because an HTML page would run on our origin.
      return c.body(new Uint8Array(bytes), 200, {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${id}"`,
      })
    })
}

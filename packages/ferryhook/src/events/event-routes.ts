/** Looking at events. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import type { Permissions } from '../api/permissions.ts'
import { ById, PageQuery } from '../api/schemas.ts'
import { ferryhookError } from '../errors.ts'
import { eventStatuses } from '../items/event.ts'
import type { EventBook } from './event-book.ts'
import { EventDetailView, EventView, viewEvent, viewEventDetail } from './event-view.ts'
import { inTimeRange, SearchText, TimeOfReceipt } from './time-range.ts'

const EventQuery = PageQuery.extend({
  id: z.string().max(100).optional().openapi({ description: 'Only the event with this id' }),
  status: z.enum(eventStatuses).optional(),
  from: TimeOfReceipt.optional(),
  to: TimeOfReceipt.optional(),
  header: SearchText.optional().openapi({
    description: 'Text in a header, written as `name: value`; needs `from`',
    example: 'x-github-event: push',
  }),
  body: SearchText.optional().openapi({ description: 'Text in the body; needs `from`' }),
}).superRefine((query, context) => {
  const searches = (query.header !== undefined || query.body !== undefined) && !query.id
  if (searches && query.from === undefined) {
    context.addIssue({ code: 'custom', path: ['from'], message: 'Is needed to search for text' })
  }
  inTimeRange(query, context)
})

export function eventRoutes(deps: {
  permit: Permissions
  eventBook: EventBook
}): OpenAPIHono<AppEnv> {
  const { permit, eventBook } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')
  const missing = errorResponses(ferryhookError, 'event_not_found')

  const list = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/sources/{id}/events',
    summary: 'List the events of a source',
    description:
      'Newest first. A page may be short, even empty, when few events are what is asked for; there are more as long as it has a cursor.',
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
    summary: 'Look at an event',
    description: 'With its body, where it went, and every attempt.',
    request: { params: ById },
    responses: { 200: jsonResponse(EventDetailView, 'The event'), ...denied, ...missing },
  })
  const body = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/events/{id}/body',
    summary: 'Download the body of an event',
    description: 'The bytes as they came.',
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
      const page = await eventBook.list(c.get('principal'), id, query)
      return c.json({ items: page.items.map(viewEvent), cursor: page.cursor }, 200)
    })
    .openapi(get, async (c) => {
      const { event, ...found } = await eventBook.details(
        c.get('principal'),
        c.req.valid('param').id,
      )
      return c.json(viewEventDetail(event, found), 200)
    })
    .openapi(body, async (c) => {
      const { id } = c.req.valid('param')
      const bytes = await eventBook.body(c.get('principal'), id)
      // Never as what the sender says it is: a page of theirs would be a page of ours.
      return c.body(new Uint8Array(bytes), 200, {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${id}"`,
      })
    })
}

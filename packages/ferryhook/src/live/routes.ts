/** The event streams of a source and of an account. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses } from '@strongroom/kit/http/openapi'
import { streamBody } from '@strongroom/kit/http/stream'
import type { Context } from 'hono'
import type { Permissions } from '../http/permissions.ts'
import { ById } from '../http/schemas.ts'
import { ferryhookError } from '../errors.ts'
import { EventTypeFilter } from '../events/search.ts'
import type { LiveService } from './service.ts'
import { ListedEventView } from '../events/view.ts'
import { LiveEventView } from './stream.ts'

const LastEventId = z.object({ 'last-event-id': z.string().max(1_024).optional() })

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Disables the buffering of some proxies.
  'x-accel-buffering': 'no',
}

function tokenOf(c: Context): string {
  return (c.req.header('authorization') ?? '').replace(/^Bearer /i, '')
}

export function liveRoutes(deps: { permit: Permissions; live: LiveService }): OpenAPIHono<AppEnv> {
  const { permit, live } = deps

  const stream = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/sources/{id}/stream',
    summary: 'Stream the events of a source',
    description:
      'Server-sent events: `ready` once, `event` for each new event, and `end` with a reason when the server closes the stream. The server sends a comment at least every 15 seconds. To resume a stream, send the last id as `Last-Event-ID`.',
    request: {
      params: ById,
      query: z.object({ type: EventTypeFilter.optional() }),
      headers: LastEventId,
    },
    responses: {
      200: {
        description: 'The data of an `event`, as JSON',
        content: { 'text/event-stream': { schema: LiveEventView } },
      },
      ...errorResponses(
        ferryhookError,
        'unauthorized',
        'permission_required',
        'source_not_found',
        'too_many_streams',
      ),
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })

  const accountStream = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/events/stream',
    summary: 'Stream the events of all sources',
    description:
      'As the stream of a source, without headers and bodies. Additionally `change`, with the same data, when an event that was received in the last 45 seconds has changed; such a change is sent within seconds. New sources are included within five seconds, and events of accounts with many sources arrive in larger batches.',
    request: { headers: LastEventId },
    responses: {
      200: {
        description: 'The data of an `event` or a `change`, as JSON',
        content: { 'text/event-stream': { schema: ListedEventView } },
      },
      ...errorResponses(ferryhookError, 'unauthorized', 'permission_required', 'too_many_streams'),
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })

  const routes = new OpenAPIHono<AppEnv>()
  routes.openapi(accountStream, async (c) => {
    const { 'last-event-id': lastEventId } = c.req.valid('header')
    const body = await live.openAccount(c.get('principal'), {
      token: tokenOf(c),
      ...(lastEventId && { lastEventId }),
    })
    return c.body(streamBody(c, body), 200, streamHeaders)
  })
  routes.openapi(stream, async (c) => {
    const { 'last-event-id': lastEventId } = c.req.valid('header')
    const body = await live.open(c.get('principal'), {
      sourceId: c.req.valid('param').id,
      type: c.req.valid('query').type,
      token: tokenOf(c),
      ...(lastEventId && { lastEventId }),
    })
    return c.body(streamBody(c, body), 200, streamHeaders)
  })
  return routes
}

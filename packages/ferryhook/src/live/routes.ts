/** The event stream of a source. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses } from '@strongroom/kit/http/openapi'
import { streamBody } from '@strongroom/kit/http/stream'
import type { Permissions } from '../http/permissions.ts'
import { ById } from '../http/schemas.ts'
import { ferryhookError } from '../errors.ts'
import type { LiveService } from './service.ts'
import { LiveEventView } from './stream.ts'

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
      headers: z.object({ 'last-event-id': z.string().max(1_024).optional() }),
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

  const routes = new OpenAPIHono<AppEnv>()
  routes.openapi(stream, async (c) => {
    const { 'last-event-id': lastEventId } = c.req.valid('header')
    const body = await live.open(c.get('principal'), {
      sourceId: c.req.valid('param').id,
      token: (c.req.header('authorization') ?? '').replace(/^Bearer /i, ''),
      ...(lastEventId && { lastEventId }),
    })
    return c.body(streamBody(c, body), 200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // Disables the buffering of some proxies.
      'x-accel-buffering': 'no',
    })
  })
  return routes
}

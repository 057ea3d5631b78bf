/** Watching events as they come. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import { endWithClient } from '@strongroom/kit/http/end-with-client'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses } from '@strongroom/kit/http/openapi'
import type { Permissions } from '../api/permissions.ts'
import { ById } from '../api/schemas.ts'
import { ferryhookError } from '../errors.ts'
import type { LiveDesk } from './live-desk.ts'
import { LiveEventView } from './live-view.ts'

export function liveRoutes(deps: { permit: Permissions; liveDesk: LiveDesk }): OpenAPIHono<AppEnv> {
  const { permit, liveDesk } = deps

  const stream = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/sources/{id}/stream',
    summary: 'Watch the events of a source',
    description:
      'Server-sent events: `ready` once, an `event` for each event from now on, and `end` with a reason when the server ends it. A comment comes at least every 15 seconds. Send the last id as `Last-Event-ID` to continue where a stream broke off.',
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
    const body = await liveDesk.open(c.get('principal'), {
      sourceId: c.req.valid('param').id,
      token: (c.req.header('authorization') ?? '').replace(/^Bearer /i, ''),
      ...(lastEventId && { lastEventId }),
    })
    endWithClient(c, body)
    return c.body(body, 200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // Some proxies would keep it until there is more.
      'x-accel-buffering': 'no',
    })
  })
  return routes
}

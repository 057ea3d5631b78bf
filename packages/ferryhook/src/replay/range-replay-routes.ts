/** Having all events delivered again that a filter finds in a stretch of time. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import type { Permissions } from '../api/permissions.ts'
import { ById } from '../api/schemas.ts'
import { ferryhookError } from '../errors.ts'
import { inTimeRange, SearchText, TimeOfReceipt } from '../events/time-range.ts'
import { eventStatuses } from '../items/event.ts'
import type { ReplayBook } from './replay-book.ts'
import { ReplayView, viewReplay } from './replay-view.ts'

const RangeReplay = z
  .strictObject({
    sourceId: z.string().max(100),
    from: TimeOfReceipt,
    to: TimeOfReceipt.optional(),
    status: z.enum(eventStatuses).optional(),
    header: SearchText.optional().openapi({ description: 'Text in a header, as `name: value`' }),
    body: SearchText.optional().openapi({ description: 'Text in the body' }),
    connectionIds: z.array(z.string().max(100)).min(1).max(50).optional().openapi({
      description: 'Where to; all connections of the source unless given',
    }),
    perSecond: z.int().min(1).max(500).default(50).openapi({ description: 'Deliveries a second' }),
  })
  .superRefine(inTimeRange)
  .openapi({
    example: {
      sourceId: 'src_V1StGXR8_Z5jdHi6',
      from: '2026-01-31T12:00:00Z',
      to: '2026-01-31T13:00:00Z',
      status: 'failed',
    },
  })

export function rangeReplayRoutes(deps: {
  permit: Permissions
  replayBook: ReplayBook
}): OpenAPIHono<AppEnv> {
  const { permit, replayBook } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')
  const missing = errorResponses(ferryhookError, 'replay_not_found')
  const shown = jsonResponse(ReplayView, 'The replay')

  const start = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/replays',
    summary: 'Replay what a filter finds',
    description:
      'The oldest event first, at an even pace. It goes on by itself, also after a restart of the server. Events whose signature was not right are left out. A connection that is deleted meanwhile is, too; without any left the replay is cancelled.',
    request: { body: jsonBody(RangeReplay) },
    responses: {
      202: shown,
      ...denied,
      ...errorResponses(
        ferryhookError,
        'source_not_found',
        'connection_not_found',
        'no_connections',
        'unverified_replay',
      ),
    },
  })
  const list = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/replays',
    summary: 'List replays',
    description: 'Those of the last 30 days, newest first.',
    responses: { 200: jsonResponse(pageOf(ReplayView), 'All replays'), ...denied },
  })
  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/replays/{id}',
    summary: 'Look at a replay',
    request: { params: ById },
    responses: { 200: shown, ...denied, ...missing },
  })
  const cancel = createRoute({
    ...permit.write,
    method: 'delete',
    path: '/v1/replays/{id}',
    summary: 'Cancel a replay',
    description: 'What was replayed until then stays so.',
    request: { params: ById },
    responses: {
      200: shown,
      ...denied,
      ...missing,
      ...errorResponses(ferryhookError, 'replay_ended'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(start, async (c) => {
      const replay = await replayBook.start(c.get('principal'), c.req.valid('json'))
      return c.json(viewReplay(replay), 202)
    })
    .openapi(list, async (c) => {
      const replays = await replayBook.list(c.get('principal'))
      return c.json({ items: replays.map(viewReplay), cursor: null }, 200)
    })
    .openapi(get, async (c) => {
      const replay = await replayBook.get(c.get('principal'), c.req.valid('param').id)
      return c.json(viewReplay(replay), 200)
    })
    .openapi(cancel, async (c) => {
      const replay = await replayBook.cancel(c.get('principal'), c.req.valid('param').id)
      return c.json(viewReplay(replay), 200)
    })
}

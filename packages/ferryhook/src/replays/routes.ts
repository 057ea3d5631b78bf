/** Replays of events, and replay jobs. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { requestError } from '@strongroom/kit/http/errors'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import type { Context } from 'hono'
import type { Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import { eventStatuses } from '../events/values.ts'
import { checkTimeRange, EventTypeFilter, SearchText, ReceivedTime } from '../events/search.ts'
import { DeliveryView, toDeliveryView } from '../deliveries/view.ts'
import type { Permissions } from '../http/permissions.ts'
import { ById } from '../http/schemas.ts'
import type { Replay } from './item.ts'
import type { ReplayService } from './service.ts'
import { ReplayView, toReplayView } from './view.ts'

const ConnectionIds = z.array(z.string().max(100)).min(1).max(50).optional().openapi({
  description: 'Defaults to all connections of the source',
})

const EventReplay = z
  .strictObject({
    connectionIds: ConnectionIds,
    acceptUnverified: z.boolean().default(false).openapi({
      description:
        'Deliver the event although its signature verification failed. Needs an admin key.',
    }),
  })
  .openapi({ example: { acceptUnverified: false } })

const EventListReplay = z
  .strictObject({
    eventIds: z.array(z.string().max(100)).min(1).max(100),
    connectionIds: ConnectionIds,
  })
  .openapi({ example: { eventIds: ['evt_V1StGXR8_Z5jdHi6'] } })

const Replayed = z.object({
  replayId: z.string().openapi({ description: 'Sent as the X-Ferryhook-Replay header' }),
  deliveries: z.array(DeliveryView),
})

const EventListReplayed = z.object({
  replayId: z.string(),
  results: z.array(
    z.object({
      eventId: z.string(),
      deliveries: z.array(DeliveryView),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
  ),
})

const ReplayJob = z
  .strictObject({
    sourceId: z.string().max(100),
    from: ReceivedTime,
    to: ReceivedTime.optional(),
    status: z.enum(eventStatuses).optional().openapi({
      description:
        'Of events that are `failed`, `retrying`, `held` or `processing`, only the deliveries in that state are replayed. A retrying delivery is attempted now.',
    }),
    type: EventTypeFilter.optional(),
    allConnections: z.boolean().default(false).openapi({
      description: 'Replay such events to the other connections as well',
    }),
    header: SearchText.optional().openapi({
      description: 'Text that a header contains, as `name: value`',
    }),
    body: SearchText.optional().openapi({ description: 'Text that the body contains' }),
    connectionIds: z.array(z.string().max(100)).min(1).max(50).optional().openapi({
      description: 'Defaults to all connections of the source',
    }),
    perSecond: z
      .int()
      .min(1)
      .max(500)
      .default(50)
      .openapi({ description: 'Deliveries per second' }),
  })
  .superRefine(checkTimeRange)
  .openapi({
    example: {
      sourceId: 'src_V1StGXR8_Z5jdHi6',
      from: '2026-01-31T12:00:00Z',
      to: '2026-01-31T13:00:00Z',
      status: 'failed',
    },
  })

export function replayRoutes(deps: {
  permit: Permissions
  replays: ReplayService
}): OpenAPIHono<AppEnv> {
  const { permit, replays } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')
  const missing = errorResponses(ferryhookError, 'replay_not_found')
  const job = jsonResponse(ReplayView, 'The replay job')

  const one = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/events/{id}/replay',
    summary: 'Replay an event',
    description:
      'Delivers the event again, with the current filter and transform of each connection and a new signature. Earlier deliveries stay in the history.',
    request: { params: ById, body: { ...jsonBody(EventReplay), required: false } },
    responses: {
      202: jsonResponse(Replayed, 'The new deliveries'),
      ...errorResponses(
        ferryhookError,
        'unauthorized',
        'permission_required',
        'unverified_event',
        'event_not_found',
        'connection_not_found',
        'run_open',
        'no_connections',
      ),
    },
  })
  const many = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/events/replay',
    summary: 'Replay a list of events',
    description: 'Each event succeeds or fails by itself. A failed one has an `error`.',
    request: { body: jsonBody(EventListReplay) },
    responses: {
      200: jsonResponse(EventListReplayed, 'The result for each event'),
      ...errorResponses(ferryhookError, 'unauthorized', 'permission_required'),
    },
  })

  const start = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/replays',
    summary: 'Start a replay job',
    description:
      'Replays all matching events, oldest first, at a steady rate. The job continues after a restart of the server. Events that failed signature verification and connections that are deleted are skipped. If no connection is left, the job is cancelled.',
    request: { body: jsonBody(ReplayJob) },
    responses: {
      202: job,
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
    summary: 'List replay jobs',
    description: 'Jobs of the last 30 days, newest first.',
    responses: { 200: jsonResponse(pageOf(ReplayView), 'All replay jobs'), ...denied },
  })
  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/replays/{id}',
    summary: 'Get a replay job',
    request: { params: ById },
    responses: { 200: job, ...denied, ...missing },
  })
  const cancel = createRoute({
    ...permit.write,
    method: 'delete',
    path: '/v1/replays/{id}',
    summary: 'Cancel a replay job',
    description: 'Deliveries that were already started continue.',
    request: { params: ById },
    responses: {
      200: job,
      ...denied,
      ...missing,
      ...errorResponses(ferryhookError, 'replay_ended'),
    },
  })

  async function namedView(principal: Principal, replay: Replay) {
    const names = await replays.sourceNames(principal)
    return toReplayView(replay, names.get(replay.sourceId) ?? null)
  }

  return new OpenAPIHono<AppEnv>()
    .openapi(many, async (c) => {
      const { eventIds, connectionIds } = c.req.valid('json')
      const { replayId, results } = await replays.replayEvents(c.get('principal'), eventIds, {
        connectionIds,
      })
      const items = results.map((result) => {
        const { eventId } = result
        if ('deliveries' in result) {
          return {
            eventId,
            deliveries: result.deliveries.map((each) => toDeliveryView(each)),
            error: null,
          }
        }
        const { code, message } = result.error
        return { eventId, deliveries: [], error: { code, message } }
      })
      return c.json({ replayId, results: items }, 200)
    })
    .openapi(one, async (c) => {
      requireJson(c)
      const { replayId, deliveries } = await replays.replayEvent(
        c.get('principal'),
        c.req.valid('param').id,
        c.req.valid('json'),
      )
      return c.json({ replayId, deliveries: deliveries.map((each) => toDeliveryView(each)) }, 202)
    })
    .openapi(start, async (c) => {
      const principal = c.get('principal')
      const replay = await replays.startJob(principal, c.req.valid('json'))
      return c.json(await namedView(principal, replay), 202)
    })
    .openapi(list, async (c) => {
      const principal = c.get('principal')
      const [jobs, names] = await Promise.all([
        replays.listJobs(principal),
        replays.sourceNames(principal),
      ])
      const items = jobs.map((each) => toReplayView(each, names.get(each.sourceId) ?? null))
      return c.json({ items, cursor: null }, 200)
    })
    .openapi(get, async (c) => {
      const principal = c.get('principal')
      const replay = await replays.getJob(principal, c.req.valid('param').id)
      return c.json(await namedView(principal, replay), 200)
    })
    .openapi(cancel, async (c) => {
      const principal = c.get('principal')
      const replay = await replays.cancelJob(principal, c.req.valid('param').id)
      return c.json(await namedView(principal, replay), 200)
    })
}

/** An empty body means all connections, so a body of another type must not count as empty. */
function requireJson(c: Context): void {
  const type = c.req.header('content-type')
  const isEmpty = type === undefined && (c.req.header('content-length') ?? '0') === '0'
  if (!isEmpty && !/^application\/(?:[\w.-]+\+)?json(?:;|$)/i.test(type ?? '')) {
    throw requestError('unsupported_media_type')
  }
}

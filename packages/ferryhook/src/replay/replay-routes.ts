/** Having events delivered again. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { requestError } from '@strongroom/kit/http/errors'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import type { Context } from 'hono'
import type { Permissions } from '../api/permissions.ts'
import { ById } from '../api/schemas.ts'
import { ferryhookError } from '../errors.ts'
import { DeliveryView, viewDelivery } from '../events/event-view.ts'
import type { ReplayDesk } from './replay-desk.ts'

const ConnectionIds = z.array(z.string().max(100)).min(1).max(50).optional().openapi({
  description: 'Where to; all connections of the source unless given',
})

const OneReplay = z
  .strictObject({
    connectionIds: ConnectionIds,
    acceptUnverified: z.boolean().default(false).openapi({
      description: 'Deliver it although its signature was not right; needs an admin key',
    }),
  })
  .openapi({ example: { acceptUnverified: false } })

const ManyReplay = z
  .strictObject({
    eventIds: z.array(z.string().max(100)).min(1).max(100),
    connectionIds: ConnectionIds,
  })
  .openapi({ example: { eventIds: ['evt_V1StGXR8_Z5jdHi6'] } })

const Replayed = z.object({
  replayId: z.string().openapi({ description: 'Sent along as X-Ferryhook-Replay' }),
  deliveries: z.array(DeliveryView),
})

const ManyReplayed = z.object({
  replayId: z.string(),
  results: z.array(
    z.object({
      eventId: z.string(),
      deliveries: z.array(DeliveryView),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
  ),
})

export function replayRoutes(deps: {
  permit: Permissions
  replayDesk: ReplayDesk
}): OpenAPIHono<AppEnv> {
  const { permit, replayDesk } = deps

  const one = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/events/{id}/replay',
    summary: 'Replay an event',
    description:
      'Delivers it again: filtered and transformed as the connection says now, signed anew. The history of earlier deliveries stays.',
    request: { params: ById, body: { ...jsonBody(OneReplay), required: false } },
    responses: {
      202: jsonResponse(Replayed, 'It is being delivered'),
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
    summary: 'Replay some events',
    description: 'Each for itself: what cannot be replayed says why, and the others are.',
    request: { body: jsonBody(ManyReplay) },
    responses: {
      200: jsonResponse(ManyReplayed, 'What came of each'),
      ...errorResponses(ferryhookError, 'unauthorized', 'permission_required'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(many, async (c) => {
      const { eventIds, connectionIds } = c.req.valid('json')
      const { replayId, results } = await replayDesk.many(c.get('principal'), eventIds, {
        connectionIds,
      })
      const shown = results.map((result) => {
        const { eventId } = result
        if ('deliveries' in result) {
          return { eventId, deliveries: result.deliveries.map(viewDelivery), error: null }
        }
        const { code, message } = result.error
        return { eventId, deliveries: [], error: { code, message } }
      })
      return c.json({ replayId, results: shown }, 200)
    })
    .openapi(one, async (c) => {
      refuseOtherThanJson(c)
      const { replayId, deliveries } = await replayDesk.one(
        c.get('principal'),
        c.req.valid('param').id,
        c.req.valid('json'),
      )
      return c.json({ replayId, deliveries: deliveries.map(viewDelivery) }, 202)
    })
}

/** Nothing at all means every connection; what cannot be read must not be taken for nothing. */
function refuseOtherThanJson(c: Context): void {
  const type = c.req.header('content-type')
  const isEmpty = type === undefined && (c.req.header('content-length') ?? '0') === '0'
  if (!isEmpty && !/^application\/(?:[\w.-]+\+)?json(?:;|$)/i.test(type ?? '')) {
    throw requestError('unsupported_media_type')
  }
}

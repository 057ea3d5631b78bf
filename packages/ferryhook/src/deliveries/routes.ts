import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import type { Permissions } from '../http/permissions.ts'
import { ferryhookError } from '../errors.ts'
import type { SentBodies } from './sent-body.ts'
import { type DeliveryAction, deliveryActions, type DeliveryService } from './service.ts'
import { toBodyView } from '../events/view.ts'
import { DeliveryView, SentBodyView, toDeliveryView } from './view.ts'

const ByDelivery = z.object({
  id: z.string().min(1).max(100),
  connectionId: z.string().min(1).max(100),
})

const ByAttempt = ByDelivery.extend({ number: z.coerce.number().int().min(1).max(8) })

const EventList = z
  .strictObject({ eventIds: z.array(z.string().max(100)).min(1).max(100) })
  .openapi({ example: { eventIds: ['evt_V1StGXR8_Z5jdHi6'] } })

const EventListResult = z.object({
  results: z.array(
    z.object({
      eventId: z.string(),
      deliveries: z.array(DeliveryView).openapi({ description: 'Those that changed' }),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
  ),
})

const actions: Readonly<
  Record<DeliveryAction, { verb: string; summary: string; description: string }>
> = {
  hold: {
    verb: 'Hold',
    summary: 'Hold a delivery',
    description: 'The delivery is not attempted until it is released. It fails after 30 days.',
  },
  release: {
    verb: 'Release',
    summary: 'Release a held delivery',
    description: 'The delivery is attempted immediately.',
  },
  retry: {
    verb: 'Retry',
    summary: 'Retry a delivery now',
    description: 'Makes the next attempt immediately instead of at its scheduled time.',
  },
  cancel: {
    verb: 'Cancel',
    summary: 'Cancel a delivery',
    description:
      'The delivery is not attempted again and counts as failed. A replay starts a new run.',
  },
}

export function deliveryRoutes(deps: {
  permit: Permissions
  deliveryService: DeliveryService
  sentBodies: SentBodies
}): OpenAPIHono<AppEnv> {
  const { permit, deliveryService, sentBodies } = deps
  const routes = new OpenAPIHono<AppEnv>()
  for (const action of deliveryActions) {
    const route = createRoute({
      ...permit.write,
      method: 'post',
      path: `/v1/events/{id}/deliveries/{connectionId}/${action}`,
      summary: actions[action].summary,
      description: actions[action].description,
      request: { params: ByDelivery },
      responses: {
        200: jsonResponse(DeliveryView, 'The updated delivery'),
        ...errorResponses(
          ferryhookError,
          'unauthorized',
          'permission_required',
          'event_not_found',
          'delivery_not_found',
          'delivery_ended',
          'delivery_in_progress',
          'delivery_not_held',
          'connection_paused',
        ),
      },
    })
    routes.openapi(route, async (c) => {
      const { id: eventId, connectionId } = c.req.valid('param')
      const delivery = await deliveryService[action](c.get('principal'), { eventId, connectionId })
      return c.json(toDeliveryView(delivery), 200)
    })

    const many = createRoute({
      ...permit.write,
      method: 'post',
      path: `/v1/events/${action}`,
      summary: `${actions[action].verb} the deliveries of a list of events`,
      description:
        'Acts on every delivery that has a suitable state. Each event succeeds or fails by itself: `deliveries` are those that changed, `error` is the first failure.',
      request: { body: jsonBody(EventList) },
      responses: {
        200: jsonResponse(EventListResult, 'The result for each event'),
        ...errorResponses(ferryhookError, 'unauthorized', 'permission_required'),
      },
    })
    routes.openapi(many, async (c) => {
      const { eventIds } = c.req.valid('json')
      const results = await deliveryService.actOnEvents(c.get('principal'), action, eventIds)
      const items = results.map(({ eventId, deliveries, error }) => ({
        eventId,
        deliveries: deliveries.map((each) => toDeliveryView(each)),
        error: error ? { code: error.code, message: error.message } : null,
      }))
      return c.json({ results: items }, 200)
    })
  }

  const body = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/events/{id}/deliveries/{connectionId}/attempts/{number}/body',
    summary: 'Get the body that an attempt sent',
    description:
      'Bodies that were sent are not stored. The body of a transform is derived again, and returned only if it is exactly what was sent.',
    request: {
      params: ByAttempt,
      query: z.object({
        run: z.coerce.number().int().min(1).optional().openapi({
          description: 'Defaults to the latest run with such an attempt',
        }),
      }),
    },
    responses: {
      200: jsonResponse(SentBodyView, 'The body, or why it is unknown'),
      ...errorResponses(ferryhookError, 'unauthorized', 'permission_required'),
      ...errorResponses(ferryhookError, 'event_not_found', 'attempt_not_found'),
    },
  })
  routes.openapi(body, async (c) => {
    const { id: eventId, connectionId, number } = c.req.valid('param')
    const { run } = c.req.valid('query')
    const id = { eventId, connectionId, number, run }
    const sent = await sentBodies.get(c.get('principal'), id)
    const { origin } = sent
    return c.json(
      origin === 'unknown'
        ? { origin, reason: sent.reason, body: null, encoding: null }
        : { origin, reason: null, ...toBodyView(sent.body) },
      200,
    )
  })
  return routes
}

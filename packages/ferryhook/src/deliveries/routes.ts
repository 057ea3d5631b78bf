import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import type { Permissions } from '../http/permissions.ts'
import { ferryhookError } from '../errors.ts'
import type { DeliveryService } from './service.ts'
import { DeliveryView, toDeliveryView } from './view.ts'

const ByDelivery = z.object({
  id: z.string().min(1).max(100),
  connectionId: z.string().min(1).max(100),
})

type Action = keyof DeliveryService

const actions: Readonly<Record<Action, { summary: string; description: string }>> = {
  hold: {
    summary: 'Hold a delivery',
    description: 'The delivery is not attempted until it is released. It fails after 30 days.',
  },
  release: {
    summary: 'Release a held delivery',
    description: 'The delivery is attempted immediately.',
  },
  retry: {
    summary: 'Retry a delivery now',
    description: 'Makes the next attempt immediately instead of at its scheduled time.',
  },
  cancel: {
    summary: 'Cancel a delivery',
    description:
      'The delivery is not attempted again and counts as failed. A replay starts a new run.',
  },
}

export function deliveryRoutes(deps: {
  permit: Permissions
  deliveryService: DeliveryService
}): OpenAPIHono<AppEnv> {
  const { permit, deliveryService } = deps
  const routes = new OpenAPIHono<AppEnv>()
  for (const action of Object.keys(actions) as Action[]) {
    const route = createRoute({
      ...permit.write,
      method: 'post',
      path: `/v1/events/{id}/deliveries/{connectionId}/${action}`,
      ...actions[action],
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
  }
  return routes
}

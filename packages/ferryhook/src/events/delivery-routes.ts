/** Holding, releasing, hurrying and ending a delivery that waits. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import type { Permissions } from '../api/permissions.ts'
import { ferryhookError } from '../errors.ts'
import type { DeliveryDesk } from './delivery-desk.ts'
import { DeliveryView, viewDelivery } from './event-view.ts'

const ByDelivery = z.object({
  id: z.string().min(1).max(100),
  connectionId: z.string().min(1).max(100),
})

type Verb = keyof DeliveryDesk

const verbs: Readonly<Record<Verb, { summary: string; description: string }>> = {
  hold: {
    summary: 'Hold a delivery',
    description: 'It is not attempted until it is released; after 30 days it fails.',
  },
  release: {
    summary: 'Release a delivery',
    description: 'One that was held is attempted now.',
  },
  retry: {
    summary: 'Retry a delivery now',
    description: 'Its next attempt does not wait for its time.',
  },
  cancel: {
    summary: 'Cancel a delivery',
    description: 'It is not attempted again in this run, and counts as failed.',
  },
}

export function deliveryRoutes(deps: {
  permit: Permissions
  deliveryDesk: DeliveryDesk
}): OpenAPIHono<AppEnv> {
  const { permit, deliveryDesk } = deps
  const routes = new OpenAPIHono<AppEnv>()
  for (const verb of Object.keys(verbs) as Verb[]) {
    const route = createRoute({
      ...permit.write,
      method: 'post',
      path: `/v1/events/{id}/deliveries/{connectionId}/${verb}`,
      ...verbs[verb],
      request: { params: ByDelivery },
      responses: {
        200: jsonResponse(DeliveryView, 'The delivery as it is now'),
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
      const delivery = await deliveryDesk[verb](c.get('principal'), { eventId, connectionId })
      return c.json(viewDelivery(delivery), 200)
    })
  }
  return routes
}

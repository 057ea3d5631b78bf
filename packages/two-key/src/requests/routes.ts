/** `/slack/{app}/…`, the request URL at Slack. The part after the app has no meaning. */
import { OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses } from '@strongroom/kit/http/openapi'
import { PERMISSION, publicRoute } from '@strongroom/kit/http/permissions'
import type { Context } from 'hono'
import { twoKeyError } from '../errors.ts'
import { MAX_BODY_BYTES } from '../verify.ts'
import type { RequestService } from './service.ts'

export function requestRoutes(requests: RequestService): OpenAPIHono<AppEnv> {
  const routes = new OpenAPIHono<AppEnv>()
  const handle = async (c: Context<AppEnv>) => {
    const { headers } = c.req.raw
    const response = await requests.handle(
      { app: c.req.param('app') ?? '', headers },
      async () => new Uint8Array(await c.req.arrayBuffer()),
    )
    const body = typeof response.body === 'string' ? response.body : Uint8Array.from(response.body)
    return new Response(body, { status: response.status, headers: response.headers })
  }
  routes.post('/slack/:app', publicRoute, bodyLimit(MAX_BODY_BYTES), handle)
  routes.post('/slack/:app/:what', publicRoute, bodyLimit(MAX_BODY_BYTES), handle)
  describe(routes)
  return routes
}

/** Described without validation, because the signature covers the raw body. */
function describe({ openAPIRegistry }: OpenAPIHono<AppEnv>): void {
  openAPIRegistry.registerPath({
    method: 'post',
    path: '/slack/{app}/{what}',
    [PERMISSION]: 'public',
    tags: ['Two-key'],
    summary: 'Receive a Slack request',
    description:
      'Verifies the signature and that team, user and channel exist, then sends the same bytes to the app. Events, commands and interactivity can use the same URL.',
    request: {
      params: z.object({
        app: z.string(),
        what: z.string().openapi({ example: 'events' }),
      }),
      body: { content: { '*/*': { schema: z.any() } } },
    },
    responses: {
      200: { description: 'The app accepted the event, or the response of the app' },
      401: { description: 'The signature is missing or invalid' },
      403: { description: 'Team, user or channel do not exist or do not belong together' },
      ...errorResponses(
        twoKeyError,
        'app_not_found',
        'invalid_event',
        'event_in_progress',
        'not_handed_over',
        'app_unavailable',
      ),
    },
  })
}

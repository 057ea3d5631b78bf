/** `/slack/{app}/…`, where Slack is pointed at. What follows the app is for people alone. */
import { OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses } from '@strongroom/kit/http/openapi'
import type { Context } from 'hono'
import { twoKeyError } from '../errors.ts'
import { MAX_BODY_BYTES } from '../verify.ts'
import type { createReceiver } from './receive.ts'

export function slackRoutes(receive: ReturnType<typeof createReceiver>): OpenAPIHono<AppEnv> {
  const routes = new OpenAPIHono<AppEnv>()
  const handle = async (c: Context<AppEnv>) => {
    const answer = await receive({
      app: c.req.param('app') ?? '',
      headers: c.req.raw.headers,
      body: new Uint8Array(await c.req.arrayBuffer()),
    })
    const body = typeof answer.body === 'string' ? answer.body : Uint8Array.from(answer.body)
    return new Response(body, { status: answer.status, headers: answer.headers })
  }
  routes.post('/slack/:app', bodyLimit(MAX_BODY_BYTES), handle)
  routes.post('/slack/:app/:what', bodyLimit(MAX_BODY_BYTES), handle)
  describe(routes)
  return routes
}

/** Only described: a body of any kind is taken as it is. */
function describe({ openAPIRegistry }: OpenAPIHono<AppEnv>): void {
  openAPIRegistry.registerPath({
    method: 'post',
    path: '/slack/{app}/{what}',
    tags: ['Two-key'],
    summary: 'Receive a request of Slack',
    description:
      'Verifies the signature and that team, user and channel exist, then sends the bytes on to the app. Events, commands and interactivity may all come to one address.',
    request: {
      params: z.object({
        app: z.string(),
        what: z.string().openapi({ example: 'events' }),
      }),
      body: { content: { '*/*': { schema: z.any() } } },
    },
    responses: {
      200: { description: 'The app has the event, or this is what it answers' },
      401: { description: 'The signature is missing or not right' },
      403: { description: 'Team, user or channel do not exist, or do not belong together' },
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

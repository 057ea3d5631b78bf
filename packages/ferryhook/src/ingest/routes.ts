/** The address of a source, `/in/{sourceId}`, at the root wherever the service is mounted. */
import { OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { plainHandler, type PlainRoute } from '@strongroom/kit/http/plain-route'
import type { RunningService } from '@strongroom/kit/service'
import { ferryhookError } from '../errors.ts'
import { longestBody } from '../items/event.ts'
import type { Ingest } from './ingest.ts'

const Received = z
  .object({
    id: z.string().openapi({ example: 'evt_V1StGXR8_Z5jdHi6' }),
    status: z.literal('received'),
    duplicate: z.literal(true).optional().openapi({
      description: 'The provider sent this event before; the id is that of the first sending',
    }),
  })
  .openapi('ReceivedEvent')

const PATH = '/in/:sourceId'

export function ingestRoutes(
  ingest: Pick<Ingest, 'receive'>,
): Required<Pick<RunningService, 'rootRoutes' | 'plainRootRoutes'>> {
  const route: PlainRoute = {
    methods: ['GET', 'POST', 'PUT'],
    path: PATH,
    maxBodyBytes: longestBody,
    handle: ingest.receive,
  }
  const rootRoutes = new OpenAPIHono<AppEnv>()
  rootRoutes.on([...route.methods], [PATH], bodyLimit(longestBody), plainHandler(route))
  describe(rootRoutes)
  return { rootRoutes, plainRootRoutes: [route] }
}

/** Only described: a body of any kind is taken as it is. */
function describe({ openAPIRegistry }: OpenAPIHono<AppEnv>): void {
  const path = '/in/{sourceId}'
  const request = { params: z.object({ sourceId: z.string() }) }
  for (const method of ['post', 'put'] as const) {
    openAPIRegistry.registerPath({
      method,
      path,
      tags: ['Ferryhook'],
      summary: 'Receive a webhook',
      request: { ...request, body: { content: { '*/*': { schema: z.any() } } } },
      responses: {
        200: jsonResponse(Received, 'The event is stored, or was before'),
        ...errorResponses(
          ferryhookError,
          'source_not_found',
          'signature_failed',
          'month_limit',
          'headers_too_large',
          'query_too_long',
        ),
      },
    })
  }
  openAPIRegistry.registerPath({
    method: 'get',
    path,
    tags: ['Ferryhook'],
    summary: 'Answer the handshake of a provider',
    request,
    responses: {
      200: { description: 'What the provider wants to hear' },
      ...errorResponses(ferryhookError, 'source_not_found'),
    },
  })
}

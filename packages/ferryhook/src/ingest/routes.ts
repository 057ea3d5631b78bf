/** The address of a source, `/in/{sourceId}`, at the root regardless of where the service is mounted. */
import { METHODS } from 'node:http'
import { OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { requestError } from '@strongroom/kit/http/errors'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { PERMISSION, publicRoute } from '@strongroom/kit/http/permissions'
import { honoHandler, type HotRoute } from '@strongroom/kit/http/hot-routes'
import type { ServiceRoutes } from '@strongroom/kit/service'
import { ferryhookError } from '../errors.ts'
import { MAX_BODY_BYTES } from '../events/values.ts'
import { eventMethods } from '../sources/values.ts'
import { COMMIT_DEADLINE_MS } from '../events/event-insert.ts'
import type { Ingest } from './handler.ts'

const Received = z
  .object({
    id: z.string().openapi({ example: 'evt_V1StGXR8_Z5jdHi6' }),
    status: z.literal('received'),
    duplicate: z.literal(true).optional().openapi({
      description: 'The provider sent this event before; the id is that of the stored event',
    }),
  })
  .openapi('ReceivedEvent')

const PATH = '/in/:sourceId'

/** All of HTTP's, because the source decides which it accepts; the usual ones are found first. */
const methods = [...new Set<string>([...eventMethods, ...METHODS])]

export function ingestRoutes(
  ingest: Pick<Ingest, 'admit' | 'ownerOf' | 'receive'>,
): Required<Pick<ServiceRoutes, 'rootRoutes' | 'hotRoutes'>> {
  const route: HotRoute = {
    methods,
    path: PATH,
    atRoot: true,
    timeoutMs: COMMIT_DEADLINE_MS,
    maxBodyBytes: MAX_BODY_BYTES,
    admit: ingest.admit,
    ownerOf: ingest.ownerOf,
    handle: ingest.receive,
  }
  const rootRoutes = new OpenAPIHono<AppEnv>()
  const handler = honoHandler(route)
  rootRoutes.on([...route.methods], [PATH], publicRoute, bodyLimit(MAX_BODY_BYTES), handler)
  describe(rootRoutes)
  return { rootRoutes, hotRoutes: [route] }
}

/** Only for the API description: the handler accepts any body. */
function describe({ openAPIRegistry }: OpenAPIHono<AppEnv>): void {
  const path = '/in/{sourceId}'
  const request = { params: z.object({ sourceId: z.string() }) }
  for (const method of eventMethods) {
    openAPIRegistry.registerPath({
      method: method.toLowerCase() as Lowercase<typeof method>,
      path,
      tags: ['Ferryhook'],
      [PERMISSION]: 'public',
      summary: 'Receive a webhook',
      description: 'A source accepts POST and PUT, or the methods that it has been set to.',
      request: { ...request, body: { content: { '*/*': { schema: z.any() } } } },
      responses: {
        200: jsonResponse(Received, 'The event is stored'),
        ...errorResponses(
          ferryhookError,
          'source_not_found',
          'signature_failed',
          'month_limit',
          'headers_too_large',
          'query_too_long',
          'loop',
        ),
        ...errorResponses(requestError, 'method_not_allowed'),
      },
    })
  }
  openAPIRegistry.registerPath({
    method: 'get',
    path,
    tags: ['Ferryhook'],
    [PERMISSION]: 'public',
    summary: 'Answer a provider’s handshake',
    request,
    responses: {
      200: { description: 'The response that the provider expects' },
      ...errorResponses(ferryhookError, 'source_not_found'),
      ...errorResponses(requestError, 'method_not_allowed'),
    },
  })
}

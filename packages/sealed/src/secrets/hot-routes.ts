/**
 * Routes of Sealed, described for OpenAPI and served as hot routes.
 *
 * Requests are parsed by hand. Without the link, a malformed request must look like one for a secret
 * that does not exist, down to the read of the store. And a token is verified before the body that
 * came with it is parsed.
 */
import { OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi'
import { parseBearer } from '@strongroom/kit/bearer'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import { networksOf } from '@strongroom/kit/http/client-address'
import type { ClientLimit } from '@strongroom/kit/http/client-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { honoHandler, type HotRequest, type HotRoute } from '@strongroom/kit/http/hot-routes'
import { PERMISSION, publicRoute } from '@strongroom/kit/http/permissions'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { HttpResponse } from '@strongroom/kit/http/request'
import { findHeader } from '@strongroom/platform/read-body'

type DescribedRoute = RouteConfig & { getRoutingPath(): string }

/** Responds with the body that the route declares for the status. */
type Json<R extends RouteConfig> = <S extends 200 | 201>(
  status: S,
  view: JsonView<R['responses'][S]>,
) => HttpResponse

type JsonView<Response> = Response extends {
  content: { 'application/json': { schema: infer Schema extends z.ZodType } }
}
  ? z.infer<Schema>
  : never

export function createHotRoutes() {
  const routes = new OpenAPIHono<AppEnv>()
  const hotRoutes: HotRoute[] = []

  function addRoute<R extends DescribedRoute>(
    described: R,
    maxBodyBytes: number,
    handle: (request: HotRequest, json: Json<R>) => Promise<HttpResponse>,
  ) {
    const route: HotRoute = {
      methods: [described.method.toUpperCase()],
      path: described.getRoutingPath() as HotRoute['path'],
      maxBodyBytes,
      handle: (request) => handle(request, json),
    }
    routes.openAPIRegistry.registerPath({ ...described, [PERMISSION]: 'public' })
    const handler = honoHandler(route)
    routes.on([...route.methods], [route.path], publicRoute, bodyLimit(maxBodyBytes), handler)
    hotRoutes.push(route)
  }

  return { routes, hotRoutes, addRoute }
}

export const NO_CONTENT: HttpResponse = { status: 204, contentType: '', body: '' }

function json(status: number, view: unknown): HttpResponse {
  return { status, contentType: 'application/json', body: JSON.stringify(view) }
}

export function admit({ clientAddress }: HotRequest, limit: ClientLimit) {
  const refused = limit.take(networksOf(clientAddress))
  if (refused) throw rateLimited(refused)
}

export function hasAuthorization({ rawHeaders }: HotRequest): boolean {
  return findHeader(rawHeaders, 'authorization') !== undefined
}

/** An empty token, which is never valid, if there is none. */
export function bearerToken({ rawHeaders }: HotRequest): string {
  return parseBearer(findHeader(rawHeaders, 'authorization')) ?? ''
}

/** Undefined, which matches no schema, if the body is not JSON. */
export function parseJson({ body }: HotRequest): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
  } catch {
    return undefined
  }
}

import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import type { Permissions } from '../http/permissions.ts'
import { ById } from '../http/schemas.ts'
import type { TestRequestService } from './service.ts'
import {
  TestRequestDetailView,
  TestRequestView,
  toTestRequestDetailView,
  toTestRequestView,
} from './view.ts'

/** Any number is accepted: one that was never recorded is not found. */
const ByNumber = ById.extend({
  number: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
})

export function testRequestRoutes(deps: {
  permit: Permissions
  testRequests: TestRequestService
}): OpenAPIHono<AppEnv> {
  const { permit, testRequests } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')

  const list = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/connections/{id}/test-requests',
    summary: 'List the requests to the test destination',
    description:
      'The latest 20 requests of the last 24 hours to the built-in test destination, newest first.',
    request: { params: ById },
    responses: {
      200: jsonResponse(pageOf(TestRequestView), 'The requests'),
      ...denied,
      ...errorResponses(ferryhookError, 'connection_not_found'),
    },
  })
  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/connections/{id}/test-requests/{number}',
    summary: 'Get a request to the test destination',
    description:
      'The request exactly as it was delivered. If the connection added headers of its own, the admin permission is required.',
    request: { params: ByNumber },
    responses: {
      200: jsonResponse(TestRequestDetailView, 'The request'),
      ...denied,
      ...errorResponses(ferryhookError, 'connection_not_found', 'test_request_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const found = await testRequests.list(c.get('principal'), c.req.valid('param').id)
      return c.json({ items: found.map(toTestRequestView), cursor: null }, 200)
    })
    .openapi(get, async (c) => {
      const { id, number } = c.req.valid('param')
      const found = await testRequests.get(c.get('principal'), id, number)
      return c.json(toTestRequestDetailView(found), 200)
    })
}

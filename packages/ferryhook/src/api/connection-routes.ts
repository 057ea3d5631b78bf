import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import { and } from '@strongroom/kit/http/declared-permission'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import {
  ConnectionLimits,
  CustomHeadersInput,
  RetryDelays,
} from '../accounts/connection-options.ts'
import { ferryhookError } from '../errors.ts'
import { Filter } from '../filters/filter.ts'
import { Transform } from '../transforms/transform.ts'
import { ConnectionView, viewConnection } from './connection-view.ts'
import type { ApiDeps } from './deps.ts'
import { ById, Name } from './schemas.ts'

const ConnectionFields = z.strictObject({
  name: Name,
  destinationUrl: z.string().min(1).max(2_048),
  filters: Filter.nullable().optional(),
  transform: Transform.nullable().optional(),
  retryConfig: RetryDelays.nullable().optional(),
  limits: ConnectionLimits.nullable().optional(),
  headers: CustomHeadersInput.nullable().optional(),
})

const NewConnection = ConnectionFields.openapi({
  example: { name: 'To the shop', destinationUrl: 'https://shop.example.com/hooks' },
})

const ConnectionChange = ConnectionFields.partial().openapi({
  example: {
    filters: [{ path: '$.type', operator: 'equals', value: 'invoice.paid' }],
    transform: { type: 'field_map', rules: [{ from: '$.data.amount', to: 'total' }] },
    retryConfig: [0, 30, 120, 900],
    limits: { concurrency: 5, perSecond: 10 },
  },
})

/** A filter and a transform of 64 KB each, escaped. */
const LARGEST_BODY = 512 * 1024

export function connectionRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, connections, kept } = deps
  const one = jsonResponse(ConnectionView, 'The connection')
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')
  const missing = errorResponses(ferryhookError, 'connection_not_found')
  const large = and(permit.write, bodyLimit(LARGEST_BODY))

  const create = createRoute({
    ...large,
    method: 'post',
    path: '/v1/sources/{id}/connections',
    summary: 'Create a connection',
    description: 'The answer has the secret that its deliveries are signed with.',
    request: { params: ById, body: jsonBody(NewConnection) },
    responses: {
      201: jsonResponse(ConnectionView.extend({ signingSecret: z.string() }), 'The connection'),
      ...errorResponses(
        ferryhookError,
        'unauthorized',
        'permission_required',
        'source_not_found',
        'plan_limit',
        'invalid_destination',
        'invalid_transform',
      ),
    },
  })
  const list = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/sources/{id}/connections',
    summary: 'List the connections of a source',
    request: { params: ById },
    responses: {
      200: jsonResponse(pageOf(ConnectionView), 'All its connections'),
      ...denied,
      ...errorResponses(ferryhookError, 'source_not_found'),
    },
  })
  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/connections/{id}',
    summary: 'Look at a connection',
    request: { params: ById },
    responses: { 200: one, ...denied, ...missing },
  })
  const change = createRoute({
    ...large,
    method: 'patch',
    path: '/v1/connections/{id}',
    summary: 'Change a connection',
    description:
      'What is given as null is removed. To send the headers that it has to another address needs the permission admin, unless they are given anew.',
    request: { params: ById, body: jsonBody(ConnectionChange) },
    responses: {
      200: one,
      ...denied,
      ...missing,
      ...errorResponses(ferryhookError, 'invalid_destination', 'invalid_transform'),
    },
  })
  const pause = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/connections/{id}/pause',
    summary: 'Pause a connection',
    description: 'Its deliveries are held until it is resumed.',
    request: { params: ById },
    responses: { 200: one, ...denied, ...missing },
  })
  const resume = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/connections/{id}/resume',
    summary: 'Resume a connection',
    request: { params: ById },
    responses: { 200: one, ...denied, ...missing },
  })
  const end = createRoute({
    ...permit.write,
    method: 'delete',
    path: '/v1/connections/{id}',
    summary: 'Delete a connection',
    description: 'Its history stays until it expires.',
    request: { params: ById },
    responses: { 204: { description: 'Deleted' }, ...denied, ...missing },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(create, async (c) => {
      const { id } = c.req.valid('param')
      const made = await connections.create(c.get('principal'), id, c.req.valid('json'))
      const view = await viewConnection(made.connection, kept)
      return c.json({ ...view, signingSecret: made.signingSecret }, 201)
    })
    .openapi(list, async (c) => {
      const all = await connections.list(c.get('principal'), c.req.valid('param').id)
      const items = await Promise.all(all.map((connection) => viewConnection(connection, kept)))
      return c.json({ items, cursor: null }, 200)
    })
    .openapi(get, async (c) => {
      const connection = await connections.get(c.get('principal'), c.req.valid('param').id)
      return c.json(await viewConnection(connection, kept), 200)
    })
    .openapi(change, async (c) => {
      const { id } = c.req.valid('param')
      const connection = await connections.change(c.get('principal'), id, c.req.valid('json'))
      return c.json(await viewConnection(connection, kept), 200)
    })
    .openapi(pause, async (c) => {
      const connection = await connections.pause(c.get('principal'), c.req.valid('param').id)
      return c.json(await viewConnection(connection, kept), 200)
    })
    .openapi(resume, async (c) => {
      const connection = await connections.resume(c.get('principal'), c.req.valid('param').id)
      return c.json(await viewConnection(connection, kept), 200)
    })
    .openapi(end, async (c) => {
      await connections.delete(c.get('principal'), c.req.valid('param').id)
      return c.body(null, 204)
    })
}

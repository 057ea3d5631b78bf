import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { withMiddleware } from '@strongroom/kit/http/permissions'
import { ferryhookError } from '../errors.ts'
import { Filter } from '../filters/filter.ts'
import type { Permissions } from '../http/permissions.ts'
import { createRequestTurn } from '../http/request-turn.ts'
import { ById, Name, SecretRotation } from '../http/schemas.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { Transform } from '../transforms/transform.ts'
import { ConnectionLimits, CustomHeadersInput, RetryDelays } from './options.ts'
import type { ConnectionService } from './service.ts'
import { ConnectionView, toConnectionListJson, toConnectionView } from './view.ts'

const ConnectionFields = z.strictObject({
  name: Name,
  destinationUrl: z.string().min(1).max(2_048).openapi({
    description:
      'Or test:200, the built-in test destination: it responds with the status, from 200 to 599, and records the request',
  }),
  filters: Filter.nullable().optional(),
  transform: Transform.nullable().optional(),
  retryConfig: RetryDelays.nullable().optional(),
  limits: ConnectionLimits.nullable().optional(),
  headers: CustomHeadersInput.nullable().optional(),
})

const NewConnection = ConnectionFields.openapi({
  example: { name: 'To the shop', destinationUrl: 'https://shop.example.com/hooks' },
})

const ConnectionChange = ConnectionFields.partial()
  .extend({
    rev: z.int().min(0).optional().openapi({
      description: 'Update only this revision of the connection, so that no other change is lost',
    }),
  })
  .openapi({
    example: {
      rev: 3,
      filters: [{ path: '$.type', operator: 'equals', value: 'invoice.paid' }],
      transform: { type: 'field_map', rules: [{ from: '$.data.amount', to: 'total' }] },
      retryConfig: [0, 30, 120, 900],
      limits: { concurrency: 5, perSecond: 10 },
    },
  })

/** A filter and a transform of 64 KB each, escaped. */
const MAX_BODY_BYTES = 512 * 1024

const JSON_CONTENT = { 'content-type': 'application/json' }

export function connectionRoutes(deps: {
  permit: Permissions
  scheduler: WorkScheduler
  connections: ConnectionService
  sealedSecrets: Pick<SealedSecrets, 'customHeaders'>
}): OpenAPIHono<AppEnv> {
  const { permit, scheduler, connections, sealedSecrets } = deps
  const one = jsonResponse(ConnectionView, 'The connection')
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')
  const missing = errorResponses(ferryhookError, 'connection_not_found')
  const large = withMiddleware(
    permit.write,
    bodyLimit(MAX_BODY_BYTES),
    createRequestTurn(scheduler),
  )

  const create = createRoute({
    ...large,
    method: 'post',
    path: '/v1/sources/{id}/connections',
    summary: 'Create a connection',
    description: 'The response contains the secret that deliveries are signed with.',
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
      200: jsonResponse(pageOf(ConnectionView), 'All connections of the source'),
      ...denied,
      ...errorResponses(ferryhookError, 'source_not_found'),
    },
  })
  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/connections/{id}',
    summary: 'Get a connection',
    request: { params: ById },
    responses: { 200: one, ...denied, ...missing },
  })
  const change = createRoute({
    ...large,
    method: 'patch',
    path: '/v1/connections/{id}',
    summary: 'Update a connection',
    description:
      'null removes a value. Changing the URL of a connection that has headers requires the admin permission, unless the request sets the headers as well. With a `rev` that is not the current one nothing is changed, and `data.connection` of the error is the current version.',
    request: { params: ById, body: jsonBody(ConnectionChange) },
    responses: {
      200: one,
      ...denied,
      ...missing,
      ...errorResponses(
        ferryhookError,
        'invalid_destination',
        'invalid_transform',
        'connection_changed',
      ),
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
  const remove = createRoute({
    ...permit.write,
    method: 'delete',
    path: '/v1/connections/{id}',
    summary: 'Delete a connection',
    description: 'Its history is retained until it expires.',
    request: { params: ById },
    responses: { 204: { description: 'Deleted' }, ...denied, ...missing },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(create, async (c) => {
      const { id } = c.req.valid('param')
      const created = await connections.create(c.get('principal'), id, c.req.valid('json'))
      const view = await toConnectionView(created.connection, sealedSecrets)
      return c.json({ ...view, signingSecret: created.signingSecret }, 201)
    })
    .openapi(list, async (c) => {
      const principal = c.get('principal')
      const all = await connections.list(principal, c.req.valid('param').id)
      const items = await toConnectionListJson(all, principal.user.userId, deps)
      // `never`, because the type of the response is that of the object.
      return c.body(`{"items":${items},"cursor":null}`, 200, JSON_CONTENT) as never
    })
    .openapi(get, async (c) => {
      const connection = await connections.get(c.get('principal'), c.req.valid('param').id)
      return c.json(await toConnectionView(connection, sealedSecrets), 200)
    })
    .openapi(change, async (c) => {
      const { id } = c.req.valid('param')
      const connection = await connections.change(c.get('principal'), id, c.req.valid('json'))
      return c.json(await toConnectionView(connection, sealedSecrets), 200)
    })
    .openapi(pause, async (c) => {
      const connection = await connections.pause(c.get('principal'), c.req.valid('param').id)
      return c.json(await toConnectionView(connection, sealedSecrets), 200)
    })
    .openapi(resume, async (c) => {
      const connection = await connections.resume(c.get('principal'), c.req.valid('param').id)
      return c.json(await toConnectionView(connection, sealedSecrets), 200)
    })
    .openapi(remove, async (c) => {
      await connections.delete(c.get('principal'), c.req.valid('param').id)
      return c.body(null, 204)
    })
}

const SecretView = z
  .object({
    signingSecret: z.string().openapi({ example: 'whsec_…' }),
    createdAt: z.string(),
    expiresAt: z.string().nullable().openapi({ description: 'Set for a secret that was rotated' }),
  })
  .openapi('FerryhookSecret')

export function connectionSecretRoutes(deps: {
  permit: Permissions
  connections: Pick<ConnectionService, 'showSecrets' | 'rotateSecret'>
}): OpenAPIHono<AppEnv> {
  const { permit, connections } = deps
  const denied = errorResponses(
    ferryhookError,
    'unauthorized',
    'permission_required',
    'connection_not_found',
  )

  const show = createRoute({
    ...permit.admin,
    method: 'get',
    path: '/v1/connections/{id}/secret',
    summary: 'Get the signing secrets of a connection',
    description: 'Newest first. Each request is recorded in the audit log.',
    request: { params: ById },
    responses: { 200: jsonResponse(pageOf(SecretView), 'The active secrets'), ...denied },
  })

  const rotate = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/v1/connections/{id}/rotate-secret',
    summary: 'Rotate the signing secret of a connection',
    description:
      'During the overlap, deliveries are signed with the new secret and with the current ones.',
    request: { params: ById, body: jsonBody(SecretRotation) },
    responses: {
      200: jsonResponse(z.object({ signingSecret: z.string() }), 'The new secret'),
      ...denied,
      ...errorResponses(ferryhookError, 'too_many_secrets'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(show, async (c) => {
      const list = await connections.showSecrets(c.get('principal'), c.req.valid('param').id)
      const items = list.map(({ secret, createdAt, expiresAt }) => ({
        signingSecret: secret,
        createdAt,
        expiresAt: expiresAt === undefined ? null : new Date(expiresAt * 1000).toISOString(),
      }))
      return c.json({ items, cursor: null }, 200)
    })
    .openapi(rotate, async (c) => {
      const { id } = c.req.valid('param')
      const rotated = await connections.rotateSecret(c.get('principal'), id, c.req.valid('json'))
      return c.json({ signingSecret: rotated.signingSecret }, 200)
    })
}

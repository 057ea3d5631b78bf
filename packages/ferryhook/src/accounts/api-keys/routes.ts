import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import { ById, Name } from '../../http/schemas.ts'
import type { ApiKey } from './item.ts'
import type { ApiKeyService } from './service.ts'

const KeyPermission = z.enum(['read', 'write', 'admin'])

const NewKey = z
  .strictObject({ name: Name, permissions: KeyPermission })
  .openapi({ example: { name: 'CI', permissions: 'read' } })

export const ApiKeyView = z
  .object({
    id: z.string(),
    name: z.string(),
    prefix: z.string().openapi({ description: 'The first characters after fh_live_' }),
    permissions: KeyPermission,
    lastUsedAt: z.string().nullable(),
    createdAt: z.string(),
  })
  .openapi('FerryhookApiKey')

export function toApiKeyView(key: ApiKey): z.infer<typeof ApiKeyView> {
  const { keyId: id, name, keyPrefix: prefix, permissions, lastUsedAt = null, createdAt } = key
  return { id, name, prefix, permissions, lastUsedAt, createdAt }
}

export function apiKeyRoutes(deps: {
  permit: Permissions
  apiKeys: ApiKeyService
}): OpenAPIHono<AppEnv> {
  const { permit, apiKeys } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')

  const create = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/v1/api-keys',
    summary: 'Create an API key',
    description: 'The response contains the key, which is not shown again.',
    request: { body: jsonBody(NewKey) },
    responses: {
      201: jsonResponse(
        ApiKeyView.extend({ key: z.string().openapi({ example: 'fh_live_…' }) }),
        'The key',
      ),
      ...denied,
    },
  })
  const list = createRoute({
    ...permit.admin,
    method: 'get',
    path: '/v1/api-keys',
    summary: 'List API keys',
    responses: { 200: jsonResponse(pageOf(ApiKeyView), 'All keys'), ...denied },
  })
  const remove = createRoute({
    ...permit.admin,
    method: 'delete',
    path: '/v1/api-keys/{id}',
    summary: 'Delete an API key',
    description: 'Requests with the key are refused immediately.',
    request: { params: ById },
    responses: {
      204: { description: 'Deleted' },
      ...denied,
      ...errorResponses(ferryhookError, 'api_key_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(create, async (c) => {
      const { key, apiKey } = await apiKeys.create(c.get('principal'), c.req.valid('json'))
      return c.json({ ...toApiKeyView(apiKey), key }, 201)
    })
    .openapi(list, async (c) => {
      const all = await apiKeys.list(c.get('principal'))
      return c.json({ items: all.map(toApiKeyView), cursor: null }, 200)
    })
    .openapi(remove, async (c) => {
      await apiKeys.delete(c.get('principal'), c.req.valid('param').id)
      return c.body(null, 204)
    })
}

/** API keys, and the log of who changed what. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import type { ApiDeps } from './deps.ts'
import {
  ApiKeyView,
  AuditView,
  ById,
  KeyPermission,
  Name,
  PageQuery,
  viewApiKey,
  viewAudit,
} from './schemas.ts'

const NewKey = z
  .strictObject({ name: Name, permissions: KeyPermission })
  .openapi({ example: { name: 'CI', permissions: 'read' } })

export function keyRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, keyRing, layer } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')

  const create = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/v1/api-keys',
    summary: 'Create an API key',
    description: 'The answer has the key, which is never shown again.',
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
  const end = createRoute({
    ...permit.admin,
    method: 'delete',
    path: '/v1/api-keys/{id}',
    summary: 'Delete an API key',
    description: 'It is refused from then on.',
    request: { params: ById },
    responses: {
      204: { description: 'Deleted' },
      ...denied,
      ...errorResponses(ferryhookError, 'api_key_not_found'),
    },
  })
  const audit = createRoute({
    ...permit.admin,
    method: 'get',
    path: '/v1/audit',
    summary: 'Read the audit log',
    description: 'The newest first, of one year.',
    request: { query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(AuditView), 'A page of entries'),
      ...denied,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(create, async (c) => {
      const { key, apiKey } = await keyRing.create(c.get('principal'), c.req.valid('json'))
      return c.json({ ...viewApiKey(apiKey), key }, 201)
    })
    .openapi(list, async (c) => {
      const all = await keyRing.list(c.get('principal'))
      return c.json({ items: all.map(viewApiKey), cursor: null }, 200)
    })
    .openapi(end, async (c) => {
      await keyRing.delete(c.get('principal'), c.req.valid('param').id)
      return c.body(null, 204)
    })
    .openapi(audit, async (c) => {
      const { userId } = c.get('principal').user
      const { items, cursor } = await layer.audit.listByUser(userId, c.req.valid('query'))
      return c.json({ items: items.map(viewAudit), cursor }, 200)
    })
}

import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import { PageQuery } from '../../http/schemas.ts'
import type { Stores } from '../../stores.ts'
import type { AuditEntry } from './item.ts'

export const AuditView = z
  .object({
    id: z.string(),
    at: z.string(),
    actor: z.string().openapi({ example: 'key:key_V1StGXR8_Z5jdHi6' }),
    action: z.string().openapi({ example: 'source.created' }),
    target: z.string().nullable(),
  })
  .openapi('FerryhookAuditEntry')

export function toAuditView(entry: AuditEntry): z.infer<typeof AuditView> {
  const { entryId: id, at, actor, action, target = null } = entry
  return { id, at, actor, action, target }
}

export function auditRoutes(deps: {
  permit: Permissions
  stores: Pick<Stores, 'audit'>
}): OpenAPIHono<AppEnv> {
  const list = createRoute({
    ...deps.permit.admin,
    method: 'get',
    path: '/v1/audit',
    summary: 'List audit log entries',
    description: 'Newest first. Entries are retained for one year.',
    request: { query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(AuditView), 'A page of entries'),
      ...errorResponses(ferryhookError, 'unauthorized', 'permission_required'),
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })

  return new OpenAPIHono<AppEnv>().openapi(list, async (c) => {
    const { userId } = c.get('principal').user
    const page = await deps.stores.audit.listByUser(userId, c.req.valid('query'))
    return c.json({ items: page.items.map(toAuditView), cursor: page.cursor }, 200)
  })
}

import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import { checkTimeRange, ReceivedTime } from '../../events/search.ts'
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
    changes: z
      .array(
        z.object({ name: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
      )
      .openapi({
        description:
          'What was replaced. A value that is not shown, such as a secret, is null before and after.',
        example: [{ name: 'name', before: 'Stripe', after: 'Stripe production' }],
      }),
  })
  .openapi('FerryhookAuditEntry')

export function toAuditView(entry: AuditEntry): z.infer<typeof AuditView> {
  const { entryId: id, at, actor, action, target = null } = entry
  const changes = (entry.changes ?? []).map(({ name, before = null, after = null }) => ({
    name,
    before,
    after,
  }))
  return { id, at, actor, action, target, changes }
}

const ListQuery = PageQuery.extend({
  actor: z.string().max(100).optional().openapi({ example: 'key:key_V1StGXR8_Z5jdHi6' }),
  action: z.string().max(100).optional().openapi({
    description: 'An action, or the beginning of actions and an asterisk',
    example: 'source.*',
  }),
  target: z.string().max(200).optional().openapi({
    description: 'The id of what was changed, such as a source or a connection',
  }),
  from: ReceivedTime.optional(),
  to: ReceivedTime.optional().openapi({ description: 'Exclusive' }),
}).superRefine(checkTimeRange)

export function auditRoutes(deps: {
  permit: Permissions
  stores: Pick<Stores, 'audit'>
}): OpenAPIHono<AppEnv> {
  const list = createRoute({
    ...deps.permit.admin,
    method: 'get',
    path: '/v1/audit',
    summary: 'List audit log entries',
    description:
      'Newest first. Entries are retained for one year. With a filter, a page may be short or empty; continue while the response has a cursor.',
    request: { query: ListQuery },
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

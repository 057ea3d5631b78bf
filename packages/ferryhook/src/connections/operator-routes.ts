/** What operators see of connections: where deliveries fail, and nothing of what is delivered. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import type { AdminService, FailingConnection } from '../accounts/admin/service.ts'
import type { Permissions } from '../http/permissions.ts'
import { PageQuery } from '../http/schemas.ts'

export const FailingConnectionView = z
  .object({
    id: z.string().openapi({ example: 'conn_V1StGXR8_Z5jdHi6' }),
    sourceId: z.string(),
    userId: z.string(),
    email: z.string().nullable().openapi({ description: 'Address of the owner' }),
    name: z.string(),
    destinationHost: z.string().openapi({
      description: 'Without path and query, which may contain credentials',
      example: 'shop.example.com',
    }),
    status: z.enum(['failing', 'paused']),
    statusReason: z.string().nullable().openapi({ description: 'Why Ferryhook paused it' }),
    failingSince: z.string().nullable(),
    failedAttempts: z.int().openapi({ description: 'Failed attempts since the last success' }),
    lastDeliveredAt: z.string().nullable(),
    failureCount: z.int().openapi({ description: 'Deliveries that failed permanently' }),
  })
  .openapi('FerryhookFailingConnection')
export type FailingConnectionView = z.infer<typeof FailingConnectionView>

export function toFailingConnectionView({
  connection,
  email,
}: FailingConnection): FailingConnectionView {
  const url = new URL(connection.destinationUrl)
  return {
    id: connection.connectionId,
    sourceId: connection.sourceId,
    userId: connection.userId,
    email: email ?? null,
    name: connection.name,
    destinationHost: url.host === '' ? connection.destinationUrl : url.host,
    status: connection.status === 'active' ? 'failing' : 'paused',
    statusReason: connection.statusReason ?? null,
    failingSince: connection.failingSince ?? null,
    failedAttempts: connection.failedAttempts ?? 0,
    lastDeliveredAt: connection.lastDeliveredAt ?? null,
    failureCount: connection.failureCount,
  }
}

export function operatorConnectionRoutes(deps: {
  permit: Permissions
  admin: Pick<AdminService, 'listFailing'>
}): OpenAPIHono<AppEnv> {
  const list = createRoute({
    ...deps.permit.operator.viewer,
    method: 'get',
    path: '/v1/failing-connections',
    summary: 'List failing connections of all accounts',
    description:
      'Active connections with failed attempts since the last success, and those that Ferryhook paused, in no particular order.',
    request: { query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(FailingConnectionView), 'A page of connections'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })

  return new OpenAPIHono<AppEnv>().openapi(list, async (c) => {
    const { items, cursor } = await deps.admin.listFailing(c.req.valid('query'))
    return c.json({ items: items.map(toFailingConnectionView), cursor }, 200)
  })
}

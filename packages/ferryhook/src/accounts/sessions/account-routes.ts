/** The sessions of an account: where its user is signed in, and ending them. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import { ById } from '../../http/schemas.ts'
import type { StoredSession } from './item.ts'
import type { SessionService } from './service.ts'

const AccountSessionView = z
  .object({
    id: z.string().openapi({ example: 'rtk_V1StGXR8_Z5jdHi6' }),
    current: z.boolean().openapi({ description: 'Whether this session sent the request' }),
    createdAt: z.string(),
    lastUsedAt: z.string().openapi({
      description:
        'When the session last got an access token, which is valid for an hour: precise to an hour',
    }),
    expiresAt: z.string(),
    address: z.string().nullable().openapi({
      description: 'The IP address at that time; null if unknown',
      example: '203.0.113.7',
    }),
    userAgent: z.string().nullable().openapi({
      description: 'The first 200 characters of its User-Agent header; null if unknown',
    }),
  })
  .openapi('FerryhookAccountSession')
export type AccountSessionView = z.infer<typeof AccountSessionView>

function toAccountSessionView(
  session: StoredSession,
  currentId: string | undefined,
): AccountSessionView {
  return {
    id: session.familyId,
    current: session.familyId === currentId,
    createdAt: session.createdAt,
    lastUsedAt: new Date(session.rotatedAt).toISOString(),
    expiresAt: new Date(session.expiresAt * 1000).toISOString(),
    address: session.address ?? null,
    userAgent: session.userAgent ?? null,
  }
}

export function accountSessionRoutes(deps: {
  permit: Permissions
  sessions: Pick<SessionService, 'list' | 'endOne' | 'endOthers'>
}): OpenAPIHono<AppEnv> {
  const { permit, sessions } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'session_required')

  const list = createRoute({
    ...permit.session,
    method: 'get',
    path: '/v1/account/sessions',
    summary: 'List the sessions of the account',
    description: 'Last used first.',
    responses: {
      200: jsonResponse(z.object({ items: z.array(AccountSessionView) }), 'All sessions'),
      ...denied,
    },
  })

  const endOthers = createRoute({
    ...permit.session,
    method: 'delete',
    path: '/v1/account/sessions',
    summary: 'End all other sessions',
    description: 'Only the session that sends the request continues.',
    responses: {
      200: jsonResponse(z.object({ ended: z.int() }), 'How many sessions were ended'),
      ...denied,
    },
  })

  const end = createRoute({
    ...permit.session,
    method: 'delete',
    path: '/v1/account/sessions/{id}',
    summary: 'End a session',
    description: 'Its access tokens are invalid immediately.',
    request: { params: ById },
    responses: {
      204: { description: 'Ended' },
      ...denied,
      ...errorResponses(ferryhookError, 'session_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { user, sessionId } = c.get('principal')
      const items = await sessions.list(user)
      return c.json({ items: items.map((each) => toAccountSessionView(each, sessionId)) }, 200)
    })
    .openapi(endOthers, async (c) =>
      c.json({ ended: await sessions.endOthers(c.get('principal')) }, 200),
    )
    .openapi(end, async (c) => {
      await sessions.endOne(c.get('principal'), c.req.valid('param').id)
      return c.body(null, 204)
    })
}

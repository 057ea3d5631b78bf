/** The account of the user who asks. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import { planLimits, plans, retentionSeconds } from '../plans.ts'
import { AlertsView, viewAlerts } from './alert-routes.ts'
import { ConnectionView, viewConnection } from './connection-view.ts'
import { refreshCookie } from './cookies.ts'
import type { ApiDeps } from './deps.ts'
import {
  ApiKeyView,
  AuditView,
  Email,
  GivenPassword,
  Name,
  NewPassword,
  UserView,
  viewApiKey,
  viewAudit,
  viewUser,
} from './schemas.ts'
import { SourceView, viewSource } from './source-view.ts'

const PlanView = z
  .object({
    plan: z.enum(plans),
    eventsPerMinute: z.int().openapi({ description: 'Of each source' }),
    eventsPerMonth: z.int(),
    refusesBeyondMonth: z.boolean().openapi({
      description: 'Whether events beyond the month are refused, or accepted and flagged',
    }),
    sources: z.int(),
    connectionsPerSource: z.int(),
    retentionSeconds: z.int(),
  })
  .openapi('FerryhookPlan')

const AccountChange = z
  .strictObject({
    name: Name.optional(),
    email: Email.optional(),
    currentPassword: GivenPassword.optional(),
  })
  .openapi({ example: { name: 'Ada Lovelace' } })

const PasswordChange = z
  .strictObject({ currentPassword: GivenPassword.optional(), newPassword: NewPassword })
  .openapi({
    example: { currentPassword: 'correct horse battery', newPassword: 'staple for a horse' },
  })

const AccountEnd = z
  .strictObject({ currentPassword: GivenPassword.optional() })
  .openapi({ example: { currentPassword: 'correct horse battery' } })

export function accountRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, accounts, credentials, kept, publicUrl, clock } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'session_required')

  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/account',
    summary: 'Look at the account',
    responses: {
      200: jsonResponse(UserView, 'The user'),
      ...errorResponses(ferryhookError, 'unauthorized'),
    },
  })

  const change = createRoute({
    ...permit.session,
    method: 'patch',
    path: '/v1/account',
    summary: 'Change the account',
    description: 'A new e-mail address needs the password, if the account has one.',
    request: { body: jsonBody(AccountChange) },
    responses: {
      200: jsonResponse(UserView, 'The user'),
      ...denied,
      ...errorResponses(ferryhookError, 'session_required', 'wrong_password', 'email_taken'),
    },
  })

  const changePassword = createRoute({
    ...permit.session,
    method: 'put',
    path: '/v1/account/password',
    summary: 'Change or set the password',
    description: 'Ends all other sessions.',
    request: { body: jsonBody(PasswordChange) },
    responses: {
      204: { description: 'Changed' },
      ...denied,
      ...errorResponses(ferryhookError, 'session_required', 'wrong_password'),
    },
  })

  const exportAll = createRoute({
    ...permit.admin,
    method: 'get',
    path: '/v1/account/export',
    summary: 'Export the account',
    description: 'Everything but events, which have lists of their own. No secrets.',
    responses: {
      200: jsonResponse(
        z.object({
          user: UserView,
          sources: z.array(SourceView),
          connections: z.array(ConnectionView),
          apiKeys: z.array(ApiKeyView),
          alerts: AlertsView,
          audit: z.array(AuditView),
        }),
        'All of it',
      ),
      ...errorResponses(ferryhookError, 'unauthorized', 'permission_required'),
    },
  })

  const end = createRoute({
    ...permit.session,
    method: 'post',
    path: '/v1/account/delete',
    summary: 'Delete the account',
    description:
      'With its keys, sources and connections, at once and for good. Events expire with their plan. Needs the password, if the account has one.',
    request: { body: jsonBody(AccountEnd) },
    responses: {
      204: { description: 'Deleted' },
      ...denied,
      ...errorResponses(ferryhookError, 'session_required', 'wrong_password'),
    },
  })

  const listPlans = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/plans',
    summary: 'List plans',
    responses: { 200: jsonResponse(pageOf(PlanView), 'All plans') },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, (c) => c.json(viewUser(c.get('principal').user, clock.now()), 200))
    .openapi(change, async (c) => {
      const user = await accounts.change(c.get('principal'), c.req.valid('json'))
      return c.json(viewUser(user, clock.now()), 200)
    })
    .openapi(changePassword, async (c) => {
      await credentials.change(c.get('principal'), c.req.valid('json'))
      return c.body(null, 204)
    })
    .openapi(exportAll, async (c) => {
      const all = await accounts.export(c.get('principal'))
      const connections = await Promise.all(
        all.connections.map((connection) => viewConnection(connection, kept)),
      )
      return c.json(
        {
          user: viewUser(all.user, clock.now()),
          sources: all.sources.map((source) => viewSource(source, publicUrl)),
          connections,
          apiKeys: all.apiKeys.map(viewApiKey),
          alerts: viewAlerts(all.alerts),
          audit: all.audit.map(viewAudit),
        },
        200,
      )
    })
    .openapi(end, async (c) => {
      await accounts.delete(c.get('principal'), c.req.valid('json').currentPassword)
      refreshCookie.clear(c)
      return c.body(null, 204)
    })
    .openapi(listPlans, (c) => {
      const items = plans.map((plan) => ({
        plan,
        ...planLimits[plan],
        retentionSeconds: retentionSeconds[plan],
      }))
      return c.json({ items, cursor: null }, 200)
    })
}

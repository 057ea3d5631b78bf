import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import type { Clock } from '@strongroom/platform/clock'
import { AlertsView, toAlertsView } from '../../alerts/routes.ts'
import { ConnectionView, toConnectionListJson } from '../../connections/view.ts'
import { ferryhookError } from '../../errors.ts'
import { Email, CurrentPassword, Name, NewPassword } from '../../http/schemas.ts'
import type { Permissions } from '../../http/permissions.ts'
import { planLimits, plans, retentionSeconds } from '../../plans.ts'
import type { WorkScheduler } from '../../sandbox/work-scheduler.ts'
import type { SealedSecrets } from '../../signing/sealed-secrets.ts'
import { SourceView, toSourceView } from '../../sources/view.ts'
import type { Figures } from '../../usage/figures.ts'
import { ApiKeyView, toApiKeyView } from '../api-keys/routes.ts'
import { AuditView, toAuditView } from '../audit/routes.ts'
import { refreshCookie, verifyPage } from '../browser.ts'
import type { PasswordService } from '../sessions/passwords.ts'
import type { EmailVerification } from './email-verification.ts'
import type { AccountService } from './service.ts'
import type { User } from './item.ts'
import { UserView, toUserView } from './view.ts'

const PlanView = z
  .object({
    plan: z.enum(plans),
    eventsPerMinute: z.int().openapi({ description: 'Per source' }),
    eventsPerMonth: z.int(),
    refusesBeyondMonth: z.boolean().openapi({
      description:
        'Whether events over the monthly limit are rejected (otherwise they are accepted and flagged)',
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
    currentPassword: CurrentPassword.optional(),
  })
  .openapi({ example: { name: 'Ada Lovelace' } })

const PasswordChange = z
  .strictObject({ currentPassword: CurrentPassword.optional(), newPassword: NewPassword })
  .openapi({
    example: { currentPassword: 'correct horse battery', newPassword: 'staple for a horse' },
  })

const VerificationTicket = z
  .strictObject({ ticket: z.string().max(200) })
  .openapi({ example: { ticket: 'from the link' } })

const AccountDeletion = z
  .strictObject({ currentPassword: CurrentPassword.optional(), email: Email.optional() })
  .openapi({ example: { currentPassword: 'correct horse battery' } })

export function accountRoutes(deps: {
  permit: Permissions
  accounts: AccountService
  figures: Pick<Figures, 'user' | 'sources'>
  passwords: Pick<PasswordService, 'change'>
  emailVerification: Pick<EmailVerification, 'start' | 'request' | 'confirm'>
  sealedSecrets: Pick<SealedSecrets, 'customHeaders'>
  scheduler: WorkScheduler
  publicUrl: string
  clock: Clock
}): OpenAPIHono<AppEnv> {
  const { permit, accounts, passwords, emailVerification } = deps
  const { figures, publicUrl, clock } = deps
  const verifyUrl = (ticket: string) => verifyPage(publicUrl, ticket)
  const denied = errorResponses(ferryhookError, 'unauthorized', 'session_required')

  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/account',
    summary: 'Get the account',
    responses: {
      200: jsonResponse(UserView, 'The user'),
      ...errorResponses(ferryhookError, 'unauthorized'),
    },
  })

  const change = createRoute({
    ...permit.session,
    method: 'patch',
    path: '/v1/account',
    summary: 'Update the account',
    description:
      'A new e-mail address requires the current password, if the account has a password.',
    request: { body: jsonBody(AccountChange) },
    responses: {
      200: jsonResponse(UserView, 'The user'),
      ...denied,
      ...errorResponses(ferryhookError, 'session_required', 'wrong_password', 'email_taken'),
    },
  })

  const requestVerification = createRoute({
    ...permit.session,
    method: 'post',
    path: '/v1/account/email-verification',
    summary: 'Request a mail that verifies the address',
    description: 'Sends nothing if the address is verified.',
    responses: {
      202: { description: 'The mail is being sent' },
      ...denied,
      ...errorResponses(ferryhookError, 'session_required', 'mail_not_configured'),
    },
  })

  const verifyEmail = createRoute({
    ...permit.session,
    method: 'post',
    path: '/v1/account/email-verification/confirm',
    summary: 'Verify the address with a mailed link',
    request: { body: jsonBody(VerificationTicket) },
    responses: {
      200: jsonResponse(UserView, 'The user'),
      ...denied,
      ...errorResponses(ferryhookError, 'session_required', 'invalid_verification'),
    },
  })

  const changePassword = createRoute({
    ...permit.session,
    method: 'put',
    path: '/v1/account/password',
    summary: 'Set or change the password',
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
    description: 'Contains everything except events and secrets. List events separately.',
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
        'The exported data',
      ),
      ...errorResponses(ferryhookError, 'unauthorized', 'permission_required'),
    },
  })

  const remove = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/v1/account/delete',
    summary: 'Delete the account',
    description:
      'Permanently deletes the account with its API keys, sources and connections. Events expire as the plan says. Requires the current password, if the account has a password. An account that has neither a password nor an identity at a provider, such as one that an operator added, is deleted with an admin key and its own address as `email`.',
    request: { body: jsonBody(AccountDeletion) },
    responses: {
      204: { description: 'Deleted' },
      ...denied,
      ...errorResponses(
        ferryhookError,
        'session_required',
        'permission_required',
        'wrong_password',
      ),
    },
  })

  const listPlans = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/plans',
    summary: 'List plans',
    responses: { 200: jsonResponse(pageOf(PlanView), 'All plans') },
  })

  const view = async (user: User) => toUserView(await figures.user(user), clock.now())

  return new OpenAPIHono<AppEnv>()
    .openapi(get, async (c) => c.json(await view(c.get('principal').user), 200))
    .openapi(change, async (c) => {
      const principal = c.get('principal')
      const user = await accounts.change(principal, c.req.valid('json'))
      if (user.email !== principal.user.email) emailVerification.start(user, verifyUrl)
      return c.json(await view(user), 200)
    })
    .openapi(requestVerification, (c) => {
      emailVerification.request(c.get('principal').user, verifyUrl)
      return c.body(null, 202)
    })
    .openapi(verifyEmail, async (c) => {
      const { ticket } = c.req.valid('json')
      const user = await emailVerification.confirm(c.get('principal'), ticket)
      return c.json(await view(user), 200)
    })
    .openapi(changePassword, async (c) => {
      await passwords.change(c.get('principal'), c.req.valid('json'))
      return c.body(null, 204)
    })
    .openapi(exportAll, async (c) => {
      const all = await accounts.export(c.get('principal'))
      const connections = await toConnectionListJson(all.connections, all.user.userId, deps)
      const rest = JSON.stringify({
        user: await view(all.user),
        sources: (await figures.sources(all.sources)).map((each) => toSourceView(each, publicUrl)),
        apiKeys: all.apiKeys.map(toApiKeyView),
        alerts: toAlertsView(all.alerts),
        audit: all.audit.map(toAuditView),
      })
      const text = `${rest.slice(0, -1)},"connections":${connections}}`
      // `never`, because the type of the response is that of the object.
      return c.body(text, 200, { 'content-type': 'application/json' }) as never
    })
    .openapi(remove, async (c) => {
      await accounts.delete(c.get('principal'), c.req.valid('json'))
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

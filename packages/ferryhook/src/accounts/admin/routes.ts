/** Administration by the operators of the server, and mails with invites and reset links. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AuditedChange } from '@strongroom/kit/audit-log'
import { cursorError } from '@strongroom/kit/cursor'
import { clientNetworks } from '@strongroom/kit/http/client-address'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors, withMiddleware } from '@strongroom/kit/http/permissions'
import type { Clock } from '@strongroom/platform/clock'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import type { EnforceRateLimit } from '../../http/rate-limits.ts'
import { ById, Email, PageQuery } from '../../http/schemas.ts'
import { plans } from '../../plans.ts'
import { baseUrlOf, requireOwnOrigin, resetPage, signUpPage } from '../browser.ts'
import { toUserView, UserView } from '../users/view.ts'
import type { AdminService } from './service.ts'
import type { IssuedTicket } from './ticket-store.ts'

const StripeId = z.string().min(1).max(255).nullable().optional().openapi({
  description: 'Stored for your billing system; null removes it',
})

const PlanChange = z
  .strictObject({ plan: z.enum(plans), stripeCustomerId: StripeId, stripeSubId: StripeId })
  .openapi({ example: { plan: 'pro' } })

const Recipient = z
  .strictObject({ email: Email })
  .openapi({ example: { email: 'ada@example.com' } })

const TicketView = z.object({
  ticket: z.string().openapi({ description: 'Not shown again' }),
  url: z.string().openapi({ description: 'The link to give to the user' }),
  expiresAt: z.string(),
})

function toTicketView({ text, ticket }: IssuedTicket, url: string): z.infer<typeof TicketView> {
  return { ticket: text, url, expiresAt: new Date(ticket.expiresAt * 1000).toISOString() }
}

export function adminRoutes(deps: {
  permit: Permissions
  admin: AdminService
  /** The same, with an entry in the audit log for each write. */
  auditedAdmin(change: AuditedChange): AdminService
  enforceRateLimit: EnforceRateLimit
  publicUrl: string
  clock: Clock
}): OpenAPIHono<AppEnv> {
  const { permit, admin, auditedAdmin, enforceRateLimit, publicUrl, clock } = deps
  const missing = errorResponses(ferryhookError, 'user_not_found')
  const noMail = errorResponses(ferryhookError, 'mail_not_configured')

  const mailInvite = createRoute({
    ...permit.operator.editor,
    method: 'post',
    path: '/v1/invites/mail',
    summary: 'Invite a user by mail',
    description: 'Responds when the mail server has accepted the mail.',
    request: { body: jsonBody(Recipient) },
    responses: {
      204: { description: 'Sent' },
      ...operatorErrors,
      ...noMail,
      ...errorResponses(ferryhookError, 'mail_failed'),
    },
  })
  const forgotPassword = createRoute({
    ...withMiddleware(permit.public, requireOwnOrigin(publicUrl)),
    method: 'post',
    path: '/v1/auth/password-forgotten',
    summary: 'Request a password reset by mail',
    description: 'The response does not reveal whether the account exists.',
    request: { body: jsonBody(Recipient) },
    responses: {
      202: { description: 'If the account exists, a mail with a reset link is sent' },
      ...errorResponses(ferryhookError, 'foreign_origin'),
      ...noMail,
    },
  })
  const list = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/users',
    summary: 'List users',
    request: { query: PageQuery.extend({ email: Email.optional() }) },
    responses: {
      200: jsonResponse(pageOf(UserView), 'A page of users, in no particular order'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const get = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/users/{id}',
    summary: 'Get a user',
    request: { params: ById },
    responses: { 200: jsonResponse(UserView, 'The user'), ...operatorErrors, ...missing },
  })
  const setPlan = createRoute({
    ...permit.operator.editor,
    method: 'put',
    path: '/v1/users/{id}/plan',
    summary: 'Set the plan of a user',
    request: { params: ById, body: jsonBody(PlanChange) },
    responses: { 200: jsonResponse(UserView, 'The user'), ...operatorErrors, ...missing },
  })
  const invite = createRoute({
    ...permit.operator.editor,
    method: 'post',
    path: '/v1/invites',
    summary: 'Create an invite link',
    description: 'The link creates one account and is valid for seven days.',
    responses: { 201: jsonResponse(TicketView, 'The invite'), ...operatorErrors },
  })
  const offerReset = createRoute({
    ...permit.operator.admin,
    method: 'post',
    path: '/v1/users/{id}/password-resets',
    summary: 'Create a password reset link for a user',
    description: 'The link works once and is valid for one day.',
    request: { params: ById },
    responses: { 201: jsonResponse(TicketView, 'The link'), ...operatorErrors, ...missing },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(mailInvite, async (c) => {
      const operator = c.get('operator')
      const base = baseUrlOf(c, publicUrl)
      const { email } = c.req.valid('json')
      const change = { ...c.get('actor'), action: 'ferryhook.invite.mailed' }
      await auditedAdmin(change).mailInvite(operator, email, (ticket) => signUpPage(base, ticket))
      c.get('log').info('invite mailed', { operator })
      return c.body(null, 204)
    })
    .openapi(forgotPassword, async (c) => {
      const base = baseUrlOf(c, publicUrl)
      await enforceRateLimit('signup', clientNetworks(c))
      admin.mailPasswordReset(c.req.valid('json').email, (ticket) => resetPage(base, ticket))
      return c.body(null, 202)
    })
    .openapi(list, async (c) => {
      const { items, cursor } = await admin.list(c.req.valid('query'))
      return c.json({ items: items.map((user) => toUserView(user, clock.now())), cursor }, 200)
    })
    .openapi(get, async (c) => {
      const user = await admin.get(c.req.valid('param').id)
      return c.json(toUserView(user, clock.now()), 200)
    })
    .openapi(setPlan, async (c) => {
      const { id } = c.req.valid('param')
      const { plan } = await admin.get(id)
      const after = c.req.valid('json')
      const change = { ...c.get('actor'), action: 'ferryhook.user.plan_changed', target: id }
      const audited = auditedAdmin({ ...change, before: { plan }, after })
      const user = await audited.setPlan(c.get('operator'), id, after)
      return c.json(toUserView(user, clock.now()), 200)
    })
    .openapi(invite, async (c) => {
      const operator = c.get('operator')
      const change = { ...c.get('actor'), action: 'ferryhook.invite.created' }
      const issued = await auditedAdmin(change).invite(operator)
      // An invite has no user yet, so there is no account with an audit log of its own.
      c.get('log').info('invite created', { operator })
      const url = signUpPage(baseUrlOf(c, publicUrl), issued.text)
      return c.json(toTicketView(issued, url), 201)
    })
    .openapi(offerReset, async (c) => {
      const { id } = c.req.valid('param')
      const action = 'ferryhook.user.password_reset_offered'
      const audited = auditedAdmin({ ...c.get('actor'), action, target: id })
      const issued = await audited.offerPasswordReset(c.get('operator'), id)
      const url = resetPage(baseUrlOf(c, publicUrl), issued.text)
      return c.json(toTicketView(issued, url), 201)
    })
}

/** Administration by the operators of the server, and mails with invites and reset links. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import { clientNetworks } from '@strongroom/kit/http/client-address'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors, withMiddleware } from '@strongroom/kit/http/permissions'
import { secondFactorError } from '@strongroom/kit/second-factor/errors'
import type { Clock } from '@strongroom/platform/clock'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import type { EnforceRateLimit } from '../../http/rate-limits.ts'
import { ById, Email, Name, PageQuery } from '../../http/schemas.ts'
import { plans } from '../../plans.ts'
import { requireOwnOrigin, resetPage, signUpPage } from '../browser.ts'
import { OperatorUserView, toOperatorUserView } from '../users/view.ts'
import type { AdminService } from './service.ts'
import type { IssuedTicket } from './ticket-store.ts'
import type { Figures } from '../../usage/figures.ts'

const StripeId = z.string().min(1).max(255).nullable().optional().openapi({
  description: 'Stored for your billing system; null removes it',
})

const PlanChange = z
  .strictObject({ plan: z.enum(plans), stripeCustomerId: StripeId, stripeSubId: StripeId })
  .openapi({ example: { plan: 'pro' } })

const NewUser = z
  .strictObject({
    email: Email,
    name: Name.optional().openapi({
      description: 'The part of the address before the @ by default',
    }),
    plan: z.enum(plans).optional().openapi({ description: "The server's default by default" }),
  })
  .openapi({ example: { email: 'ada@example.com', name: 'Ada Lovelace' } })

const Recipient = z
  .strictObject({ email: Email })
  .openapi({ example: { email: 'ada@example.com' } })

export const TicketView = z.object({
  ticket: z.string().openapi({ description: 'Not shown again' }),
  url: z.string().openapi({ description: 'The link to give to the user' }),
  expiresAt: z.string(),
})

export function toTicketView(
  { text, ticket }: IssuedTicket,
  url: string,
): z.infer<typeof TicketView> {
  return { ticket: text, url, expiresAt: new Date(ticket.expiresAt * 1000).toISOString() }
}

export function adminRoutes(deps: {
  permit: Permissions
  admin: AdminService
  figures: Pick<Figures, 'user'>
  enforceRateLimit: EnforceRateLimit
  publicUrl: string
  clock: Clock
}): OpenAPIHono<AppEnv> {
  const { permit, admin, figures, enforceRateLimit, publicUrl, clock } = deps
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
      200: jsonResponse(pageOf(OperatorUserView), 'A page of users, in no particular order'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const add = createRoute({
    ...permit.operator.editor,
    method: 'post',
    path: '/v1/users',
    summary: 'Create an account with an API key',
    description:
      'Works regardless of FERRYHOOK_SIGNUP. The key has all permissions and is not shown again. The account has no password until one is set with a password reset link.',
    request: { body: jsonBody(NewUser) },
    responses: {
      201: jsonResponse(
        OperatorUserView.extend({ key: z.string().openapi({ example: 'fh_live_…' }) }),
        'The user and the API key',
      ),
      ...operatorErrors,
      ...errorResponses(ferryhookError, 'email_taken'),
    },
  })
  const remove = createRoute({
    ...permit.operator.admin,
    method: 'delete',
    path: '/v1/users/{id}',
    summary: 'Delete the account of a user',
    description:
      'Permanently deletes the account with its API keys, sources and connections. Events expire as the plan says.',
    request: { params: ById },
    responses: { 204: { description: 'Deleted' }, ...operatorErrors, ...missing },
  })
  const get = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/users/{id}',
    summary: 'Get a user',
    request: { params: ById },
    responses: { 200: jsonResponse(OperatorUserView, 'The user'), ...operatorErrors, ...missing },
  })
  const setPlan = createRoute({
    ...permit.operator.editor,
    method: 'put',
    path: '/v1/users/{id}/plan',
    summary: 'Set the plan of a user',
    request: { params: ById, body: jsonBody(PlanChange) },
    responses: { 200: jsonResponse(OperatorUserView, 'The user'), ...operatorErrors, ...missing },
  })
  const invite = createRoute({
    ...permit.operator.editor,
    method: 'post',
    path: '/v1/invites',
    summary: 'Create an invite link',
    description: 'The link creates one account and is valid for seven days.',
    responses: { 201: jsonResponse(TicketView, 'The invite'), ...operatorErrors },
  })
  const resetSecondFactor = createRoute({
    ...permit.operator.admin,
    method: 'delete',
    path: '/v1/users/{id}/second-factor',
    summary: 'Reset the second factor of a user',
    description:
      'For a user who lost all factors and recovery codes. Deletes all of them and ends all sessions; the user gets a mail, if it is configured.',
    request: { params: ById },
    responses: {
      204: { description: 'Reset' },
      ...operatorErrors,
      ...missing,
      ...errorResponses(secondFactorError, 'not_enrolled'),
    },
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
      const { email } = c.req.valid('json')
      await admin.mailInvite(c.get('actor'), email, (ticket) => signUpPage(publicUrl, ticket))
      c.get('log').info('invite mailed', { operator: c.get('operator') })
      return c.body(null, 204)
    })
    .openapi(forgotPassword, async (c) => {
      await enforceRateLimit('signup', clientNetworks(c))
      admin.mailPasswordReset(c.req.valid('json').email, (ticket) => resetPage(publicUrl, ticket))
      return c.body(null, 202)
    })
    .openapi(list, async (c) => {
      const { items, cursor } = await admin.list(c.req.valid('query'))
      return c.json(
        { items: items.map((user) => toOperatorUserView(user, clock.now())), cursor },
        200,
      )
    })
    .openapi(get, async (c) => {
      const user = await admin.get(c.req.valid('param').id)
      return c.json(toOperatorUserView(await figures.user(user), clock.now()), 200)
    })
    .openapi(add, async (c) => {
      const { user, key } = await admin.add(c.get('actor'), c.req.valid('json'))
      return c.json({ ...toOperatorUserView(user, clock.now()), key }, 201)
    })
    .openapi(remove, async (c) => {
      await admin.remove(c.get('actor'), c.req.valid('param').id)
      return c.body(null, 204)
    })
    .openapi(setPlan, async (c) => {
      const { id } = c.req.valid('param')
      const user = await admin.setPlan(c.get('actor'), id, c.req.valid('json'))
      return c.json(toOperatorUserView(await figures.user(user), clock.now()), 200)
    })
    .openapi(invite, async (c) => {
      const issued = await admin.invite(c.get('actor'))
      // An invite has no user yet, so there is no account with an audit log of its own.
      c.get('log').info('invite created', { operator: c.get('operator') })
      const url = signUpPage(publicUrl, issued.text)
      return c.json(toTicketView(issued, url), 201)
    })
    .openapi(resetSecondFactor, async (c) => {
      await admin.resetSecondFactor(c.get('actor'), c.req.valid('param').id)
      return c.body(null, 204)
    })
    .openapi(offerReset, async (c) => {
      const issued = await admin.offerPasswordReset(c.get('actor'), c.req.valid('param').id)
      const url = resetPage(publicUrl, issued.text)
      return c.json(toTicketView(issued, url), 201)
    })
}

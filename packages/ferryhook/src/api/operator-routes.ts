/** What operators of the server do for the users of Ferryhook. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorError } from '@strongroom/kit/operators'
import { ferryhookError } from '../errors.ts'
import { plans } from '../plans.ts'
import type { ApiDeps } from './deps.ts'
import { baseOf, resetPage, signUpPage } from './pages.ts'
import { ById, Email, PageQuery, UserView, viewUser } from './schemas.ts'

const StripeId = z.string().min(1).max(255).nullable().optional().openapi({
  description: 'Kept for whoever bills; null removes it',
})

const PlanChange = z
  .strictObject({ plan: z.enum(plans), stripeCustomerId: StripeId, stripeSubId: StripeId })
  .openapi({ example: { plan: 'pro' } })

const TicketView = z.object({
  ticket: z.string().openapi({ description: 'Never shown again' }),
  url: z.string().openapi({ description: 'The link to hand over' }),
  expiresAt: z.string(),
})

export function operatorRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, administration, publicUrl, clock } = deps
  const denied = errorResponses(operatorError, 'unauthorized')
  const missing = errorResponses(ferryhookError, 'user_not_found')

  const list = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/users',
    summary: 'List users',
    request: { query: PageQuery.extend({ email: Email.optional() }) },
    responses: {
      200: jsonResponse(pageOf(UserView), 'A page of users, in no particular order'),
      ...denied,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const get = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/users/{id}',
    summary: 'Look at a user',
    request: { params: ById },
    responses: { 200: jsonResponse(UserView, 'The user'), ...denied, ...missing },
  })
  const setPlan = createRoute({
    ...permit.operator,
    method: 'put',
    path: '/v1/users/{id}/plan',
    summary: 'Set the plan of a user',
    request: { params: ById, body: jsonBody(PlanChange) },
    responses: { 200: jsonResponse(UserView, 'The user'), ...denied, ...missing },
  })
  const invite = createRoute({
    ...permit.operator,
    method: 'post',
    path: '/v1/invites',
    summary: 'Invite somebody',
    description: 'Makes a link for one account, good for seven days.',
    responses: { 201: jsonResponse(TicketView, 'The invite'), ...denied },
  })
  const offerReset = createRoute({
    ...permit.operator,
    method: 'post',
    path: '/v1/users/{id}/password-resets',
    summary: 'Let a user set a new password',
    description: 'Makes a link that works once, within a day.',
    request: { params: ById },
    responses: { 201: jsonResponse(TicketView, 'The link'), ...denied, ...missing },
  })

  const until = (seconds: number) => new Date(seconds * 1000).toISOString()

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { items, cursor } = await administration.list(c.req.valid('query'))
      return c.json({ items: items.map((user) => viewUser(user, clock.now())), cursor }, 200)
    })
    .openapi(get, async (c) => {
      const user = await administration.get(c.req.valid('param').id)
      return c.json(viewUser(user, clock.now()), 200)
    })
    .openapi(setPlan, async (c) => {
      const { id } = c.req.valid('param')
      const user = await administration.setPlan(c.get('operator'), id, c.req.valid('json'))
      return c.json(viewUser(user, clock.now()), 200)
    })
    .openapi(invite, async (c) => {
      const operator = c.get('operator')
      const { text, ticket } = await administration.invite(operator)
      // It is of no user yet, so that this is its only trace.
      c.get('log').info('Invite made', { operator })
      const url = signUpPage(baseOf(c, publicUrl), text)
      return c.json({ ticket: text, url, expiresAt: until(ticket.expiresAt) }, 201)
    })
    .openapi(offerReset, async (c) => {
      const { id } = c.req.valid('param')
      const { text, ticket } = await administration.offerPasswordReset(c.get('operator'), id)
      const url = resetPage(baseOf(c, publicUrl), text)
      return c.json({ ticket: text, url, expiresAt: until(ticket.expiresAt) }, 201)
    })
}

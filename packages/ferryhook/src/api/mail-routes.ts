/** What goes by mail: invites, and links for those who forgot their password. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { clientNetwork } from '@strongroom/kit/http/client'
import { and } from '@strongroom/kit/http/declared-permission'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody } from '@strongroom/kit/http/openapi'
import { operatorError } from '@strongroom/kit/operators'
import { ferryhookError } from '../errors.ts'
import { ownOrigin } from './cookies.ts'
import type { ApiDeps } from './deps.ts'
import { baseOf, resetPage, signUpPage } from './pages.ts'
import { Email } from './schemas.ts'

const Addressee = z
  .strictObject({ email: Email })
  .openapi({ example: { email: 'ada@example.com' } })

export function mailRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, letters, rateGuard, publicUrl } = deps
  const body = jsonBody(Addressee)
  const noMail = errorResponses(ferryhookError, 'mail_not_configured')

  const invite = createRoute({
    ...permit.operator,
    method: 'post',
    path: '/v1/invites/mail',
    summary: 'Invite somebody by mail',
    description: 'Answers when the mail server has taken it.',
    request: { body },
    responses: {
      204: { description: 'Sent' },
      ...errorResponses(operatorError, 'unauthorized'),
      ...noMail,
      ...errorResponses(ferryhookError, 'mail_failed'),
    },
  })
  const forgotten = createRoute({
    ...and(permit.public, ownOrigin(publicUrl)),
    method: 'post',
    path: '/v1/auth/password-forgotten',
    summary: 'Ask for a link to set a new password',
    description: 'The answer is the same whether or not there is such an account.',
    request: { body },
    responses: {
      202: { description: 'If there is such an account, a mail is on its way' },
      ...errorResponses(ferryhookError, 'foreign_origin'),
      ...noMail,
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(invite, async (c) => {
      const operator = c.get('operator')
      const base = baseOf(c, publicUrl)
      const { email } = c.req.valid('json')
      await letters.invite(operator, email, (ticket) => signUpPage(base, ticket))
      c.get('log').info('Invite mailed', { operator })
      return c.body(null, 204)
    })
    .openapi(forgotten, async (c) => {
      const base = baseOf(c, publicUrl)
      await rateGuard('signup', clientNetwork(c))
      letters.forgotten(c.req.valid('json').email, (ticket) => resetPage(base, ticket))
      return c.body(null, 202)
    })
}

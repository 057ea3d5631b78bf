/** Signing up, in, and out with a password; keeping a browser signed in. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { clientNetwork } from '@strongroom/kit/http/client'
import { and } from '@strongroom/kit/http/declared-permission'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import type { Context } from 'hono'
import type { Session } from '../auth/sessions.ts'
import { ferryhookError } from '../errors.ts'
import { ownOrigin, refreshCookie } from './cookies.ts'
import type { ApiDeps } from './deps.ts'
import { Email, GivenPassword, Name, NewPassword, UserView, viewUser } from './schemas.ts'

const SessionView = z
  .object({
    accessToken: z.string(),
    tokenType: z.literal('Bearer'),
    expiresIn: z.int().openapi({ description: 'Seconds' }),
    user: UserView,
  })
  .openapi('FerryhookSession')

const SignUp = z
  .strictObject({
    email: Email,
    name: Name,
    password: NewPassword,
    invite: z.string().max(200).optional(),
  })
  .openapi({
    example: { email: 'ada@example.com', name: 'Ada Lovelace', password: 'correct horse battery' },
  })

const SignIn = z
  .strictObject({ email: Email, password: GivenPassword })
  .openapi({ example: { email: 'ada@example.com', password: 'correct horse battery' } })

const PasswordReset = z
  .strictObject({ ticket: z.string().max(200), password: NewPassword })
  .openapi({ example: { ticket: 'from the link', password: 'correct horse battery' } })

export function sessionRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, credentials, sessions, signUp, rateGuard, publicUrl, clock } = deps
  const fromHere = and(permit.public, ownOrigin(publicUrl))

  const signup = createRoute({
    ...fromHere,
    method: 'post',
    path: '/v1/auth/signup',
    summary: 'Sign up',
    request: { body: jsonBody(SignUp) },
    responses: {
      201: jsonResponse(SessionView, 'The account was made, and its user is signed in'),
      ...errorResponses(
        ferryhookError,
        'foreign_origin',
        'signup_closed',
        'invite_required',
        'invalid_invite',
        'email_taken',
      ),
    },
  })

  const login = createRoute({
    ...fromHere,
    method: 'post',
    path: '/v1/auth/login',
    summary: 'Sign in',
    description: 'The refresh token comes as a cookie that scripts cannot read.',
    request: { body: jsonBody(SignIn) },
    responses: {
      200: jsonResponse(SessionView, 'Signed in'),
      ...errorResponses(ferryhookError, 'wrong_credentials', 'session_ended', 'foreign_origin'),
    },
  })

  const refresh = createRoute({
    ...fromHere,
    method: 'post',
    path: '/v1/auth/refresh',
    summary: 'Get a new access token',
    description: 'Replaces the refresh token too. One that is used a second time ends the session.',
    responses: {
      200: jsonResponse(SessionView, 'Still signed in'),
      ...errorResponses(ferryhookError, 'session_ended', 'foreign_origin'),
    },
  })

  const logout = createRoute({
    ...fromHere,
    method: 'post',
    path: '/v1/auth/logout',
    summary: 'Sign out',
    description: 'Ends the session and the access tokens that it gave.',
    responses: {
      204: { description: 'Signed out' },
      ...errorResponses(ferryhookError, 'foreign_origin'),
    },
  })

  const reset = createRoute({
    ...fromHere,
    method: 'post',
    path: '/v1/auth/password-reset',
    summary: 'Set a new password with a link of an operator',
    request: { body: jsonBody(PasswordReset) },
    responses: {
      204: { description: 'The password is set, and all sessions have ended' },
      ...errorResponses(ferryhookError, 'invalid_reset', 'foreign_origin'),
    },
  })

  function answer(c: Context<AppEnv>, session: Session): z.infer<typeof SessionView> {
    const { accessToken, expiresIn, refreshToken, user } = session
    if (refreshToken !== undefined) refreshCookie.set(c, refreshToken)
    return { accessToken, tokenType: 'Bearer', expiresIn, user: viewUser(user, clock.now()) }
  }

  return new OpenAPIHono<AppEnv>()
    .openapi(signup, async (c) => {
      const { invite, password, ...given } = c.req.valid('json')
      await rateGuard('signup', clientNetwork(c))
      const newUser = async () => ({
        ...given,
        passwordHash: await credentials.hash(password, 'body.password'),
      })
      const user = await signUp(newUser, invite)
      return c.json(answer(c, await sessions.begin(user)), 201)
    })
    .openapi(login, async (c) => {
      const network = clientNetwork(c)
      const user = await credentials.check({ ...c.req.valid('json'), network })
      const session = await sessions.begin(user, { by: { action: 'account.signed_in' } })
      return c.json(answer(c, session), 200)
    })
    .openapi(refresh, async (c) => {
      const refreshed = await sessions.refresh(refreshCookie.get(c) ?? '')
      if (refreshed !== 'ended') return c.json(answer(c, refreshed), 200)
      refreshCookie.clear(c)
      throw ferryhookError('session_ended')
    })
    .openapi(logout, async (c) => {
      await sessions.end(refreshCookie.get(c) ?? '')
      refreshCookie.clear(c)
      return c.body(null, 204)
    })
    .openapi(reset, async (c) => {
      await credentials.reset({ ...c.req.valid('json'), network: clientNetwork(c) })
      return c.body(null, 204)
    })
}

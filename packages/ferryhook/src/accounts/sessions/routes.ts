/** Sign-up, sign-in and sign-out with a password; refreshing the session of a browser. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { clientNetworks } from '@strongroom/kit/http/client-address'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { withMiddleware } from '@strongroom/kit/http/permissions'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import type { EnforceRateLimit } from '../../http/rate-limits.ts'
import { Email, CurrentPassword, Name, NewPassword } from '../../http/schemas.ts'
import { ApiKeyView, toApiKeyView } from '../api-keys/routes.ts'
import { clientOf, refreshCookie, requireOwnOrigin, verifyPage } from '../browser.ts'
import type { EmailVerification } from '../users/email-verification.ts'
import { secondFactorRequired } from '../second-factor/sign-in-routes.ts'
import type { SecondFactorService } from '../second-factor/service.ts'
import { oauthProviders } from '../users/item.ts'
import type { SignUp } from '../users/signup.ts'
import type { PasswordService, ResetCredentials } from './passwords.ts'
import type { SessionService } from './service.ts'
import { type SessionResponse, SessionView } from './view.ts'

const SignUpInput = z
  .strictObject({
    email: Email,
    name: Name,
    password: NewPassword,
    invite: z.string().max(200).optional(),
  })
  .openapi({
    example: { email: 'ada@example.com', name: 'Ada Lovelace', password: 'correct horse battery' },
  })

const SignInInput = z
  .strictObject({ email: Email, password: CurrentPassword })
  .openapi({ example: { email: 'ada@example.com', password: 'correct horse battery' } })

const PasswordReset = z
  .strictObject({ ticket: z.string().max(200), password: NewPassword })
  .openapi({ example: { ticket: 'from the link', password: 'correct horse battery' } })

const Credentials = z.object({
  apiKeys: z.array(ApiKeyView),
  identities: z.array(z.enum(oauthProviders)),
})

const ResetView = z
  .object({ revoked: Credentials, remaining: Credentials })
  .openapi('FerryhookPasswordReset')

function toCredentialsView({
  apiKeys,
  identities,
}: ResetCredentials['revoked']): z.infer<typeof Credentials> {
  return { apiKeys: apiKeys.map(toApiKeyView), identities }
}

export function sessionRoutes(deps: {
  permit: Permissions
  passwords: PasswordService
  sessions: SessionService
  signUp: SignUp
  respond: SessionResponse
  secondFactors: Pick<SecondFactorService, 'require'>
  emailVerification: Pick<EmailVerification, 'start'>
  enforceRateLimit: EnforceRateLimit
  publicUrl: string
}): OpenAPIHono<AppEnv> {
  const { permit, passwords, sessions, signUp, emailVerification } = deps
  const { respond, secondFactors, enforceRateLimit, publicUrl } = deps

  const sameOrigin = withMiddleware(permit.public, requireOwnOrigin(publicUrl))

  const signup = createRoute({
    ...sameOrigin,
    method: 'post',
    path: '/v1/auth/signup',
    summary: 'Sign up',
    request: { body: jsonBody(SignUpInput) },
    responses: {
      201: jsonResponse(SessionView, 'The account was created, and its user is signed in'),
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
    ...sameOrigin,
    method: 'post',
    path: '/v1/auth/login',
    summary: 'Sign in',
    description:
      'Sets the refresh token as a cookie that scripts cannot read. A user who has a second factor gets `second_factor_required` with the possible `methods` in data, and a cookie for the second step.',
    request: { body: jsonBody(SignInInput) },
    responses: {
      200: jsonResponse(SessionView, 'Signed in'),
      ...errorResponses(
        ferryhookError,
        'wrong_credentials',
        'second_factor_required',
        'session_ended',
        'foreign_origin',
      ),
    },
  })

  const refresh = createRoute({
    ...sameOrigin,
    method: 'post',
    path: '/v1/auth/refresh',
    summary: 'Get a new access token',
    description: 'Also replaces the refresh token. Using a refresh token twice ends the session.',
    responses: {
      200: jsonResponse(SessionView, 'A new access token'),
      ...errorResponses(ferryhookError, 'session_ended', 'foreign_origin'),
    },
  })

  const logout = createRoute({
    ...sameOrigin,
    method: 'post',
    path: '/v1/auth/logout',
    summary: 'Sign out',
    description: 'Ends the session and invalidates its access tokens.',
    responses: {
      204: { description: 'Signed out' },
      ...errorResponses(ferryhookError, 'foreign_origin'),
    },
  })

  const reset = createRoute({
    ...sameOrigin,
    method: 'post',
    path: '/v1/auth/password-reset',
    summary: 'Set a new password with a reset link',
    description:
      'Also verifies the address. API keys and identities that were created before the address was verified are revoked. The remaining ones work on: confirm or revoke them with `/v1/account/unconfirmed-credentials/confirm`. Until then, each sign-in has a notice.',
    request: { body: jsonBody(PasswordReset) },
    responses: {
      200: jsonResponse(
        ResetView,
        'The password was set, all sessions were ended, and credentials from before the address was verified were revoked',
      ),
      ...errorResponses(ferryhookError, 'invalid_reset', 'foreign_origin'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(signup, async (c) => {
      const { invite, password, ...profile } = c.req.valid('json')
      const networks = clientNetworks(c)
      await enforceRateLimit('signup', networks)
      const newUser = async () => ({
        ...profile,
        passwordHash: await passwords.hash(password, 'body.password', { networks }),
      })
      const user = await signUp(newUser, invite)
      emailVerification.start(user, (ticket) => verifyPage(publicUrl, ticket))
      return c.json(await respond(c, await sessions.begin(user, { client: clientOf(c) })), 201)
    })
    .openapi(login, async (c) => {
      const user = await passwords.check({ ...c.req.valid('json'), networks: clientNetworks(c) })
      const pending = await secondFactors.require(user)
      if (pending) throw secondFactorRequired(c, pending)
      const session = await sessions.begin(user, {
        by: { action: 'account.signed_in' },
        client: clientOf(c),
      })
      return c.json(await respond(c, session), 200)
    })
    .openapi(refresh, async (c) => {
      const refreshed = await sessions.refresh(refreshCookie.get(c) ?? '', clientOf(c))
      if (refreshed !== 'ended') return c.json(await respond(c, refreshed), 200)
      refreshCookie.clear(c)
      throw ferryhookError('session_ended')
    })
    .openapi(logout, async (c) => {
      await sessions.end(refreshCookie.get(c) ?? '')
      refreshCookie.clear(c)
      return c.body(null, 204)
    })
    .openapi(reset, async (c) => {
      const input = { ...c.req.valid('json'), networks: clientNetworks(c) }
      const { revoked, remaining } = await passwords.reset(input)
      return c.json(
        { revoked: toCredentialsView(revoked), remaining: toCredentialsView(remaining) },
        200,
      )
    })
}

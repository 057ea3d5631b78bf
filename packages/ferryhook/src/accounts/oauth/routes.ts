/** Sign-in through GitHub and Google, and the identities of an account. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { ApiError } from '@strongroom/kit/errors'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { withMiddleware } from '@strongroom/kit/http/permissions'
import type { Clock } from '@strongroom/platform/clock'
import type { Context } from 'hono'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import {
  baseUrlOf,
  clientOf,
  parseNext,
  pendingCookie,
  requireOwnOrigin,
  refreshCookie,
  secondFactorPage,
  signedInPage,
  signInCookie,
  signInFailedPage,
} from '../browser.ts'
import type { FerryhookSettings } from '../../settings.ts'
import { linkedIdentities } from '../users/identity.ts'
import { type OAuthProvider, oauthProviders } from '../users/item.ts'
import type { SecondFactorService } from '../second-factor/service.ts'
import type { SessionService } from '../sessions/service.ts'
import { toUserView, UserView } from '../users/view.ts'
import type { SignInService } from './service.ts'
import type { Figures } from '../../usage/figures.ts'

const StartQuery = z.object({
  invite: z.string().max(200).optional(),
  next: z
    .string()
    .max(2_000)
    .optional()
    .openapi({ description: 'The page of the console to open afterwards; others are ignored' }),
})

const StartInput = StartQuery.strict().openapi({ example: { next: '/console/events' } })

const SignInOptionsView = z
  .object({
    signup: z.enum(['open', 'invite', 'closed']).openapi({ description: 'Who can sign up' }),
    providers: z.array(z.enum(oauthProviders)),
    mail: z.boolean().openapi({ description: 'Whether a forgotten password is reset by mail' }),
  })
  .openapi('FerryhookSignInOptions')

const IdentityView = z
  .object({
    provider: z.enum(oauthProviders),
    configured: z.boolean().openapi({ description: 'Whether this server offers the provider' }),
    linkedAt: z.string().nullable().openapi({ description: 'Null if it is not linked' }),
  })
  .openapi('FerryhookIdentity')

export function signInRoutes(deps: {
  permit: Permissions
  signIn: SignInService
  figures: Pick<Figures, 'user'>
  sessions: Pick<SessionService, 'begin'>
  secondFactors: Pick<SecondFactorService, 'require'>
  sendsMail: boolean
  config: Pick<FerryhookSettings, 'FERRYHOOK_SIGNUP'>
  publicUrl: string
  clock: Clock
}): OpenAPIHono<AppEnv> {
  const { permit, signIn, sessions, secondFactors, figures, publicUrl, clock } = deps
  const ofProvider = z.object({ provider: z.enum(oauthProviders) })
  const redirectUri = (base: string, provider: OAuthProvider) =>
    `${base}/v1/auth/${provider}/callback`

  const options = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/auth/options',
    summary: 'Get the ways to sign in and sign up',
    responses: { 200: jsonResponse(SignInOptionsView, 'What this server offers') },
  })

  const listIdentities = createRoute({
    ...permit.session,
    method: 'get',
    path: '/v1/auth/identities',
    summary: 'List the identities of the account',
    responses: {
      200: jsonResponse(
        z.object({ items: z.array(IdentityView) }),
        'Each provider that is configured or linked',
      ),
      ...errorResponses(ferryhookError, 'unauthorized', 'session_required'),
    },
  })

  const start = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/auth/{provider}',
    summary: 'Sign in through GitHub or Google',
    description: 'For browsers. Redirects to the provider, which redirects to the callback.',
    request: { params: ofProvider, query: StartQuery },
    responses: {
      303: { description: 'Redirect to the provider' },
      ...errorResponses(ferryhookError, 'provider_not_configured', 'provider_unavailable'),
    },
  })

  const startInBrowser = createRoute({
    ...withMiddleware(permit.public, requireOwnOrigin(publicUrl)),
    method: 'post',
    path: '/v1/auth/{provider}',
    summary: 'Start a sign-in through GitHub or Google',
    description:
      'For pages of this server: the invite is not in an address. Open the URL in the response in the browser.',
    request: { params: ofProvider, body: jsonBody(StartInput) },
    responses: {
      200: jsonResponse(z.object({ url: z.string() }), 'The URL to open'),
      ...errorResponses(
        ferryhookError,
        'foreign_origin',
        'provider_not_configured',
        'provider_unavailable',
      ),
    },
  })

  const callback = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/auth/{provider}/callback',
    summary: 'OAuth callback',
    description:
      'For browsers. Redirects to the page of the service; after a failure to its sign-in page, with the error code.',
    request: { params: ofProvider },
    responses: { 303: { description: 'Redirect to a page of the service' } },
  })

  const link = createRoute({
    ...withMiddleware(permit.session, requireOwnOrigin(publicUrl)),
    method: 'post',
    path: '/v1/auth/identities/{provider}',
    summary: 'Link an identity to the account',
    description:
      'Open the URL in the response in the browser. When it returns, the identity is linked.',
    request: { params: ofProvider },
    responses: {
      200: jsonResponse(z.object({ url: z.string() }), 'The URL to open'),
      ...errorResponses(
        ferryhookError,
        'unauthorized',
        'session_required',
        'foreign_origin',
        'provider_not_configured',
        'provider_unavailable',
      ),
    },
  })

  const unlink = createRoute({
    ...permit.session,
    method: 'delete',
    path: '/v1/auth/identities/{provider}',
    summary: 'Unlink an identity from the account',
    request: { params: ofProvider },
    responses: {
      200: jsonResponse(UserView, 'The account without the identity'),
      ...errorResponses(ferryhookError, 'unauthorized', 'session_required', 'only_sign_in'),
    },
  })

  async function redirectTo(
    c: Context<AppEnv>,
    provider: OAuthProvider,
    { invite, next }: z.infer<typeof StartInput>,
  ): Promise<string> {
    const uri = redirectUri(baseUrlOf(c, publicUrl), provider)
    const { url, state } = await signIn.start(provider, uri, { invite, next: parseNext(next) })
    signInCookie.set(c, state)
    return url
  }

  // The first two are before the route of a provider, whose name would match them.
  return new OpenAPIHono<AppEnv>()
    .openapi(options, (c) =>
      c.json(
        {
          signup: deps.config.FERRYHOOK_SIGNUP,
          providers: signIn.configured,
          mail: deps.sendsMail,
        },
        200,
      ),
    )
    .openapi(listIdentities, (c) => {
      const { user } = c.get('principal')
      const linked = linkedIdentities(user)
      const items = oauthProviders
        .map((provider) => ({
          provider,
          configured: signIn.configured.includes(provider),
          linkedAt: linked.includes(provider)
            ? (user[`${provider}LinkedAt`] ?? user.createdAt)
            : null,
        }))
        .filter(({ configured, linkedAt }) => configured || linkedAt !== null)
      return c.json({ items }, 200)
    })
    .openapi(start, async (c) => {
      const { provider } = c.req.valid('param')
      return c.redirect(await redirectTo(c, provider, c.req.valid('query')), 303)
    })
    .openapi(startInBrowser, async (c) => {
      const { provider } = c.req.valid('param')
      return c.json({ url: await redirectTo(c, provider, c.req.valid('json')) }, 200)
    })
    .openapi(callback, async (c) => {
      const { provider } = c.req.valid('param')
      const state = signInCookie.get(c)
      signInCookie.clear(c)
      try {
        const response = new URL(c.req.url).searchParams
        const { user, isLinked, next } = await signIn.finish(provider, response, state)
        if (!isLinked) {
          const pending = await secondFactors.require(user, { provider })
          if (pending) {
            pendingCookie.set(c, pending.token)
            return c.redirect(secondFactorPage(publicUrl, next), 303)
          }
          const by = { action: 'account.signed_in', target: provider } as const
          const { refreshToken } = await sessions.begin(user, { by, client: clientOf(c) })
          if (refreshToken !== undefined) refreshCookie.set(c, refreshToken)
        }
        return c.redirect(signedInPage(publicUrl, next), 303)
      } catch (error) {
        // A person sees this, so a page explains the error.
        if (!(error instanceof ApiError) || error.status === 500) throw error
        if (error.cause) c.get('log').warn('sign-in failed', { error: error.cause })
        return c.redirect(signInFailedPage(publicUrl, error.code), 303)
      }
    })
    .openapi(link, async (c) => {
      const { provider } = c.req.valid('param')
      const uri = redirectUri(baseUrlOf(c, publicUrl), provider)
      const { url, state } = await signIn.start(provider, uri, {
        linkTo: c.get('principal'),
        next: '/console/account/identities',
      })
      signInCookie.set(c, state)
      return c.json({ url }, 200)
    })
    .openapi(unlink, async (c) => {
      const user = await signIn.unlink(c.req.valid('param').provider, c.get('principal'))
      return c.json(toUserView(await figures.user(user), clock.now()), 200)
    })
}

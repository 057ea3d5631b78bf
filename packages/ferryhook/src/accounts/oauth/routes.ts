/** Sign-in through GitHub and Google, and the identities of an account. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { ApiError } from '@strongroom/kit/errors'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { withMiddleware } from '@strongroom/kit/http/permissions'
import type { Clock } from '@strongroom/platform/clock'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import {
  baseUrlOf,
  requireOwnOrigin,
  refreshCookie,
  signedInPage,
  signInCookie,
  signInFailedPage,
} from '../browser.ts'
import { type OAuthProvider, oauthProviders } from '../users/item.ts'
import type { SessionService } from '../sessions/service.ts'
import { toUserView, UserView } from '../users/view.ts'
import type { SignInService } from './service.ts'

export function signInRoutes(deps: {
  permit: Permissions
  signIn: SignInService
  sessions: Pick<SessionService, 'begin'>
  publicUrl: string
  clock: Clock
}): OpenAPIHono<AppEnv> {
  const { permit, signIn, sessions, publicUrl, clock } = deps
  const ofProvider = z.object({ provider: z.enum(oauthProviders) })
  const redirectUri = (base: string, provider: OAuthProvider) =>
    `${base}/v1/auth/${provider}/callback`

  const start = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/auth/{provider}',
    summary: 'Sign in through GitHub or Google',
    description: 'For browsers. Redirects to the provider, which redirects to the callback.',
    request: { params: ofProvider, query: z.object({ invite: z.string().max(200).optional() }) },
    responses: {
      303: { description: 'Redirect to the provider' },
      ...errorResponses(ferryhookError, 'provider_not_configured', 'provider_unavailable'),
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

  return new OpenAPIHono<AppEnv>()
    .openapi(start, async (c) => {
      const { provider } = c.req.valid('param')
      const { invite } = c.req.valid('query')
      const uri = redirectUri(baseUrlOf(c, publicUrl), provider)
      const { url, state } = await signIn.start(provider, uri, { invite })
      signInCookie.set(c, state)
      return c.redirect(url, 303)
    })
    .openapi(callback, async (c) => {
      const { provider } = c.req.valid('param')
      const base = baseUrlOf(c, publicUrl)
      const state = signInCookie.get(c)
      signInCookie.clear(c)
      try {
        const response = new URL(c.req.url).searchParams
        const { user, isLinked } = await signIn.finish(provider, response, state)
        if (!isLinked) {
          const by = { action: 'account.signed_in', target: provider } as const
          const { refreshToken } = await sessions.begin(user, { by })
          if (refreshToken !== undefined) refreshCookie.set(c, refreshToken)
        }
        return c.redirect(signedInPage(base), 303)
      } catch (error) {
        // A person sees this, so a page explains the error.
        if (!(error instanceof ApiError) || error.status === 500) throw error
        if (error.cause) c.get('log').warn('sign-in failed', { error: error.cause })
        return c.redirect(signInFailedPage(base, error.code), 303)
      }
    })
    .openapi(link, async (c) => {
      const { provider } = c.req.valid('param')
      const uri = redirectUri(baseUrlOf(c, publicUrl), provider)
      const { url, state } = await signIn.start(provider, uri, { linkTo: c.get('principal') })
      signInCookie.set(c, state)
      return c.json({ url }, 200)
    })
    .openapi(unlink, async (c) => {
      const user = await signIn.unlink(c.req.valid('param').provider, c.get('principal'))
      return c.json(toUserView(user, clock.now()), 200)
    })
}

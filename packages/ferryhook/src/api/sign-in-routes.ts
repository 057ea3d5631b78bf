/** Sign-in through GitHub and Google: the way there, the way back, and identities of an account. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { ApiError } from '@strongroom/kit/errors'
import { and } from '@strongroom/kit/http/declared-permission'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import { type OAuthProvider, oauthProviders } from '../items/user.ts'
import { ownOrigin, refreshCookie, signInCookie } from './cookies.ts'
import type { ApiDeps } from './deps.ts'
import { baseOf, signedInPage, signInFailedPage } from './pages.ts'
import { UserView, viewUser } from './schemas.ts'

export function signInRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, signIn, sessions, publicUrl, clock } = deps
  const ofProvider = z.object({ provider: z.enum(oauthProviders) })
  const redirectUri = (base: string, provider: OAuthProvider) =>
    `${base}/v1/auth/${provider}/callback`

  const start = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/auth/{provider}',
    summary: 'Sign in through GitHub or Google',
    description: 'For browsers: leads to the provider, and back to the callback.',
    request: { params: ofProvider, query: z.object({ invite: z.string().max(200).optional() }) },
    responses: {
      303: { description: 'To the provider' },
      ...errorResponses(ferryhookError, 'provider_not_configured', 'provider_unavailable'),
    },
  })

  const callback = createRoute({
    ...permit.public,
    method: 'get',
    path: '/v1/auth/{provider}/callback',
    summary: 'Come back from a provider',
    description:
      'For browsers. Leads to the page of the service; after a failure to its sign-in page, with the code of the error.',
    request: { params: ofProvider },
    responses: { 303: { description: 'To a page of the service' } },
  })

  const link = createRoute({
    ...and(permit.session, ownOrigin(publicUrl)),
    method: 'post',
    path: '/v1/auth/identities/{provider}',
    summary: 'Add an identity to the account',
    description: 'The browser has to go to the address in the answer; it comes back linked.',
    request: { params: ofProvider },
    responses: {
      200: jsonResponse(z.object({ url: z.string() }), 'Where to go'),
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
    summary: 'Remove an identity from the account',
    request: { params: ofProvider },
    responses: {
      200: jsonResponse(UserView, 'The account without it'),
      ...errorResponses(ferryhookError, 'unauthorized', 'session_required', 'only_sign_in'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(start, async (c) => {
      const { provider } = c.req.valid('param')
      const { invite } = c.req.valid('query')
      const uri = redirectUri(baseOf(c, publicUrl), provider)
      const { url, state } = await signIn.start(provider, uri, { invite })
      signInCookie.set(c, state)
      return c.redirect(url, 303)
    })
    .openapi(callback, async (c) => {
      const { provider } = c.req.valid('param')
      const base = baseOf(c, publicUrl)
      const state = signInCookie.get(c)
      signInCookie.clear(c)
      try {
        const answer = new URL(c.req.url).searchParams
        const { user, isLinked } = await signIn.finish(provider, answer, state)
        if (!isLinked) {
          const by = { action: 'account.signed_in', target: provider } as const
          const { refreshToken } = await sessions.begin(user, { by })
          if (refreshToken !== undefined) refreshCookie.set(c, refreshToken)
        }
        return c.redirect(signedInPage(base), 303)
      } catch (error) {
        // A person looks at this: a page can say what happened, and what to do.
        if (!(error instanceof ApiError) || error.status === 500) throw error
        if (error.cause) c.get('log').warn('Sign-in failed', { error: error.cause })
        return c.redirect(signInFailedPage(base, error.code), 303)
      }
    })
    .openapi(link, async (c) => {
      const { provider } = c.req.valid('param')
      const uri = redirectUri(baseOf(c, publicUrl), provider)
      const { url, state } = await signIn.start(provider, uri, { linkTo: c.get('principal') })
      signInCookie.set(c, state)
      return c.json({ url }, 200)
    })
    .openapi(unlink, async (c) => {
      const user = await signIn.unlink(c.req.valid('param').provider, c.get('principal'))
      return c.json(viewUser(user, clock.now()), 200)
    })
}

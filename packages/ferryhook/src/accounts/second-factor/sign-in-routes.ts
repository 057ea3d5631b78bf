/** The second step of a sign-in, after a password or a provider. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { ApiError } from '@strongroom/kit/errors'
import { clientNetworks } from '@strongroom/kit/http/client-address'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { withMiddleware } from '@strongroom/kit/http/permissions'
import { secondFactorError } from '@strongroom/kit/second-factor/errors'
import type { Context } from 'hono'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import type { EnforceRateLimit } from '../../http/rate-limits.ts'
import { clientOf, pendingCookie, requireOwnOrigin } from '../browser.ts'
import { type SessionResponse, SessionView } from '../sessions/view.ts'
import type { PendingSignIn, SecondFactorService } from './service.ts'
import { methods, PasskeyOptions, Proof, proofErrors, toPasskeyOptions } from './view.ts'

const PendingView = z
  .object({ methods: z.array(z.enum(methods)), expiresAt: z.string() })
  .openapi('FerryhookPendingSignIn')

/** The response to the first step of a user who has a second factor. */
export function secondFactorRequired(
  c: Context<AppEnv>,
  { token, methods: possible }: PendingSignIn,
): ApiError {
  pendingCookie.set(c, token)
  return ferryhookError('second_factor_required', { data: { methods: possible } })
}

export function secondFactorSignInRoutes(deps: {
  permit: Permissions
  secondFactors: Pick<SecondFactorService, 'pending' | 'startPasskeySignIn' | 'finish'>
  respond: SessionResponse
  enforceRateLimit: EnforceRateLimit
  publicUrl: string
}): OpenAPIHono<AppEnv> {
  const { permit, secondFactors, respond, enforceRateLimit } = deps
  const sameOrigin = withMiddleware(permit.public, requireOwnOrigin(deps.publicUrl))
  const expired = errorResponses(ferryhookError, 'sign_in_expired', 'foreign_origin')

  const get = createRoute({
    ...sameOrigin,
    method: 'get',
    path: '/v1/auth/second-factor',
    summary: 'Get the second step of a sign-in',
    description: 'For a browser whose first step succeeded, also through a provider.',
    responses: { 200: jsonResponse(PendingView, 'What the second step accepts'), ...expired },
  })

  const startPasskey = createRoute({
    ...sameOrigin,
    method: 'post',
    path: '/v1/auth/second-factor/passkey',
    summary: 'Start a sign-in with a passkey',
    responses: {
      200: jsonResponse(PasskeyOptions, 'The options for `navigator.credentials.get`'),
      ...expired,
      ...errorResponses(secondFactorError, 'passkeys_unavailable'),
    },
  })

  const finish = createRoute({
    ...sameOrigin,
    method: 'post',
    path: '/v1/auth/second-factor',
    summary: 'Finish a sign-in with a second factor',
    description: 'Of one sign-in, five attempts are accepted, within ten minutes.',
    request: { body: jsonBody(Proof) },
    responses: {
      200: jsonResponse(SessionView, 'Signed in'),
      ...expired,
      ...proofErrors,
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, async (c) => {
      const { methods: possible, expiresAt } = await secondFactors.pending(tokenOf(c))
      return c.json({ methods: possible, expiresAt: new Date(expiresAt * 1000).toISOString() }, 200)
    })
    .openapi(startPasskey, async (c) => {
      await enforceRateLimit('login_network', clientNetworks(c))
      const options = await secondFactors.startPasskeySignIn(tokenOf(c))
      if (!options) throw secondFactorError('passkeys_unavailable')
      return c.json(toPasskeyOptions(options), 200)
    })
    .openapi(finish, async (c) => {
      await enforceRateLimit('login_network', clientNetworks(c))
      const session = await secondFactors.finish(tokenOf(c), c.req.valid('json'), clientOf(c))
      pendingCookie.clear(c)
      return c.json(await respond(c, session), 200)
    })
}

function tokenOf(c: Context): string {
  return pendingCookie.get(c) ?? ''
}

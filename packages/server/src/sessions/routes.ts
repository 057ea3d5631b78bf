/** `/server/v1/session` and `/server/v1/sessions`: signing in to the console, and sessions. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { clientNetworks } from '@strongroom/kit/http/client-address'
import type { ClientLimit } from '@strongroom/kit/http/client-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import { ApiError } from '@strongroom/kit/errors'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { requireOwnOrigin, sessionCookie } from '@strongroom/kit/http/operator-authentication'
import {
  declarePermissions,
  operatorErrors,
  type OwnPermissions,
  type SelfEnv,
} from '@strongroom/kit/http/permissions'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { Operator } from '@strongroom/kit/operator-item'
import type { OperatorSession, SessionClient } from '@strongroom/kit/operator-sessions'
import { operatorError, type Operators, requireOperatorRole } from '@strongroom/kit/operators'
import { secondFactorError } from '@strongroom/kit/second-factor/errors'
import { secondFactorRoutes } from '@strongroom/kit/second-factor/routes'
import { PasskeyOptionsView, SecondFactorProofBody } from '@strongroom/kit/second-factor/view'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { SessionAdmin } from './admin.ts'
import type { OperatorFactors } from './second-factors.ts'
import type { SessionService } from './service.ts'
import { SIGN_IN_SECONDS } from './sign-ins.ts'
import { toSessionView } from './session-view.ts'
import { SelfView, SessionView, SignInView, toSelfView } from './view.ts'

const cookie = {
  path: '/',
  secure: true,
  httpOnly: true,
  prefix: 'host',
  sameSite: 'Strict',
} as const

/** Identifies a browser between the two steps of a sign-in. */
const signInCookie = {
  get: (c: Context): string => getCookie(c, 'strongroom-sign-in', 'host') ?? '',
  set: (c: Context, value: string) =>
    setCookie(c, 'strongroom-sign-in', value, { ...cookie, maxAge: SIGN_IN_SECONDS }),
  clear(c: Context) {
    deleteCookie(c, 'strongroom-sign-in', cookie)
  },
}

const Token = z.string().max(200).openapi({ example: 'sro_ada.…' })
const proofErrors = errorResponses(
  secondFactorError,
  'wrong_code',
  'locked',
  'passkey_rejected',
  'challenge_expired',
)

export function sessionRoutes(deps: {
  permit: OwnPermissions
  operators: Operators
  sessions: SessionService
  admin: SessionAdmin
  factors: OperatorFactors
  /** Of failures from one network. */
  limit: ClientLimit
  publicUrl: string
}): OpenAPIHono<AppEnv> {
  const { permit, operators, sessions, admin, factors, limit, publicUrl } = deps
  const publicPermit = declarePermissions('Server').public
  const foreign = errorResponses(operatorError, 'foreign_origin')

  const signIn = createRoute({
    ...publicPermit,
    method: 'post',
    path: '/server/v1/session',
    summary: 'Sign in to the console with an operator token',
    description:
      'Sets a cookie that is valid for 12 hours, or asks for a second factor. Browsers accept the cookie on https and on localhost only.',
    request: { body: jsonBody(z.strictObject({ token: Token })) },
    responses: {
      200: jsonResponse(SignInView, 'Signed in, or a second factor is required'),
      ...errorResponses(operatorError, 'invalid_token'),
      ...foreign,
    },
  })
  const complete = createRoute({
    ...publicPermit,
    method: 'post',
    path: '/server/v1/session/sign-in',
    summary: 'Complete a sign-in with a second factor',
    description: 'Within five minutes and five attempts after the token was accepted.',
    request: { body: jsonBody(SecondFactorProofBody) },
    responses: {
      200: jsonResponse(SelfView, 'Signed in'),
      ...errorResponses(operatorError, 'sign_in_expired'),
      ...proofErrors,
      403: {
        ...errorResponses(operatorError, 'foreign_origin')[403],
        description: 'The proof was rejected, or the request comes from a page of another origin',
      },
    },
  })
  const signInOptions = createRoute({
    ...publicPermit,
    method: 'post',
    path: '/server/v1/session/sign-in/passkey-options',
    summary: 'Get the options to sign in with a passkey',
    responses: {
      200: jsonResponse(PasskeyOptionsView, 'For `navigator.credentials.get`'),
      ...errorResponses(operatorError, 'sign_in_expired'),
      ...errorResponses(secondFactorError, 'passkeys_unavailable'),
      ...foreign,
    },
  })
  const whoAmI = createRoute({
    ...permit.self,
    method: 'get',
    path: '/server/v1/session',
    summary: 'Get the signed-in operator',
    responses: { 200: jsonResponse(SelfView, 'Name, role and second factor'), ...operatorErrors },
  })
  const signOut = createRoute({
    ...publicPermit,
    method: 'delete',
    path: '/server/v1/session',
    summary: 'Sign out of the console',
    responses: { 204: { description: 'The session has ended' }, ...foreign },
  })
  const list = createRoute({
    ...permit.self,
    method: 'get',
    path: '/server/v1/sessions',
    summary: 'List sessions',
    description: "An operator's own; an admin of the whole server can list those of everyone.",
    request: { query: z.object({ operator: z.string().max(64).optional() }) },
    responses: {
      200: jsonResponse(z.object({ items: z.array(SessionView) }), 'Newest first'),
      ...operatorErrors,
    },
  })
  const revoke = createRoute({
    ...permit.self,
    method: 'delete',
    path: '/server/v1/sessions/{id}',
    summary: 'End a session',
    request: { params: z.object({ id: z.string().max(64) }) },
    responses: {
      204: { description: 'Ended' },
      ...operatorErrors,
      ...errorResponses(operatorError, 'session_not_found'),
    },
  })
  const verify = createRoute({
    ...permit.session,
    method: 'post',
    path: '/server/v1/session/verification',
    summary: 'Verify again, before changing second factors',
    description:
      'With a second factor if the operator has one, otherwise with the token. Valid for 10 minutes.',
    request: {
      body: jsonBody(
        z.union([
          SecondFactorProofBody,
          z.strictObject({ method: z.literal('token'), token: Token }),
        ]),
      ),
    },
    responses: { 204: { description: 'Verified' }, ...operatorErrors, ...proofErrors },
  })
  const verifyOptions = createRoute({
    ...permit.session,
    method: 'post',
    path: '/server/v1/session/verification/passkey-options',
    summary: 'Get the options to verify with a passkey',
    responses: {
      200: jsonResponse(PasskeyOptionsView, 'For `navigator.credentials.get`'),
      ...operatorErrors,
      ...errorResponses(secondFactorError, 'passkeys_unavailable'),
    },
  })

  function clientOf(c: Context<AppEnv>): SessionClient {
    return { address: c.get('call').clientAddress, userAgent: c.req.header('user-agent') }
  }

  /** Refuses a network with many failures, whatever it sends next. */
  async function limitFailures<E extends AppEnv, T>(
    c: Context<E>,
    work: () => Promise<T>,
  ): Promise<T> {
    const networks = clientNetworks(c)
    const refused = limit.check(networks)
    if (refused) throw rateLimited(refused)
    try {
      return await work()
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) limit.take(networks)
      throw error
    }
  }

  async function selfOf(operator: Operator, session: OperatorSession | undefined) {
    const isEnrolled = await factors.isEnrolled(operator.name)
    const { requiresSecondFactor } = operators.sessionPolicy
    return toSelfView(operator, session, { isEnrolled, requiresSecondFactor })
  }

  function isServerAdmin({ role, services }: Operator): boolean {
    return role === 'admin' && services === undefined
  }

  /** The operators whose sessions this one may see; undefined for all. */
  function visibleNames(c: Context<SelfEnv>, wanted?: string): string[] | undefined {
    const self = c.get('self')
    if (wanted === self.name) return [wanted]
    if (wanted !== undefined) {
      requireOperatorRole(self, 'admin', 'server')
      if (c.get('isLimited')) throw operatorError('second_factor_setup_required')
      return [wanted]
    }
    return isServerAdmin(self) && !c.get('isLimited') ? undefined : [self.name]
  }

  const routes = new OpenAPIHono<AppEnv>()
    .openapi(signIn, async (c) => {
      requireOwnOrigin(c, publicUrl)
      const { token } = c.req.valid('json')
      const outcome = await limitFailures(c, () => sessions.signIn(token, clientOf(c)))
      if (outcome.kind === 'second_factor_required') {
        signInCookie.set(c, outcome.value)
        const methods = await factors.methods(outcome.name)
        return c.json({ status: 'second_factor_required' as const, methods }, 200)
      }
      sessionCookie.set(c, outcome.value)
      const operator = await selfOf(outcome.operator, outcome.session)
      return c.json({ status: 'signed_in' as const, operator }, 200)
    })
    .openapi(complete, async (c) => {
      requireOwnOrigin(c, publicUrl)
      const proof = c.req.valid('json') as never
      const begun = await limitFailures(c, () =>
        sessions.completeSignIn(signInCookie.get(c), proof, clientOf(c)),
      )
      signInCookie.clear(c)
      sessionCookie.set(c, begun.value)
      return c.json(await selfOf(begun.operator, begun.session), 200)
    })
    .openapi(signInOptions, async (c) => {
      requireOwnOrigin(c, publicUrl)
      const options = await limitFailures(c, () => sessions.signInOptions(signInCookie.get(c)))
      if (!options) throw secondFactorError('passkeys_unavailable')
      const view: PasskeyOptionsView = { ...options }
      return c.json(view, 200)
    })
    .openapi(whoAmI, async (c) => c.json(await selfOf(c.get('self'), c.get('session')), 200))
    .openapi(signOut, async (c) => {
      requireOwnOrigin(c, publicUrl)
      await sessions.signOut(sessionCookie.get(c) ?? '', clientOf(c))
      sessionCookie.clear(c)
      signInCookie.clear(c)
      return c.body(null, 204)
    })
    .openapi(list, async (c) => {
      const found = await admin.list(visibleNames(c, c.req.valid('query').operator))
      return c.json({ items: found.map((each) => toSessionView(each, c.get('session'))) }, 200)
    })
    .openapi(revoke, async (c) => {
      const { id } = c.req.valid('param')
      await admin.revoke(c.get('actor'), id, visibleNames(c))
      return c.body(null, 204)
    })
    .openapi(verify, async (c) => {
      const proof = c.req.valid('json') as never
      await limitFailures(c, () => sessions.verify(c.get('session'), c.get('actor'), proof))
      return c.body(null, 204)
    })
    .openapi(verifyOptions, async (c) => {
      const { name, sessionId } = c.get('session')
      const options = await factors
        .as({ by: c.get('actor') })
        .startVerification(name, { context: sessionId })
      if (!options) throw secondFactorError('passkeys_unavailable')
      const view: PasskeyOptionsView = { ...options }
      return c.json(view, 200)
    })

  routes.route(
    '/',
    secondFactorRoutes({
      path: '/server/v1/session/second-factor',
      permission: permit.session,
      errors: {
        ...operatorErrors,
        ...errorResponses(
          operatorError,
          'session_required',
          'verification_required',
          'last_second_factor',
        ),
      },
      subjectOf(c) {
        const session = c.get('session') as OperatorSession
        const { name, sessionId } = session
        const changed = factors.as({ by: c.get('actor'), session })
        return { factors: changed, owner: name, account: name, context: sessionId }
      },
      requireFresh: (c) => sessions.requireFresh(c.get('session') as OperatorSession),
    }),
  )
  return routes
}

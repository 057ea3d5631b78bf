/**
 * The routes with which a person manages second factors. Each service mounts them at a path of its own,
 * with its own permission; requests and responses are the same, and so is what the console shows.
 */
import { createRoute, OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { AppEnv } from '../http/env.ts'
import { errorResponses, jsonBody, jsonResponse } from '../http/openapi.ts'
import { secondFactorError } from './errors.ts'
import type { SecondFactors } from './second-factors.ts'
import {
  EnrolmentView,
  PasskeyName,
  PasskeyOptionsView,
  RegistrationResponse,
  SecondFactorView,
  TotpCode,
  TotpSetupView,
  toSecondFactorView,
} from './view.ts'

/** Whose factors a request is about. */
export interface SecondFactorSubject {
  factors: SecondFactors
  owner: string
  /** The name that the app and the browser show. */
  account: string
  /** The id of the session. */
  context: string
}

export function secondFactorRoutes(on: {
  /** Such as `/server/v1/session/second-factor`. */
  path: string
  permission: Pick<RouteConfig, 'middleware' | 'tags' | 'security'>
  /** Errors of the permission, and of `requireFresh`. */
  errors: Pick<RouteConfig, 'responses'>['responses']
  subjectOf(c: Context): SecondFactorSubject | Promise<SecondFactorSubject>
  /** Throws unless the person proved recently who it is. */
  requireFresh(c: Context): void | Promise<void>
}): OpenAPIHono<AppEnv> {
  const { path, permission, errors, subjectOf, requireFresh } = on
  const params = z.object({ id: z.string().min(1).max(2_000) })

  const get = createRoute({
    ...permission,
    method: 'get',
    path,
    summary: 'Get your second factors',
    responses: { 200: jsonResponse(SecondFactorView, 'Your second factors'), ...errors },
  })
  const startTotp = createRoute({
    ...permission,
    method: 'post',
    path: `${path}/totp`,
    summary: 'Start the setup of an authenticator app',
    responses: { 201: jsonResponse(TotpSetupView, 'What the app needs'), ...errors },
  })
  const confirmTotp = createRoute({
    ...permission,
    method: 'put',
    path: `${path}/totp`,
    summary: 'Confirm an authenticator app with a code of it',
    description: 'Replaces the app of before, if there is one.',
    request: { body: jsonBody(z.strictObject({ code: TotpCode })) },
    responses: {
      200: jsonResponse(EnrolmentView, 'The app is required from now on'),
      ...errors,
      ...errorResponses(secondFactorError, 'setup_expired', 'wrong_code'),
    },
  })
  const removeTotp = createRoute({
    ...permission,
    method: 'delete',
    path: `${path}/totp`,
    summary: 'Remove the authenticator app',
    responses: {
      204: { description: 'Removed' },
      ...errors,
      ...errorResponses(secondFactorError, 'totp_not_found'),
    },
  })
  const startPasskey = createRoute({
    ...permission,
    method: 'post',
    path: `${path}/passkeys/options`,
    summary: 'Get the options to create a passkey',
    responses: {
      200: jsonResponse(PasskeyOptionsView, 'For `navigator.credentials.create`'),
      ...errors,
      ...errorResponses(secondFactorError, 'passkeys_unavailable', 'too_many_passkeys'),
    },
  })
  const confirmPasskey = createRoute({
    ...permission,
    method: 'post',
    path: `${path}/passkeys`,
    summary: 'Add a passkey',
    request: {
      body: jsonBody(z.strictObject({ name: PasskeyName, response: RegistrationResponse })),
    },
    responses: {
      201: jsonResponse(EnrolmentView.extend({ id: z.string() }), 'The passkey was added'),
      ...errors,
      ...errorResponses(
        secondFactorError,
        'passkey_rejected',
        'challenge_expired',
        'passkey_exists',
        'too_many_passkeys',
        'passkeys_unavailable',
      ),
    },
  })
  const renamePasskey = createRoute({
    ...permission,
    method: 'patch',
    path: `${path}/passkeys/{id}`,
    summary: 'Rename a passkey',
    request: { params, body: jsonBody(z.strictObject({ name: PasskeyName })) },
    responses: {
      204: { description: 'Renamed' },
      ...errors,
      ...errorResponses(secondFactorError, 'passkey_not_found'),
    },
  })
  const removePasskey = createRoute({
    ...permission,
    method: 'delete',
    path: `${path}/passkeys/{id}`,
    summary: 'Remove a passkey',
    request: { params },
    responses: {
      204: { description: 'Removed' },
      ...errors,
      ...errorResponses(secondFactorError, 'passkey_not_found'),
    },
  })
  const replaceCodes = createRoute({
    ...permission,
    method: 'post',
    path: `${path}/recovery-codes`,
    summary: 'Replace the recovery codes; the old ones become invalid',
    responses: {
      201: jsonResponse(
        z.object({ recoveryCodes: z.array(z.string()) }),
        'Ten new codes, shown once',
      ),
      ...errors,
      ...errorResponses(secondFactorError, 'not_enrolled'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, async (c) => {
      const { factors, owner } = await subjectOf(c)
      return c.json(toSecondFactorView(await factors.summary(owner)), 200)
    })
    .openapi(startTotp, async (c) => {
      await requireFresh(c)
      const { factors, owner, ...subject } = await subjectOf(c)
      return c.json(await factors.startTotp(owner, subject), 201)
    })
    .openapi(confirmTotp, async (c) => {
      await requireFresh(c)
      const { factors, owner, context } = await subjectOf(c)
      const { code } = c.req.valid('json')
      const { recoveryCodes } = await factors.confirmTotp(owner, { context, code })
      return c.json({ recoveryCodes: recoveryCodes ? [...recoveryCodes] : null }, 200)
    })
    .openapi(removeTotp, async (c) => {
      await requireFresh(c)
      const { factors, owner } = await subjectOf(c)
      await factors.removeTotp(owner)
      return c.body(null, 204)
    })
    .openapi(startPasskey, async (c) => {
      await requireFresh(c)
      const { factors, owner, ...subject } = await subjectOf(c)
      const options: PasskeyOptionsView = { ...(await factors.startPasskey(owner, subject)) }
      return c.json(options, 200)
    })
    .openapi(confirmPasskey, async (c) => {
      await requireFresh(c)
      const { factors, owner, context } = await subjectOf(c)
      const { name, response } = c.req.valid('json')
      const { id, recoveryCodes } = await factors.confirmPasskey(owner, {
        context,
        name,
        response: response as never,
      })
      return c.json({ id, recoveryCodes: recoveryCodes ? [...recoveryCodes] : null }, 201)
    })
    .openapi(renamePasskey, async (c) => {
      const { factors, owner } = await subjectOf(c)
      await factors.renamePasskey(owner, c.req.valid('param').id, c.req.valid('json').name)
      return c.body(null, 204)
    })
    .openapi(removePasskey, async (c) => {
      await requireFresh(c)
      const { factors, owner } = await subjectOf(c)
      await factors.removePasskey(owner, c.req.valid('param').id)
      return c.body(null, 204)
    })
    .openapi(replaceCodes, async (c) => {
      await requireFresh(c)
      const { factors, owner } = await subjectOf(c)
      return c.json({ recoveryCodes: [...(await factors.replaceRecoveryCodes(owner))] }, 201)
    })
}

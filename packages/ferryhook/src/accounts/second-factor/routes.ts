/** The second factors of an account. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { secondFactorError } from '@strongroom/kit/second-factor/errors'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import { CurrentPassword, Name } from '../../http/schemas.ts'
import type { SecondFactorService } from './service.ts'
import {
  NewPasskey,
  PasskeyOptions,
  Proof,
  proofErrors,
  SecondFactorView,
  toPasskeyOptions,
  toSecondFactorView,
  TotpCode,
} from './view.ts'

const Confirmation = z
  .strictObject({
    currentPassword: CurrentPassword.optional(),
    secondFactor: Proof.optional(),
  })
  .openapi({ example: { currentPassword: 'correct horse battery' } })

const ByPasskey = z.object({ id: z.string().min(1).max(2_000) })

const EnrolmentView = z
  .object({
    recoveryCodes: z.array(z.string()).nullable().openapi({
      description: 'With the first factor; not shown again. Each signs in once.',
    }),
  })
  .openapi('FerryhookSecondFactorEnrolment')

export function secondFactorRoutes(deps: {
  permit: Permissions
  secondFactors: SecondFactorService
}): OpenAPIHono<AppEnv> {
  const { permit, secondFactors } = deps
  const path = '/v1/account/second-factor'
  const denied = errorResponses(ferryhookError, 'unauthorized', 'session_required')
  const unconfirmed = {
    ...errorResponses(
      ferryhookError,
      'unauthorized',
      'session_required',
      'wrong_password',
      'confirmation_required',
    ),
  }
  const CONFIRM = 'Requires the current password or a second factor, if the account has either.'

  const get = createRoute({
    ...permit.session,
    method: 'get',
    path,
    summary: 'Get the second factors of the account',
    responses: { 200: jsonResponse(SecondFactorView, 'The factors'), ...denied },
  })

  const startConfirmation = createRoute({
    ...permit.session,
    method: 'post',
    path: `${path}/challenge`,
    summary: 'Start a confirmation with a passkey',
    description: 'Send the response of the browser as `secondFactor` of the request to confirm.',
    responses: {
      200: jsonResponse(PasskeyOptions, 'The options for `navigator.credentials.get`'),
      ...denied,
      ...errorResponses(secondFactorError, 'passkeys_unavailable'),
    },
  })

  const startTotp = createRoute({
    ...permit.session,
    method: 'post',
    path: `${path}/totp`,
    summary: 'Start the setup of an authenticator app',
    description: `${CONFIRM} The app counts when a code confirms it, within ten minutes; it then replaces an existing one.`,
    request: { body: jsonBody(Confirmation) },
    responses: {
      200: jsonResponse(
        z.object({
          secret: z.string().openapi({ description: 'To type, in base 32; not shown again' }),
          uri: z.string().openapi({ description: 'For a QR code' }),
        }),
        'The secret for the app',
      ),
      ...unconfirmed,
      ...proofErrors,
    },
  })

  const confirmTotp = createRoute({
    ...permit.session,
    method: 'post',
    path: `${path}/totp/confirm`,
    summary: 'Confirm an authenticator app with a code',
    description: 'The first factor of an account ends all its other sessions.',
    request: { body: jsonBody(TotpCode) },
    responses: {
      200: jsonResponse(EnrolmentView, 'The app is required from now on'),
      ...denied,
      ...errorResponses(secondFactorError, 'wrong_code', 'setup_expired'),
    },
  })

  const removeTotp = createRoute({
    ...permit.session,
    method: 'post',
    path: `${path}/totp/remove`,
    summary: 'Remove the authenticator app',
    description: `${CONFIRM} Recovery codes are deleted with the last factor.`,
    request: { body: jsonBody(Confirmation) },
    responses: {
      204: { description: 'Removed' },
      ...unconfirmed,
      ...proofErrors,
      ...errorResponses(secondFactorError, 'totp_not_found'),
    },
  })

  const startPasskey = createRoute({
    ...permit.session,
    method: 'post',
    path: `${path}/passkeys`,
    summary: 'Start the registration of a passkey',
    description: CONFIRM,
    request: { body: jsonBody(Confirmation) },
    responses: {
      200: jsonResponse(PasskeyOptions, 'The options for `navigator.credentials.create`'),
      ...unconfirmed,
      ...proofErrors,
      ...errorResponses(secondFactorError, 'too_many_passkeys', 'passkeys_unavailable'),
    },
  })

  const confirmPasskey = createRoute({
    ...permit.session,
    method: 'post',
    path: `${path}/passkeys/confirm`,
    summary: 'Register a passkey',
    description: 'The first factor of an account ends all its other sessions.',
    request: { body: jsonBody(NewPasskey) },
    responses: {
      200: jsonResponse(EnrolmentView.extend({ id: z.string() }), 'The passkey is registered'),
      ...denied,
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
    ...permit.session,
    method: 'patch',
    path: `${path}/passkeys/{id}`,
    summary: 'Rename a passkey',
    request: {
      params: ByPasskey,
      body: jsonBody(z.strictObject({ name: Name }).openapi({ example: { name: 'Laptop' } })),
    },
    responses: {
      204: { description: 'Renamed' },
      ...denied,
      ...errorResponses(secondFactorError, 'passkey_not_found'),
    },
  })

  const removePasskey = createRoute({
    ...permit.session,
    method: 'post',
    path: `${path}/passkeys/{id}/remove`,
    summary: 'Remove a passkey',
    description: `${CONFIRM} Recovery codes are deleted with the last factor.`,
    request: { params: ByPasskey, body: jsonBody(Confirmation) },
    responses: {
      204: { description: 'Removed' },
      ...unconfirmed,
      ...proofErrors,
      ...errorResponses(secondFactorError, 'passkey_not_found'),
    },
  })

  const replaceCodes = createRoute({
    ...permit.session,
    method: 'post',
    path: `${path}/recovery-codes`,
    summary: 'Replace the recovery codes',
    description: `${CONFIRM} The old codes are invalid from then on.`,
    request: { body: jsonBody(Confirmation) },
    responses: {
      200: jsonResponse(
        z.object({ recoveryCodes: z.array(z.string()) }),
        'The new codes, not shown again',
      ),
      ...unconfirmed,
      ...proofErrors,
      ...errorResponses(secondFactorError, 'not_enrolled'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, async (c) =>
      c.json(toSecondFactorView(await secondFactors.summary(c.get('principal'))), 200),
    )
    .openapi(startConfirmation, async (c) => {
      const options = await secondFactors.startConfirmation(c.get('principal'))
      if (!options) throw secondFactorError('passkeys_unavailable')
      return c.json(toPasskeyOptions(options), 200)
    })
    .openapi(startTotp, async (c) =>
      c.json(await secondFactors.startTotp(c.get('principal'), c.req.valid('json')), 200),
    )
    .openapi(confirmTotp, async (c) => {
      const { code } = c.req.valid('json')
      const { recoveryCodes } = await secondFactors.confirmTotp(c.get('principal'), code)
      return c.json({ recoveryCodes: recoveryCodes ? [...recoveryCodes] : null }, 200)
    })
    .openapi(removeTotp, async (c) => {
      await secondFactors.removeTotp(c.get('principal'), c.req.valid('json'))
      return c.body(null, 204)
    })
    .openapi(startPasskey, async (c) => {
      const options = await secondFactors.startPasskey(c.get('principal'), c.req.valid('json'))
      return c.json(toPasskeyOptions(options), 200)
    })
    .openapi(confirmPasskey, async (c) => {
      const { name, response } = c.req.valid('json')
      const { id, recoveryCodes } = await secondFactors.confirmPasskey(c.get('principal'), {
        name,
        // The mechanism validates it as WebAuthn says.
        response: response as never,
      })
      return c.json({ id, recoveryCodes: recoveryCodes ? [...recoveryCodes] : null }, 200)
    })
    .openapi(renamePasskey, async (c) => {
      const { id } = c.req.valid('param')
      await secondFactors.renamePasskey(c.get('principal'), id, c.req.valid('json').name)
      return c.body(null, 204)
    })
    .openapi(removePasskey, async (c) => {
      const { id } = c.req.valid('param')
      await secondFactors.removePasskey(c.get('principal'), id, c.req.valid('json'))
      return c.body(null, 204)
    })
    .openapi(replaceCodes, async (c) => {
      const codes = await secondFactors.replaceRecoveryCodes(
        c.get('principal'),
        c.req.valid('json'),
      )
      return c.json({ recoveryCodes: [...codes] }, 200)
    })
}

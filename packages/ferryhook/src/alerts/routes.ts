/** Alert settings: how a user is notified of failures, pauses and limits. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import { type AlertSettings } from './item.ts'
import { alertKinds } from './kinds.ts'
import type { Permissions } from '../http/permissions.ts'
import type { AlertService } from './service.ts'
import { SecretRotation } from '../http/schemas.ts'

const Kinds = z.array(z.enum(alertKinds)).max(100)

export const AlertsView = z
  .object({
    kinds: Kinds,
    webhookUrl: z.string().nullable(),
    email: z.boolean().openapi({
      description: 'Whether alerts are also sent to the e-mail address of the account',
    }),
    failedAt: z.string().nullable().openapi({
      description:
        'When the last alert could not be delivered to the webhook; null if it was delivered',
    }),
    failure: z.string().nullable().openapi({ example: 'http_500' }),
    updatedAt: z.string().nullable(),
  })
  .openapi('FerryhookAlerts')

export const AlertSettingsView = AlertsView.extend({
  canEmail: z.boolean().openapi({ description: 'Whether this server sends mail' }),
})

const AlertChoice = z
  .strictObject({
    webhookUrl: z.string().min(1).max(2_048).nullable().default(null),
    email: z.boolean().default(false),
    kinds: Kinds.default([...alertKinds]),
  })
  .openapi({
    example: {
      webhookUrl: 'https://alerts.example.com/ferryhook',
      kinds: ['delivery.failed', 'connection.paused'],
    },
  })

const Result = z.object({
  ok: z.boolean(),
  reason: z.string(),
  statusCode: z.int().openapi({ description: '0 without a response' }),
  latencyMs: z.int(),
})

export function toAlertsView(settings: AlertSettings | null): z.infer<typeof AlertsView> {
  const { kinds = [], webhookUrl = null, email = false } = settings ?? {}
  const { failedAt = null, failure = null, updatedAt = null } = settings ?? {}
  return { kinds, webhookUrl, email, failedAt, failure, updatedAt }
}

export function alertRoutes(deps: {
  permit: Permissions
  alertService: AlertService
}): OpenAPIHono<AppEnv> {
  const { permit, alertService } = deps
  const { canEmail } = alertService
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')

  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/alerts',
    summary: 'Get alert settings',
    responses: { 200: jsonResponse(AlertSettingsView, 'The alert settings'), ...denied },
  })
  const change = createRoute({
    ...permit.admin,
    method: 'put',
    path: '/v1/alerts',
    summary: 'Update alert settings',
    description:
      'Alerts are sent to a signed webhook, by mail, both or neither. The response contains the signing secret of a new webhook.',
    request: { body: jsonBody(AlertChoice) },
    responses: {
      200: jsonResponse(
        AlertSettingsView.extend({ signingSecret: z.string().optional() }),
        'The alert settings',
      ),
      ...denied,
      ...errorResponses(ferryhookError, 'invalid_destination', 'mail_not_configured'),
    },
  })
  const rotate = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/v1/alerts/rotate-secret',
    summary: 'Rotate the signing secret of alerts',
    request: { body: jsonBody(SecretRotation) },
    responses: {
      200: jsonResponse(z.object({ signingSecret: z.string() }), 'The new secret'),
      ...denied,
      ...errorResponses(ferryhookError, 'no_alert_webhook', 'too_many_secrets'),
    },
  })
  const test = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/v1/alerts/test',
    summary: 'Test the alert webhook',
    description: 'Sends one signed alert of the type ferryhook.test, without retries.',
    responses: {
      200: jsonResponse(Result, 'The response of the webhook'),
      ...denied,
      ...errorResponses(ferryhookError, 'no_alert_webhook'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, async (c) =>
      c.json({ ...toAlertsView(await alertService.get(c.get('principal'))), canEmail }, 200),
    )
    .openapi(change, async (c) => {
      const changed = await alertService.change(c.get('principal'), c.req.valid('json'))
      const { settings, signingSecret } = changed
      return c.json(
        { ...toAlertsView(settings), canEmail, ...(signingSecret && { signingSecret }) },
        200,
      )
    })
    .openapi(rotate, async (c) => {
      const secret = await alertService.rotateSecret(c.get('principal'), c.req.valid('json'))
      return c.json({ signingSecret: secret }, 200)
    })
    .openapi(test, async (c) => {
      const { end, attempt } = await alertService.test(c.get('principal'))
      const { statusCode, latencyMs } = attempt
      return c.json({ ok: end === 'delivered', reason: end, statusCode, latencyMs }, 200)
    })
}

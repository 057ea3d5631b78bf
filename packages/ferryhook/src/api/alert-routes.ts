/** How the user who asks is told of failures, pauses and limits. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import { alertKinds, type AlertSettings } from '../items/alert-settings.ts'
import type { ApiDeps } from './deps.ts'
import { Rotation } from './schemas.ts'

const Kinds = z.array(z.enum(alertKinds)).max(100)

export const AlertsView = z
  .object({
    kinds: Kinds,
    webhookUrl: z.string().nullable(),
    email: z.boolean().openapi({ description: 'Whether by mail to the account, too' }),
    failedAt: z.string().nullable().openapi({
      description: 'When the webhook could last not be reached, if that was the last alert',
    }),
    failure: z.string().nullable().openapi({ example: 'http_500' }),
    updatedAt: z.string().nullable(),
  })
  .openapi('FerryhookAlerts')

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
  statusCode: z.int().openapi({ description: '0 if there was no answer' }),
  latencyMs: z.int(),
})

export function viewAlerts(settings: AlertSettings | null): z.infer<typeof AlertsView> {
  const { kinds = [], webhookUrl = null, email = false } = settings ?? {}
  const { failedAt = null, failure = null, updatedAt = null } = settings ?? {}
  return { kinds, webhookUrl, email, failedAt, failure, updatedAt }
}

export function alertRoutes({ permit, alertBook }: ApiDeps): OpenAPIHono<AppEnv> {
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')

  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/alerts',
    summary: 'See how alerts are told',
    responses: { 200: jsonResponse(AlertsView, 'How, and of what'), ...denied },
  })
  const change = createRoute({
    ...permit.admin,
    method: 'put',
    path: '/v1/alerts',
    summary: 'Choose how alerts are told',
    description:
      'By a webhook that is signed as deliveries are, by mail, both or neither. The answer has the secret of a webhook that had none.',
    request: { body: jsonBody(AlertChoice) },
    responses: {
      200: jsonResponse(AlertsView.extend({ signingSecret: z.string().optional() }), 'How'),
      ...denied,
      ...errorResponses(ferryhookError, 'invalid_destination', 'mail_not_configured'),
    },
  })
  const rotate = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/v1/alerts/rotate-secret',
    summary: 'Rotate the signing secret of alerts',
    request: { body: jsonBody(Rotation) },
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
    summary: 'Test the webhook of alerts',
    description: 'Sends it one signed alert of the type ferryhook.test, and does not try again.',
    responses: {
      200: jsonResponse(Result, 'How it answered'),
      ...denied,
      ...errorResponses(ferryhookError, 'no_alert_webhook'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, async (c) => c.json(viewAlerts(await alertBook.get(c.get('principal'))), 200))
    .openapi(change, async (c) => {
      const changed = await alertBook.change(c.get('principal'), c.req.valid('json'))
      const { settings, signingSecret } = changed
      return c.json({ ...viewAlerts(settings), ...(signingSecret && { signingSecret }) }, 200)
    })
    .openapi(rotate, async (c) => {
      const secret = await alertBook.rotateSecret(c.get('principal'), c.req.valid('json'))
      return c.json({ signingSecret: secret }, 200)
    })
    .openapi(test, async (c) => {
      const { end, attempt } = await alertBook.test(c.get('principal'))
      const { statusCode, latencyMs } = attempt
      return c.json({ ok: end === 'delivered', reason: end, statusCode, latencyMs }, 200)
    })
}

/** What a connected site asks. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { epochSeconds } from '@strongroom/kit/clock'
import { bodyLimit } from '@strongroom/kit/http/body-limit'
import { and } from '@strongroom/kit/http/declared-permission'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { formBridgeError } from '../errors.ts'
import { SiteEnvironment, SiteStatus } from '../items/site.ts'
import type { ApiDeps } from './deps.ts'
import { HeartbeatBody, RotateBody, SubmissionBody } from './schemas.ts'

const MEGABYTE = 1024 * 1024
const HALF_A_DAY = 43_200

const SiteView = z.object({
  site_id: z.string(),
  domain: z.string(),
  status: SiteStatus,
  created_at: z.string(),
  activated_at: z.string(),
  last_seen: z.string(),
  key_version: z.int(),
  environment: SiteEnvironment,
  agency_id: z.string().nullable(),
  confirmation_needed: z.boolean(),
  telemetry: z.boolean(),
  limits: z.record(z.string(), z.int()),
  server_time: z.int(),
})
const Heard = z.object({
  status: SiteStatus,
  server_time: z.int(),
  next_in: z.int(),
  latest_version: z.string().nullable(),
})
const Rotated = z.object({
  api_key: z.string(),
  webhook_secret: z.string(),
  key_version: z.int(),
  previous_valid_until: z.string().nullable(),
})

export function siteRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, clock, siteAffairs, guard, deliver } = deps
  const denied = errorResponses(
    formBridgeError,
    'unauthorized',
    'timestamp_out_of_range',
    'nonce_used',
    'site_suspended',
    'site_disabled',
    'site_moved',
    'rate_limited',
  )
  const changing = { ...denied, ...errorResponses(formBridgeError, 'signature_required') }

  const get = createRoute({
    ...permit.site({ scope: 'api', suspended: true }),
    method: 'get',
    path: '/v1/site',
    summary: 'Look at the site',
    responses: { 200: jsonResponse(SiteView, 'The site'), ...denied },
  })
  const heartbeat = createRoute({
    ...permit.site({ scope: 'api', signature: true }),
    method: 'post',
    path: '/v1/site/heartbeat',
    summary: 'Say that the site is there',
    request: { body: jsonBody(HeartbeatBody) },
    responses: { 200: jsonResponse(Heard, 'What the site should know'), ...changing },
  })
  const rotate = createRoute({
    ...permit.site({ scope: 'api', signature: true }),
    method: 'post',
    path: '/v1/site/rotate',
    summary: 'Get new keys',
    request: { body: jsonBody(RotateBody) },
    responses: {
      200: jsonResponse(Rotated, 'The new keys, shown once'),
      ...changing,
      ...errorResponses(formBridgeError, 'changed_meanwhile', 'site_moved'),
    },
  })
  const disconnect = createRoute({
    // Not while suspended, or it could come back as a new site; not from a clone, which has none.
    ...permit.site({ scope: 'api', signature: true }),
    method: 'post',
    path: '/v1/site/disconnect',
    summary: 'Leave for ever',
    request: { body: jsonBody(z.strictObject({})) },
    responses: {
      200: jsonResponse(z.object({ status: z.literal('disabled') }), 'The site is disconnected'),
      ...changing,
    },
  })
  const webhook = createRoute({
    ...and(permit.site({ scope: 'webhook', signature: true }), bodyLimit(MEGABYTE)),
    method: 'post',
    path: '/v1/webhook',
    summary: 'Hand over a form submission',
    request: { body: jsonBody(SubmissionBody) },
    responses: {
      200: jsonResponse(
        z.object({ submission_id: z.string(), status: z.literal('delivered') }),
        'The destination has taken it',
      ),
      ...changing,
      ...errorResponses(
        formBridgeError,
        'confirmation_needed',
        'no_destination',
        'destination_refused',
        'destination_unreachable',
      ),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, async (c) => {
      const { site } = c.get('asked')
      const limits = await guard.limitsOf({ scope: 'api', site_id: site.site_id })
      const view = {
        ...site,
        environment: site.environment ?? ('production' as const),
        agency_id: await siteAffairs.agencyOf(site),
        confirmation_needed: site.unconfirmed_since !== undefined,
        telemetry: site.telemetry !== undefined,
        limits: Object.fromEntries(limits.map(({ name, limit }) => [name, limit])),
        server_time: epochSeconds(clock),
      }
      return c.json(SiteView.parse(view), 200)
    })
    .openapi(heartbeat, async (c) => {
      const { site } = c.get('asked')
      const latest_version = await siteAffairs.heard(site, c.req.valid('json'))
      // Spread, or a fleet that was installed together would ask together for ever.
      const next_in = HALF_A_DAY + Math.floor(Math.random() * (HALF_A_DAY / 4))
      return c.json(
        { status: site.status, server_time: epochSeconds(clock), next_in, latest_version },
        200,
      )
    })
    .openapi(rotate, async (c) => {
      const { grace_seconds } = c.req.valid('json')
      const made = await siteAffairs.rotate(c.get('asked').site, grace_seconds)
      return c.json(made, 200)
    })
    .openapi(disconnect, async (c) => {
      await siteAffairs.disconnect(c.get('asked').site)
      return c.json({ status: 'disabled' as const }, 200)
    })
    .openapi(webhook, async (c) => {
      const submission = c.req.valid('json')
      await deliver(c.get('asked').site, submission)
      const { submission_id } = submission
      return c.json({ submission_id, status: 'delivered' as const }, 200)
    })
}

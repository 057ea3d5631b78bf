/** Routes for connected sites. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { formBridgeError } from '../errors.ts'
import { Version } from '../formats.ts'
import type { RateLimits } from '../limits/service.ts'
import { PluginVersion, WordPressVersion } from '../params.ts'
import {
  currentKeysErrors,
  type Permissions,
  signedRequestErrors,
  siteRequestErrors,
} from '../permissions.ts'
import { SiteEnvironment, SiteStatus } from './item.ts'
import type { SiteService } from './service.ts'

const HEARTBEAT_SECONDS = 43_200
const MAX_GRACE_SECONDS = 7 * 86_400

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

const HeartbeatBody = z.strictObject({
  wp_version: WordPressVersion.optional(),
  plugin_version: PluginVersion,
  php_version: Version.optional(),
  environment: SiteEnvironment.optional(),
  telemetry: z.boolean().default(false),
})
const HeartbeatView = z.object({
  status: SiteStatus,
  server_time: z.int(),
  next_in: z.int(),
  latest_version: z.string().nullable(),
})

const RotateBody = z.strictObject({
  grace_seconds: z.int().min(0).max(MAX_GRACE_SECONDS).default(86_400),
})
const RotatedKeysView = z.object({
  api_key: z.string(),
  webhook_secret: z.string(),
  key_version: z.int(),
  previous_valid_until: z.string().nullable(),
})

export function siteRoutes(deps: {
  permit: Permissions
  clock: Clock
  siteService: SiteService
  limits: RateLimits
}): OpenAPIHono<AppEnv> {
  const { permit, clock, siteService, limits } = deps

  const get = createRoute({
    ...permit.site({ scope: 'api', suspended: true }),
    method: 'get',
    path: '/v1/site',
    summary: 'Get the site',
    responses: { 200: jsonResponse(SiteView, 'The site'), ...siteRequestErrors },
  })
  const heartbeat = createRoute({
    ...permit.site({ scope: 'api', signature: true }),
    method: 'post',
    path: '/v1/site/heartbeat',
    summary: 'Send a heartbeat',
    request: { body: jsonBody(HeartbeatBody) },
    responses: {
      200: jsonResponse(HeartbeatView, 'The status, the newest version, and the next heartbeat'),
      ...signedRequestErrors,
    },
  })
  const rotate = createRoute({
    ...permit.site({ scope: 'api', signature: true, currentKeys: true }),
    method: 'post',
    path: '/v1/site/rotate',
    summary: "Rotate the site's keys",
    request: { body: jsonBody(RotateBody) },
    responses: {
      200: jsonResponse(RotatedKeysView, 'The new keys, shown once'),
      ...currentKeysErrors,
      ...errorResponses(formBridgeError, 'changed_meanwhile', 'site_moved'),
    },
  })
  const disconnect = createRoute({
    // Not for a suspended site, which could come back as a new one; not for a clone of the site.
    ...permit.site({ scope: 'api', signature: true, currentKeys: true }),
    method: 'post',
    path: '/v1/site/disconnect',
    summary: 'Disconnect the site',
    request: { body: jsonBody(z.strictObject({})) },
    responses: {
      200: jsonResponse(z.object({ status: z.literal('disabled') }), 'The site is disconnected'),
      ...currentKeysErrors,
      ...errorResponses(formBridgeError, 'changed_meanwhile', 'site_moved'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, async (c) => {
      const { site } = c.get('auth')
      const apiLimits = await limits.limitsOf({ scope: 'api', site_id: site.site_id })
      const view = {
        ...site,
        environment: site.environment ?? ('production' as const),
        agency_id: (await siteService.findAgency(site)) ?? null,
        confirmation_needed: site.unconfirmed_since !== undefined,
        telemetry: site.telemetry !== undefined,
        limits: Object.fromEntries(apiLimits.map(({ name, limit }) => [name, limit])),
        server_time: epochSeconds(clock),
      }
      return c.json(SiteView.parse(view), 200)
    })
    .openapi(heartbeat, async (c) => {
      const { site } = c.get('auth')
      const version = await siteService.recordHeartbeat(site, c.req.valid('json'))
      // Jitter, so sites that were installed together do not send heartbeats together.
      const next_in = HEARTBEAT_SECONDS + Math.floor(Math.random() * (HEARTBEAT_SECONDS / 4))
      const view = {
        status: site.status,
        server_time: epochSeconds(clock),
        next_in,
        latest_version: version ?? null,
      }
      return c.json(view, 200)
    })
    .openapi(rotate, async (c) => {
      const { grace_seconds } = c.req.valid('json')
      return c.json(await siteService.rotateKeys(c.get('auth').site, grace_seconds), 200)
    })
    .openapi(disconnect, async (c) => {
      await siteService.disconnect(c.get('auth').site)
      return c.json({ status: 'disabled' as const }, 200)
    })
}

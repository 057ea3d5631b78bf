/** Routes for operators: sites. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import type { AuditedStores } from '../audited-stores.ts'
import type { Destination } from '../credentials/secrets.ts'
import { formBridgeError } from '../errors.ts'
import { AgencyId, Version } from '../formats.ts'
import { DestinationBody, PageQuery, SiteParams, SiteUrl } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import type { EncryptDestination } from '../submissions/destination.ts'
import { parseSiteAddress } from './address.ts'
import { SiteStatus } from './item.ts'
import { createSiteAdmin, type SiteAdmin } from './service.ts'
import type { OperatorSites } from './operator-service.ts'
import {
  HistoryEntryView,
  OperatorSiteView,
  SiteCountsView,
  SiteLineView,
} from './operator-view.ts'
import { ApiKeyView, type SiteDetails, SiteDetailsView } from './view.ts'

const ACTIONS = ['suspend', 'resume', 'disable', 'confirm'] as const
/** As the audit log says it. */
const PAST = {
  suspend: 'suspended',
  resume: 'resumed',
  disable: 'disabled',
  confirm: 'confirmed',
} as const

const ApprovedMoveView = z.object({
  site_id: z.string(),
  domain: z.string(),
  expires_at: z.string(),
})

const NotSeenDays = z.coerce.number().int().min(1).max(3_650)

const ListQuery = PageQuery.extend({
  status: z.enum([...SiteStatus.options, 'unconfirmed', 'all']).default('active'),
  search: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .openapi({ description: 'Part of a domain, or a site id' }),
  version: Version.optional().openapi({ description: 'Has this version of the plugin' }),
  agency_id: AgencyId.optional(),
  not_seen_days: NotSeenDays.optional().openapi({ description: 'Not seen for this many days' }),
})

const MAX_REASON_LENGTH = 500
const ActionBody = z.strictObject({
  reason: z
    .string()
    .trim()
    .min(1)
    .max(MAX_REASON_LENGTH)
    .optional()
    .openapi({ description: 'For the audit log and the history of the site' }),
})

export function operatorSiteRoutes(deps: {
  permit: Permissions
  pager: Pager
  siteAdmin: SiteAdmin
  operatorSites: OperatorSites
  auditedStores: AuditedStores
  encryptDestination: EncryptDestination
  /** For sites without their own. */
  defaultDestination: Destination | undefined
}): OpenAPIHono<AppEnv> {
  const { permit, pager, siteAdmin, operatorSites, auditedStores } = deps
  const { encryptDestination, defaultDestination } = deps
  const audited = (...change: Parameters<AuditedStores>) =>
    createSiteAdmin({ ...auditedStores(...change), defaultDestination })
  const notFound = errorResponses(formBridgeError, 'site_not_found')

  const list = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/sites',
    summary: 'List sites by status, version, agency, domain or when they were last seen',
    description:
      'Newest first, except by agency or version. A page may have fewer sites than its limit, even none: continue while there is a cursor.',
    request: { query: ListQuery },
    responses: {
      200: jsonResponse(pageOf(SiteLineView), 'A page of sites'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const count = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/site-counts',
    summary: 'Count sites by status',
    description:
      'Up to 10,000 of each status. Unconfirmed sites, and active ones that were not seen, are counted among the 2,000 newest.',
    request: { query: z.object({ not_seen_days: NotSeenDays.default(14) }) },
    responses: { 200: jsonResponse(SiteCountsView, 'The counts'), ...operatorErrors },
  })
  const getHistory = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/sites/{site_id}/history',
    summary: 'List changes, security events and versions of a site, newest first',
    description:
      'Changes by operators are found among the newest 2,000 entries of the audit log, versions in the last 200 update checks.',
    request: {
      params: SiteParams,
      query: z.object({ limit: z.coerce.number().int().min(1).max(100).default(50) }),
    },
    responses: {
      200: jsonResponse(
        z.object({
          items: z.array(HistoryEntryView),
          is_complete: z.boolean().openapi({ description: 'False if there may be older entries' }),
        }),
        'The newest entries',
      ),
      ...operatorErrors,
      ...notFound,
    },
  })
  const get = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/sites/{site_id}',
    summary: 'Get a site',
    request: { params: SiteParams },
    responses: { 200: jsonResponse(OperatorSiteView, 'The site'), ...operatorErrors, ...notFound },
  })
  const listKeys = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/sites/{site_id}/api-keys',
    summary: "List a site's API keys, newest first",
    description:
      'Not the keys themselves: when each was created and last used, and until when it works.',
    request: { params: SiteParams },
    responses: {
      200: jsonResponse(z.object({ items: z.array(ApiKeyView) }), 'The keys'),
      ...operatorErrors,
      ...notFound,
    },
  })
  const act = createRoute({
    ...permit.operator.editor,
    method: 'post',
    path: '/v1/sites/{site_id}/{action}',
    summary: 'Suspend, resume, disable or confirm a site',
    description:
      'A suspension applies from the next request. Disabling is permanent. Confirm a site that was reconnected without its old key if its destination and agency should stay the same.',
    request: {
      params: SiteParams.extend({ action: z.enum(ACTIONS) }),
      body: { ...jsonBody(ActionBody), required: false },
    },
    responses: {
      200: jsonResponse(SiteDetailsView, 'The site'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(formBridgeError, 'wrong_status'),
    },
  })
  const setDestination = createRoute({
    ...permit.operator.admin,
    method: 'put',
    path: '/v1/sites/{site_id}/destination',
    summary: "Set the destination of a site's submissions",
    request: { params: SiteParams, body: jsonBody(DestinationBody) },
    responses: {
      200: jsonResponse(SiteDetailsView, 'The site'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(formBridgeError, 'destination_invalid'),
    },
  })
  const removeDestination = createRoute({
    ...permit.operator.admin,
    method: 'delete',
    path: '/v1/sites/{site_id}/destination',
    summary: "Remove the destination of a site's submissions",
    description: 'Its submissions then go to the default destination of the server.',
    request: { params: SiteParams },
    responses: { 200: jsonResponse(SiteDetailsView, 'The site'), ...operatorErrors, ...notFound },
  })

  const approveMove = createRoute({
    // Whoever proves the new domain gets the destination and the agency of the site.
    ...permit.operator.admin,
    method: 'put',
    path: '/v1/sites/{site_id}/move',
    summary: 'Let a site that has lost its secret move to another address',
    description:
      'For a day, the site at that address that proves its domain becomes this site, with new keys. Check first who asks for it.',
    request: { params: SiteParams, body: jsonBody(z.strictObject({ site_url: SiteUrl })) },
    responses: {
      200: jsonResponse(ApprovedMoveView, 'The address, and until when'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(formBridgeError, 'domain_invalid', 'domain_has_site', 'wrong_status'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { limit, cursor, ...filter } = c.req.valid('query')
      const { status, search = '', version = '', agency_id = '', not_seen_days = '' } = filter
      const page = await pager(
        ['sites', status, search, version, agency_id, String(not_seen_days)],
        { limit, cursor },
        (request) => operatorSites.list(filter, request),
        (site) => site,
      )
      return c.json(page, 200)
    })
    .openapi(count, async (c) =>
      c.json(await operatorSites.count(c.req.valid('query').not_seen_days), 200),
    )
    .openapi(getHistory, async (c) => {
      const { limit } = c.req.valid('query')
      return c.json(await operatorSites.history(c.req.valid('param').site_id, limit), 200)
    })
    .openapi(get, async (c) => c.json(await operatorSites.get(c.req.valid('param').site_id), 200))
    .openapi(listKeys, async (c) =>
      c.json({ items: await siteAdmin.listApiKeys(c.req.valid('param').site_id) }, 200),
    )
    .openapi(act, async (c) => {
      const { site_id, action } = c.req.valid('param')
      const before = toAuditedFields(await siteAdmin.get(site_id))
      const { reason } = c.req.valid('json')
      const change = {
        action: `site.${PAST[action]}`,
        target: site_id,
        before,
        ...(reason !== undefined && { after: { reason } }),
      }
      const site = await audited(c.get('actor'), change)[action](site_id)
      c.get('log').info('site changed by operator', { operator: c.get('operator'), action })
      return c.json(site, 200)
    })
    .openapi(setDestination, async (c) => {
      const { site_id } = c.req.valid('param')
      await siteAdmin.requireSite(site_id)
      const encrypted = await encryptDestination(site_id, c.req.valid('json'))
      const change = { action: 'site.destination_set', target: site_id }
      const admin = audited(c.get('actor'), change)
      return c.json(await admin.setDestination(site_id, encrypted), 200)
    })
    .openapi(approveMove, async (c) => {
      const { site_id } = c.req.valid('param')
      const domain = parseSiteAddress(c.req.valid('json').site_url)?.domain
      if (domain === undefined) throw formBridgeError('domain_invalid')
      const before = { domain: (await siteAdmin.requireSite(site_id)).domain }
      const change = { action: 'site.move_approved', target: site_id, before, after: { domain } }
      const admin = audited(c.get('actor'), change)
      const expires_at = await admin.approveMove(site_id, domain)
      return c.json({ site_id, domain, expires_at }, 200)
    })
    .openapi(removeDestination, async (c) => {
      const { site_id } = c.req.valid('param')
      const change = { action: 'site.destination_removed', target: site_id }
      const admin = audited(c.get('actor'), change)
      return c.json(await admin.setDestination(site_id, undefined), 200)
    })
}

function toAuditedFields({ domain, status, confirmation_needed }: SiteDetails) {
  return { domain, status, confirmation_needed }
}

/** Routes for operators: sites. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import type { AuditedStores } from '../audited-stores.ts'
import { formBridgeError } from '../errors.ts'
import { DestinationBody, PageQuery, SiteParams } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import type { EncryptDestination } from '../submissions/destination.ts'
import { SiteStatus } from './item.ts'
import { createSiteAdmin, type SiteAdmin } from './service.ts'
import { type SiteDetails, SiteDetailsView, SiteSummaryView } from './view.ts'

const ACTIONS = ['suspend', 'resume', 'disable', 'confirm'] as const
/** As the audit log says it. */
const PAST = {
  suspend: 'suspended',
  resume: 'resumed',
  disable: 'disabled',
  confirm: 'confirmed',
} as const

const ListQuery = PageQuery.extend({
  status: SiteStatus.default('active'),
  search: z.string().min(1).max(200).optional().openapi({ description: 'Part of a domain' }),
})

export function operatorSiteRoutes(deps: {
  permit: Permissions
  pager: Pager
  siteAdmin: SiteAdmin
  auditedStores: AuditedStores
  encryptDestination: EncryptDestination
}): OpenAPIHono<AppEnv> {
  const { permit, pager, siteAdmin, auditedStores, encryptDestination } = deps
  const notFound = errorResponses(formBridgeError, 'site_not_found')

  const list = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/sites',
    summary: 'List sites by status, newest first',
    request: { query: ListQuery },
    responses: {
      200: jsonResponse(pageOf(SiteSummaryView), 'A page of sites'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const get = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/sites/{site_id}',
    summary: 'Get a site',
    request: { params: SiteParams },
    responses: { 200: jsonResponse(SiteDetailsView, 'The site'), ...operatorErrors, ...notFound },
  })
  const act = createRoute({
    ...permit.operator.editor,
    method: 'post',
    path: '/v1/sites/{site_id}/{action}',
    summary: 'Suspend, resume, disable or confirm a site',
    description:
      'A suspension applies from the next request. Disabling is permanent. Confirm a site that was reconnected without its old key if its destination and agency should stay the same.',
    request: { params: SiteParams.extend({ action: z.enum(ACTIONS) }) },
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

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { status, search, ...query } = c.req.valid('query')
      const page = await pager(
        ['sites', status, search ?? ''],
        query,
        (request) => siteAdmin.list(status, { ...request, ...(search && { search }) }),
        (site) => SiteSummaryView.parse(site),
      )
      return c.json(page, 200)
    })
    .openapi(get, async (c) => c.json(await siteAdmin.get(c.req.valid('param').site_id), 200))
    .openapi(act, async (c) => {
      const { site_id, action } = c.req.valid('param')
      const before = toAuditedFields(await siteAdmin.get(site_id))
      const change = { action: `site.${PAST[action]}`, target: site_id, before }
      const site = await createSiteAdmin(auditedStores(c.get('actor'), change))[action](site_id)
      c.get('log').info('site changed by operator', { operator: c.get('operator'), action })
      return c.json(site, 200)
    })
    .openapi(setDestination, async (c) => {
      const { site_id } = c.req.valid('param')
      await siteAdmin.requireSite(site_id)
      const encrypted = await encryptDestination(site_id, c.req.valid('json'))
      const change = { action: 'site.destination_set', target: site_id }
      const admin = createSiteAdmin(auditedStores(c.get('actor'), change))
      return c.json(await admin.setDestination(site_id, encrypted), 200)
    })
    .openapi(removeDestination, async (c) => {
      const { site_id } = c.req.valid('param')
      const change = { action: 'site.destination_removed', target: site_id }
      const admin = createSiteAdmin(auditedStores(c.get('actor'), change))
      return c.json(await admin.setDestination(site_id, undefined), 200)
    })
}

function toAuditedFields({ domain, status, confirmation_needed }: SiteDetails) {
  return { domain, status, confirmation_needed }
}

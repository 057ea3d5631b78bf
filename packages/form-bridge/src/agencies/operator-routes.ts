/** Routes for operators: agencies. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import type { AuditedStores } from '../audited-stores.ts'
import { formBridgeError } from '../errors.ts'
import { Email } from '../formats.ts'
import { AgencyParams, PageQuery, SiteParams } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import { AgencyRole, AgencyStatus, newAgencyId } from './item.ts'
import { type AgencyService, createAgencyService } from './service.ts'
import { AgencySiteView, AgencyView, toAgencySiteView, toAgencyView } from './view.ts'

const MaxSites = z.int().min(0).max(1_000_000).openapi({ example: 100 })
const NewAgency = z.strictObject({
  agency_name: z.string().trim().min(1).max(200).openapi({ example: 'Acme' }),
  contact_email: Email,
  max_sites: MaxSites,
})
const AgencyChange = z.strictObject({
  max_sites: MaxSites.optional(),
  status: AgencyStatus.optional(),
})
const api_key = z.string().openapi({ description: 'Shown once' })

export function operatorAgencyRoutes(deps: {
  permit: Permissions
  pager: Pager
  agencyService: AgencyService
  auditedStores: AuditedStores
}): OpenAPIHono<AppEnv> {
  const { permit, pager, agencyService, auditedStores } = deps
  const notFound = errorResponses(formBridgeError, 'agency_not_found')

  const create = createRoute({
    ...permit.operator.editor,
    method: 'post',
    path: '/v1/agencies',
    summary: 'Create an agency',
    request: { body: jsonBody(NewAgency) },
    responses: {
      201: jsonResponse(AgencyView.extend({ api_key }), 'The agency and its key'),
      ...operatorErrors,
    },
  })
  const list = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/agencies',
    summary: 'List agencies by status, newest first',
    request: { query: PageQuery.extend({ status: AgencyStatus.default('active') }) },
    responses: {
      200: jsonResponse(pageOf(AgencyView), 'A page of agencies'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const get = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/agencies/{agency_id}',
    summary: 'Get an agency',
    request: { params: AgencyParams },
    responses: { 200: jsonResponse(AgencyView, 'The agency'), ...operatorErrors, ...notFound },
  })
  const update = createRoute({
    ...permit.operator.editor,
    method: 'patch',
    path: '/v1/agencies/{agency_id}',
    summary: "Update an agency's limit or status",
    request: { params: AgencyParams, body: jsonBody(AgencyChange) },
    responses: { 200: jsonResponse(AgencyView, 'The agency'), ...operatorErrors, ...notFound },
  })
  const setOutsideLimit = createRoute({
    ...permit.operator.editor,
    method: 'put',
    path: '/v1/agencies/{agency_id}/sites/{site_id}',
    summary: "Set whether a site counts against the agency's limit",
    description: 'A staging site should not count.',
    request: {
      params: AgencyParams.extend(SiteParams.shape),
      body: jsonBody(z.strictObject({ outside_limit: z.boolean() })),
    },
    responses: {
      200: jsonResponse(AgencyView, 'The agency'),
      ...operatorErrors,
      ...errorResponses(formBridgeError, 'site_not_found', 'agency_not_found', 'agency_full'),
    },
  })
  const listSites = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/agencies/{agency_id}/sites',
    summary: 'List the sites of an agency',
    request: { params: AgencyParams, query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(AgencySiteView), 'A page of sites'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const setRole = createRoute({
    // An owner can change destinations.
    ...permit.operator.admin,
    method: 'put',
    path: '/v1/agencies/{agency_id}/sites/{site_id}/role',
    summary: 'Set what an agency may do with a site',
    description:
      '`owner` sets its destination, confirms and removes it, `member` confirms it, `viewer` reads it.',
    request: {
      params: AgencyParams.extend(SiteParams.shape),
      body: jsonBody(z.strictObject({ role: AgencyRole })),
    },
    responses: {
      200: jsonResponse(AgencySiteView, 'The site in the agency'),
      ...operatorErrors,
      ...errorResponses(formBridgeError, 'site_not_found'),
    },
  })
  const rotateKey = createRoute({
    ...permit.operator.admin,
    method: 'post',
    path: '/v1/agencies/{agency_id}/key',
    summary: "Rotate an agency's key; the old one stops working immediately",
    request: { params: AgencyParams },
    responses: {
      200: jsonResponse(z.object({ api_key }), 'The new key'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(formBridgeError, 'changed_meanwhile'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(create, async (c) => {
      const input = c.req.valid('json')
      const agency_id = newAgencyId()
      const { agency_name, max_sites } = input
      const change = {
        action: 'agency.created',
        target: agency_id,
        after: { agency_name, max_sites },
      }
      const service = createAgencyService(auditedStores(c.get('actor'), change))
      const created = await service.create(input, agency_id)
      return c.json({ ...toAgencyView(created.agency), api_key: created.api_key }, 201)
    })
    .openapi(list, async (c) => {
      const { status, ...query } = c.req.valid('query')
      const page = await pager(
        ['agencies', status],
        query,
        (request) => agencyService.list(status, request),
        toAgencyView,
      )
      return c.json(page, 200)
    })
    .openapi(get, async (c) =>
      c.json(toAgencyView(await agencyService.requireAgency(c.req.valid('param').agency_id)), 200),
    )
    .openapi(update, async (c) => {
      const { agency_id } = c.req.valid('param')
      const after = c.req.valid('json')
      const { max_sites, status } = await agencyService.requireAgency(agency_id)
      const before = { max_sites, status }
      const change = { action: 'agency.changed', target: agency_id, before, after }
      const service = createAgencyService(auditedStores(c.get('actor'), change))
      return c.json(toAgencyView(await service.change(agency_id, after)), 200)
    })
    .openapi(setOutsideLimit, async (c) => {
      const { agency_id, site_id } = c.req.valid('param')
      const { outside_limit } = c.req.valid('json')
      const change = {
        action: 'agency.site_limit_changed',
        target: `${agency_id}/${site_id}`,
        after: { outside_limit },
      }
      const service = createAgencyService(auditedStores(c.get('actor'), change))
      const agency = await service.setOutsideLimit(agency_id, site_id, outside_limit)
      return c.json(toAgencyView(agency), 200)
    })
    .openapi(listSites, async (c) => {
      const { agency_id } = await agencyService.requireAgency(c.req.valid('param').agency_id)
      const page = await pager(
        ['agency sites', agency_id],
        c.req.valid('query'),
        (request) => agencyService.listSites(agency_id, request),
        toAgencySiteView,
      )
      return c.json(page, 200)
    })
    .openapi(setRole, async (c) => {
      const { agency_id, site_id } = c.req.valid('param')
      const after = c.req.valid('json')
      const { role } = await agencyService.requireMember(agency_id, site_id)
      const change = {
        action: 'agency.role_changed',
        target: `${agency_id}/${site_id}`,
        before: { role },
        after,
      }
      const service = createAgencyService(auditedStores(c.get('actor'), change))
      return c.json(toAgencySiteView(await service.setRole(agency_id, site_id, after.role)), 200)
    })
    .openapi(rotateKey, async (c) => {
      const agency = await agencyService.requireAgency(c.req.valid('param').agency_id)
      const change = { action: 'agency.key_rotated', target: agency.agency_id }
      const service = createAgencyService(auditedStores(c.get('actor'), change))
      return c.json({ api_key: await service.rotateKey(agency) }, 200)
    })
}

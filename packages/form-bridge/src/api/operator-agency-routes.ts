/** What operators do with agencies. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorError } from '@strongroom/kit/operators'
import { formBridgeError } from '../errors.ts'
import { AgencyStatus } from '../items/agency.ts'
import { Email } from '../items/formats.ts'
import type { ApiDeps } from './deps.ts'
import { ByAgency, BySite, PageQuery } from './schemas.ts'
import { AgencyView, viewAgency } from './views.ts'

const MaxSites = z.int().min(0).max(1_000_000).openapi({ example: 100 })
const NewAgency = z.strictObject({
  agency_name: z.string().trim().min(1).max(200).openapi({ example: 'Acme' }),
  contact_email: Email,
  max_sites: MaxSites,
})
const Change = z.strictObject({ max_sites: MaxSites.optional(), status: AgencyStatus.optional() })
const api_key = z.string().openapi({ description: 'Never shown again' })

export function operatorAgencyRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, agencyDesk, pager } = deps
  const denied = errorResponses(operatorError, 'unauthorized')
  const missing = errorResponses(formBridgeError, 'agency_not_found')

  const create = createRoute({
    ...permit.operator,
    method: 'post',
    path: '/v1/agencies',
    summary: 'Add an agency',
    request: { body: jsonBody(NewAgency) },
    responses: {
      201: jsonResponse(AgencyView.extend({ api_key }), 'The agency and its key'),
      ...denied,
    },
  })
  const list = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/agencies',
    summary: 'List agencies, newest first',
    request: { query: PageQuery.extend({ status: AgencyStatus.default('active') }) },
    responses: {
      200: jsonResponse(pageOf(AgencyView), 'A page of agencies'),
      ...denied,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const get = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/agencies/{agency_id}',
    summary: 'Look at an agency',
    request: { params: ByAgency },
    responses: { 200: jsonResponse(AgencyView, 'The agency'), ...denied, ...missing },
  })
  const change = createRoute({
    ...permit.operator,
    method: 'patch',
    path: '/v1/agencies/{agency_id}',
    summary: 'Change the limit or the status of an agency',
    request: { params: ByAgency, body: jsonBody(Change) },
    responses: { 200: jsonResponse(AgencyView, 'The agency'), ...denied, ...missing },
  })
  const newKey = createRoute({
    ...permit.operator,
    method: 'post',
    path: '/v1/agencies/{agency_id}/key',
    summary: 'Give an agency a new key; the old one ends at once',
    request: { params: ByAgency },
    responses: {
      200: jsonResponse(z.object({ api_key }), 'The new key'),
      ...denied,
      ...missing,
      ...errorResponses(formBridgeError, 'changed_meanwhile'),
    },
  })

  const place = createRoute({
    ...permit.operator,
    method: 'put',
    path: '/v1/agencies/{agency_id}/sites/{site_id}',
    summary: 'Say whether a site is for trying things out and so outside of the limit',
    request: {
      params: ByAgency.extend(BySite.shape),
      body: jsonBody(z.strictObject({ outside_limit: z.boolean() })),
    },
    responses: {
      200: jsonResponse(AgencyView, 'The agency'),
      ...denied,
      ...errorResponses(formBridgeError, 'site_not_found', 'agency_not_found', 'agency_full'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(create, async (c) => {
      const made = await agencyDesk.create(c.req.valid('json'))
      return c.json({ ...viewAgency(made.agency), api_key: made.api_key }, 201)
    })
    .openapi(list, async (c) => {
      const { status, ...page } = c.req.valid('query')
      const agencies = (at: object) => agencyDesk.list(status, at)
      return c.json(await pager(['agencies', status], page, agencies, viewAgency), 200)
    })
    .openapi(get, async (c) =>
      c.json(viewAgency(await agencyDesk.existing(c.req.valid('param').agency_id)), 200),
    )
    .openapi(change, async (c) => {
      const agency = await agencyDesk.change(c.req.valid('param').agency_id, c.req.valid('json'))
      return c.json(viewAgency(agency), 200)
    })
    .openapi(place, async (c) => {
      const { agency_id, site_id } = c.req.valid('param')
      const { outside_limit } = c.req.valid('json')
      return c.json(
        viewAgency(await agencyDesk.setOutsideLimit(agency_id, site_id, outside_limit)),
        200,
      )
    })
    .openapi(newKey, async (c) => {
      const agency = await agencyDesk.existing(c.req.valid('param').agency_id)
      return c.json({ api_key: await agencyDesk.replaceKey(agency) }, 200)
    })
}

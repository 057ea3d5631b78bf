/** Routes for agencies. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { formBridgeError } from '../errors.ts'
import { Sha256 } from '../formats.ts'
import { DestinationBody, PageQuery, SiteParams } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import type { SiteAdmin } from '../sites/service.ts'
import { SiteDetailsView } from '../sites/view.ts'
import type { EncryptDestination } from '../submissions/destination.ts'
import type { AgencyService } from './service.ts'
import {
  AgencySiteView,
  AgencyView,
  JoinTokenView,
  NewJoinToken,
  toAgencySiteView,
  toAgencyView,
  toJoinTokenView,
} from './view.ts'

const NewKey = z.object({ api_key: z.string().openapi({ description: 'Shown once' }) })

export function agencyRoutes(deps: {
  permit: Permissions
  pager: Pager
  agencyService: AgencyService
  siteAdmin: SiteAdmin
  encryptDestination: EncryptDestination
}): OpenAPIHono<AppEnv> {
  const { permit, pager, agencyService, siteAdmin, encryptDestination } = deps
  const denied = errorResponses(
    formBridgeError,
    'agency_unauthorized',
    'agency_suspended',
    'rate_limited',
  )
  const notFound = errorResponses(formBridgeError, 'site_not_found')
  const notAllowed = errorResponses(
    formBridgeError,
    'site_not_found',
    'role_required',
    'agency_suspended',
  )
  const badCursor = errorResponses(cursorError, 'invalid_cursor')

  const get = createRoute({
    ...permit.agency,
    method: 'get',
    path: '/v1/agency',
    summary: 'Get the agency and its site count',
    responses: { 200: jsonResponse(AgencyView, 'The agency'), ...denied },
  })
  const listSites = createRoute({
    ...permit.agency,
    method: 'get',
    path: '/v1/agency/sites',
    summary: "List the agency's sites",
    request: { query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(AgencySiteView), 'A page of sites'),
      ...denied,
      ...badCursor,
    },
  })
  const getSite = createRoute({
    ...permit.agency,
    method: 'get',
    path: '/v1/agency/sites/{site_id}',
    summary: 'Get a site of the agency',
    request: { params: SiteParams },
    responses: { 200: jsonResponse(SiteDetailsView, 'The site'), ...denied, ...notFound },
  })
  const confirmSite = createRoute({
    ...permit.agency,
    method: 'post',
    path: '/v1/agency/sites/{site_id}/confirm',
    summary: 'Confirm a site that was reconnected without its old key',
    description: 'Needs the role `owner` or `member`.',
    request: { params: SiteParams },
    responses: {
      200: jsonResponse(SiteDetailsView, 'The site'),
      ...denied,
      ...notAllowed,
      ...errorResponses(formBridgeError, 'wrong_status'),
    },
  })
  const setDestination = createRoute({
    ...permit.agency,
    method: 'put',
    path: '/v1/agency/sites/{site_id}/destination',
    summary: "Set the destination of a site's submissions",
    description: 'Needs the role `owner`.',
    request: { params: SiteParams, body: jsonBody(DestinationBody) },
    responses: {
      200: jsonResponse(SiteDetailsView, 'The site'),
      ...denied,
      ...notAllowed,
      ...errorResponses(formBridgeError, 'destination_invalid'),
    },
  })
  const removeSite = createRoute({
    ...permit.agency,
    method: 'delete',
    path: '/v1/agency/sites/{site_id}',
    summary: 'Remove a site from the agency; it stays connected',
    description: 'Needs the role `owner`.',
    request: { params: SiteParams },
    responses: {
      204: { description: 'The site is no longer part of the agency' },
      ...denied,
      ...notAllowed,
      ...errorResponses(formBridgeError, 'changed_meanwhile'),
    },
  })
  const createJoinToken = createRoute({
    ...permit.agency,
    method: 'post',
    path: '/v1/agency/join-tokens',
    summary: 'Create a join token',
    request: { body: jsonBody(NewJoinToken) },
    responses: {
      201: jsonResponse(JoinTokenView.extend({ token: z.string() }), 'The token, shown once'),
      ...denied,
    },
  })
  const listJoinTokens = createRoute({
    ...permit.agency,
    method: 'get',
    path: '/v1/agency/join-tokens',
    summary: 'List join tokens',
    request: { query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(JoinTokenView), 'A page of tokens'),
      ...denied,
      ...badCursor,
    },
  })
  const revokeJoinToken = createRoute({
    ...permit.agency,
    method: 'delete',
    path: '/v1/agency/join-tokens/{id}',
    summary: 'Revoke a join token',
    request: { params: z.object({ id: Sha256 }) },
    responses: {
      204: { description: 'The token is revoked' },
      ...denied,
      ...errorResponses(formBridgeError, 'join_token_not_found'),
    },
  })
  const rotateKey = createRoute({
    ...permit.agency,
    method: 'post',
    path: '/v1/agency/key',
    summary: "Rotate the agency's key; the old one stops working immediately",
    responses: {
      200: jsonResponse(NewKey, 'The new key'),
      ...denied,
      ...errorResponses(formBridgeError, 'changed_meanwhile'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, (c) => c.json(toAgencyView(c.get('agency')), 200))
    .openapi(listSites, async (c) => {
      const { agency_id } = c.get('agency')
      const page = await pager(
        [agency_id, 'sites'],
        c.req.valid('query'),
        (request) => agencyService.listSites(agency_id, request),
        toAgencySiteView,
      )
      return c.json(page, 200)
    })
    .openapi(getSite, async (c) => {
      const { site_id } = c.req.valid('param')
      await agencyService.requireMember(c.get('agency').agency_id, site_id)
      return c.json(await siteAdmin.get(site_id), 200)
    })
    .openapi(confirmSite, async (c) => {
      const { site_id } = c.req.valid('param')
      const { agency_id } = c.get('agency')
      const permission = await agencyService.requirePermission(agency_id, site_id, 'confirm')
      return c.json(await siteAdmin.confirm(site_id, permission), 200)
    })
    .openapi(setDestination, async (c) => {
      const { site_id } = c.req.valid('param')
      const { agency_id } = c.get('agency')
      const permission = await agencyService.requirePermission(
        agency_id,
        site_id,
        'set_destination',
      )
      const encrypted = await encryptDestination(site_id, c.req.valid('json'))
      return c.json(await siteAdmin.setDestination(site_id, encrypted, permission), 200)
    })
    .openapi(removeSite, async (c) => {
      await agencyService.removeSite(c.get('agency').agency_id, c.req.valid('param').site_id)
      return c.body(null, 204)
    })
    .openapi(createJoinToken, async (c) => {
      const { agency_id } = c.get('agency')
      const { token, joinToken } = await agencyService.createJoinToken(
        agency_id,
        c.req.valid('json'),
      )
      return c.json({ ...toJoinTokenView(joinToken), token }, 201)
    })
    .openapi(listJoinTokens, async (c) => {
      const { agency_id } = c.get('agency')
      const page = await pager(
        [agency_id, 'tokens'],
        c.req.valid('query'),
        (request) => agencyService.listJoinTokens(agency_id, request),
        toJoinTokenView,
      )
      return c.json(page, 200)
    })
    .openapi(revokeJoinToken, async (c) => {
      await agencyService.revokeJoinToken(c.get('agency').agency_id, c.req.valid('param').id)
      return c.body(null, 204)
    })
    .openapi(rotateKey, async (c) =>
      c.json({ api_key: await agencyService.rotateKey(c.get('agency')) }, 200),
    )
}

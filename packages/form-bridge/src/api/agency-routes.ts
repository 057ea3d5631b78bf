/** What an agency does with its own key. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { formBridgeError } from '../errors.ts'
import { AgencyRole } from '../items/agency-site.ts'
import { Sha256 } from '../items/formats.ts'
import type { ApiDeps } from './deps.ts'
import { BySite, DestinationBody, PageQuery } from './schemas.ts'
import {
  AgencySiteView,
  AgencyView,
  JoinTokenView,
  SiteFactsView,
  viewAgency,
  viewAgencySite,
  viewJoinToken,
} from './views.ts'

const YEAR = 366 * 86_400

const NewJoinToken = z.strictObject({
  role: AgencyRole.default('member'),
  max_uses: z.int().min(1).max(10_000).default(1),
  expires_in: z.int().min(60).max(YEAR).default(86_400),
})
const NewKey = z.object({ api_key: z.string().openapi({ description: 'Never shown again' }) })

export function agencyRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, agencyDesk, siteDesk, pager, sealDestination } = deps
  const denied = errorResponses(
    formBridgeError,
    'agency_unauthorized',
    'agency_suspended',
    'rate_limited',
  )
  const missing = errorResponses(formBridgeError, 'site_not_found')
  const badCursor = errorResponses(cursorError, 'invalid_cursor')

  const get = createRoute({
    ...permit.agency,
    method: 'get',
    path: '/v1/agency',
    summary: 'Look at the agency and how much of its limit is used',
    responses: { 200: jsonResponse(AgencyView, 'The agency'), ...denied },
  })
  const sites = createRoute({
    ...permit.agency,
    method: 'get',
    path: '/v1/agency/sites',
    summary: 'List the sites of the agency',
    request: { query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(AgencySiteView), 'A page of sites'),
      ...denied,
      ...badCursor,
    },
  })
  const site = createRoute({
    ...permit.agency,
    method: 'get',
    path: '/v1/agency/sites/{site_id}',
    summary: 'Look at a site of the agency',
    request: { params: BySite },
    responses: { 200: jsonResponse(SiteFactsView, 'The site'), ...denied, ...missing },
  })
  const confirm = createRoute({
    ...permit.agency,
    method: 'post',
    path: '/v1/agency/sites/{site_id}/confirm',
    summary: 'Confirm that a site that was reconnected is still the agency’s',
    request: { params: BySite },
    responses: {
      200: jsonResponse(SiteFactsView, 'The site'),
      ...denied,
      ...missing,
      ...errorResponses(formBridgeError, 'wrong_status'),
    },
  })
  const destination = createRoute({
    ...permit.agency,
    method: 'put',
    path: '/v1/agency/sites/{site_id}/destination',
    summary: 'Say where the submissions of a site go',
    request: { params: BySite, body: jsonBody(DestinationBody) },
    responses: {
      200: jsonResponse(SiteFactsView, 'The site'),
      ...denied,
      ...missing,
      ...errorResponses(formBridgeError, 'destination_invalid'),
    },
  })
  const release = createRoute({
    ...permit.agency,
    method: 'delete',
    path: '/v1/agency/sites/{site_id}',
    summary: 'Let a site go; it stays connected',
    request: { params: BySite },
    responses: { 204: { description: 'It is no longer the agency’s' }, ...denied, ...missing },
  })
  const invite = createRoute({
    ...permit.agency,
    method: 'post',
    path: '/v1/agency/join-tokens',
    summary: 'Make a join token',
    request: { body: jsonBody(NewJoinToken) },
    responses: {
      201: jsonResponse(JoinTokenView.extend({ token: z.string() }), 'The token, shown once'),
      ...denied,
    },
  })
  const invites = createRoute({
    ...permit.agency,
    method: 'get',
    path: '/v1/agency/join-tokens',
    summary: 'List the join tokens',
    request: { query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(JoinTokenView), 'A page of tokens'),
      ...denied,
      ...badCursor,
    },
  })
  const revoke = createRoute({
    ...permit.agency,
    method: 'delete',
    path: '/v1/agency/join-tokens/{id}',
    summary: 'Revoke a join token',
    request: { params: z.object({ id: Sha256 }) },
    responses: {
      204: { description: 'It lets no site in any more' },
      ...denied,
      ...errorResponses(formBridgeError, 'join_token_not_found'),
    },
  })
  const rotate = createRoute({
    ...permit.agency,
    method: 'post',
    path: '/v1/agency/key',
    summary: 'Replace the key of the agency; the old one ends at once',
    responses: {
      200: jsonResponse(NewKey, 'The new key'),
      ...denied,
      ...errorResponses(formBridgeError, 'changed_meanwhile'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, (c) => c.json(viewAgency(c.get('agency')), 200))
    .openapi(sites, async (c) => {
      const { agency_id } = c.get('agency')
      const list = (page: object) => agencyDesk.sites(agency_id, page)
      return c.json(
        await pager([agency_id, 'sites'], c.req.valid('query'), list, viewAgencySite),
        200,
      )
    })
    .openapi(site, async (c) => {
      const { site_id } = c.req.valid('param')
      await agencyDesk.requireMember(c.get('agency').agency_id, site_id)
      return c.json(await siteDesk.show(site_id), 200)
    })
    .openapi(confirm, async (c) => {
      const { site_id } = c.req.valid('param')
      await agencyDesk.requireMember(c.get('agency').agency_id, site_id)
      return c.json(await siteDesk.confirm(site_id), 200)
    })
    .openapi(destination, async (c) => {
      const { site_id } = c.req.valid('param')
      await agencyDesk.requireMember(c.get('agency').agency_id, site_id)
      const sealed = await sealDestination(site_id, c.req.valid('json'))
      return c.json(await siteDesk.setDestination(site_id, sealed), 200)
    })
    .openapi(release, async (c) => {
      await agencyDesk.release(c.get('agency').agency_id, c.req.valid('param').site_id)
      return c.body(null, 204)
    })
    .openapi(invite, async (c) => {
      const { agency_id } = c.get('agency')
      const { token, made } = await agencyDesk.newJoinToken(agency_id, c.req.valid('json'))
      return c.json({ ...viewJoinToken(made), token }, 201)
    })
    .openapi(invites, async (c) => {
      const { agency_id } = c.get('agency')
      const list = (page: object) => agencyDesk.joinTokens(agency_id, page)
      return c.json(
        await pager([agency_id, 'tokens'], c.req.valid('query'), list, viewJoinToken),
        200,
      )
    })
    .openapi(revoke, async (c) => {
      await agencyDesk.revokeJoinToken(c.get('agency').agency_id, c.req.valid('param').id)
      return c.body(null, 204)
    })
    .openapi(rotate, async (c) =>
      c.json({ api_key: await agencyDesk.replaceKey(c.get('agency')) }, 200),
    )
}

/** What operators do to sites. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorError } from '@strongroom/kit/operators'
import { formBridgeError } from '../errors.ts'
import { SiteStatus } from '../items/site.ts'
import type { ApiDeps } from './deps.ts'
import { BySite, DestinationBody, PageQuery } from './schemas.ts'
import { SiteFactsView, SiteSummaryView } from './views.ts'

const ACTIONS = ['suspend', 'resume', 'disable', 'confirm'] as const

const ListQuery = PageQuery.extend({
  status: SiteStatus.default('active'),
  search: z.string().min(1).max(200).optional().openapi({ description: 'Part of a domain' }),
})

export function operatorSiteRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const { permit, siteDesk, pager, sealDestination } = deps
  const denied = errorResponses(operatorError, 'unauthorized')
  const missing = errorResponses(formBridgeError, 'site_not_found')

  const list = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/sites',
    summary: 'List sites by status, newest first',
    request: { query: ListQuery },
    responses: {
      200: jsonResponse(pageOf(SiteSummaryView), 'A page of sites'),
      ...denied,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const get = createRoute({
    ...permit.operator,
    method: 'get',
    path: '/v1/sites/{site_id}',
    summary: 'Look at a site',
    request: { params: BySite },
    responses: { 200: jsonResponse(SiteFactsView, 'The site'), ...denied, ...missing },
  })
  const act = createRoute({
    ...permit.operator,
    method: 'post',
    path: '/v1/sites/{site_id}/{action}',
    summary: 'Suspend, resume, disable or confirm a site',
    description:
      'Suspending holds from the next request on. Disabling is for ever. Confirming says that a site that was reconnected without its old key still goes with its destination and agency.',
    request: { params: BySite.extend({ action: z.enum(ACTIONS) }) },
    responses: {
      200: jsonResponse(SiteFactsView, 'The site'),
      ...denied,
      ...missing,
      ...errorResponses(formBridgeError, 'wrong_status'),
    },
  })
  const setDestination = createRoute({
    ...permit.operator,
    method: 'put',
    path: '/v1/sites/{site_id}/destination',
    summary: 'Say where the submissions of a site go',
    request: { params: BySite, body: jsonBody(DestinationBody) },
    responses: {
      200: jsonResponse(SiteFactsView, 'The site'),
      ...denied,
      ...missing,
      ...errorResponses(formBridgeError, 'destination_invalid'),
    },
  })
  const removeDestination = createRoute({
    ...permit.operator,
    method: 'delete',
    path: '/v1/sites/{site_id}/destination',
    summary: 'Send the submissions of a site to the general destination again',
    request: { params: BySite },
    responses: { 200: jsonResponse(SiteFactsView, 'The site'), ...denied, ...missing },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { status, search, ...page } = c.req.valid('query')
      const sites = (at: object) => siteDesk.list(status, { ...at, ...(search && { search }) })
      const view = await pager(['sites', status, search ?? ''], page, sites, (site) =>
        SiteSummaryView.parse(site),
      )
      return c.json(view, 200)
    })
    .openapi(get, async (c) => c.json(await siteDesk.show(c.req.valid('param').site_id), 200))
    .openapi(act, async (c) => {
      const { site_id, action } = c.req.valid('param')
      const site = await siteDesk[action](site_id)
      c.get('log').info('Site changed', { operator: c.get('operator'), action })
      return c.json(site, 200)
    })
    .openapi(setDestination, async (c) => {
      const { site_id } = c.req.valid('param')
      await siteDesk.existing(site_id)
      const sealed = await sealDestination(site_id, c.req.valid('json'))
      return c.json(await siteDesk.setDestination(site_id, sealed), 200)
    })
    .openapi(removeDestination, async (c) =>
      c.json(await siteDesk.setDestination(c.req.valid('param').site_id, undefined), 200),
    )
}

/** Routes for operators: whether the indexes agree with the table. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import { formBridgeError } from '../errors.ts'
import { AgencyParams, SiteParams } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import type { IndexEntry, IndexService } from './service.ts'

const IndexCheckView = z.object({
  consistent: z.boolean(),
  entries: z.array(z.object({ name: z.string(), in_table: z.boolean(), in_index: z.boolean() })),
})

export function indexRoutes(deps: {
  permit: Permissions
  indexService: IndexService
}): OpenAPIHono<AppEnv> {
  const { permit, indexService } = deps
  const checked = jsonResponse(IndexCheckView, 'What the table and the index have')

  const checkSite = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/sites/{site_id}/indexes',
    summary: 'Compare the index entries of a site with the table',
    request: { params: SiteParams },
    responses: {
      200: checked,
      ...operatorErrors,
      ...errorResponses(formBridgeError, 'site_not_found'),
    },
  })
  const checkAgency = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/agencies/{agency_id}/indexes',
    summary: 'Compare the index entry of an agency with the table',
    request: { params: AgencyParams },
    responses: {
      200: checked,
      ...operatorErrors,
      ...errorResponses(formBridgeError, 'agency_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(checkSite, async (c) =>
      c.json(toView(await indexService.compareSite(c.req.valid('param').site_id)), 200),
    )
    .openapi(checkAgency, async (c) =>
      c.json(toView(await indexService.compareAgency(c.req.valid('param').agency_id)), 200),
    )
}

function toView(entries: IndexEntry[]): z.infer<typeof IndexCheckView> {
  const consistent = entries.every(({ in_table, in_index }) => in_table === in_index)
  return { consistent, entries }
}

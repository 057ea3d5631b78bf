/** Routes for operators: the join tokens of agencies. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import type { AuditedStores } from '../audited-stores.ts'
import { formBridgeError } from '../errors.ts'
import { Sha256 } from '../formats.ts'
import { AgencyParams, PageQuery } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import { type AgencyService, createAgencyService } from './service.ts'
import { JoinTokenView, NewJoinToken, toJoinTokenView } from './view.ts'

export function operatorTokenRoutes(deps: {
  permit: Permissions
  pager: Pager
  agencyService: AgencyService
  auditedStores: AuditedStores
}): OpenAPIHono<AppEnv> {
  const { permit, pager, agencyService, auditedStores } = deps
  const notFound = errorResponses(formBridgeError, 'agency_not_found')

  const list = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/agencies/{agency_id}/join-tokens',
    summary: 'List the join tokens of an agency',
    request: { params: AgencyParams, query: PageQuery },
    responses: {
      200: jsonResponse(pageOf(JoinTokenView), 'A page of tokens'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const create = createRoute({
    ...permit.operator.editor,
    method: 'post',
    path: '/v1/agencies/{agency_id}/join-tokens',
    summary: 'Create a join token of an agency',
    request: { params: AgencyParams, body: jsonBody(NewJoinToken) },
    responses: {
      201: jsonResponse(JoinTokenView.extend({ token: z.string() }), 'The token, shown once'),
      ...operatorErrors,
      ...notFound,
    },
  })
  const revoke = createRoute({
    ...permit.operator.editor,
    method: 'delete',
    path: '/v1/agencies/{agency_id}/join-tokens/{id}',
    summary: 'Revoke a join token of an agency',
    request: { params: AgencyParams.extend({ id: Sha256 }) },
    responses: {
      204: { description: 'The token is revoked' },
      ...operatorErrors,
      ...errorResponses(formBridgeError, 'join_token_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { agency_id } = await agencyService.requireAgency(c.req.valid('param').agency_id)
      const page = await pager(
        ['agency tokens', agency_id],
        c.req.valid('query'),
        (request) => agencyService.listJoinTokens(agency_id, request),
        toJoinTokenView,
      )
      return c.json(page, 200)
    })
    .openapi(create, async (c) => {
      const { agency_id } = await agencyService.requireAgency(c.req.valid('param').agency_id)
      const input = c.req.valid('json')
      const change = { action: 'agency.join_token_created', target: agency_id, after: input }
      const service = createAgencyService(auditedStores(c.get('actor'), change))
      const { token, joinToken } = await service.createJoinToken(agency_id, input)
      return c.json({ ...toJoinTokenView(joinToken), token }, 201)
    })
    .openapi(revoke, async (c) => {
      const { agency_id, id } = c.req.valid('param')
      const change = { action: 'agency.join_token_revoked', target: agency_id }
      const service = createAgencyService(auditedStores(c.get('actor'), change))
      await service.revokeJoinToken(agency_id, id)
      return c.body(null, 204)
    })
}

/** `/server/v1/operators` and `/server/v1/bootstrap`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { requireOwnOrigin, sessionCookie } from '@strongroom/kit/http/operator-authentication'
import {
  declarePermissions,
  operatorErrors,
  type OperatorPermissions,
} from '@strongroom/kit/http/permissions'
import { operatorError } from '@strongroom/kit/operators'
import type { SessionAdmin } from '../sessions/admin.ts'
import { FIRST_ADMIN } from './bootstrap.ts'
import type { OperatorService } from './service.ts'
import { ListedOperatorView, OperatorView, Role, Services, toOperatorView } from './view.ts'

const Name = z.string().min(1).max(64).openapi({ example: 'backup' })
const Expiry = z.iso
  .datetime({ offset: true })
  .openapi({ description: 'The token is rejected from then on', example: '2030-01-01T00:00:00Z' })
const token = z.string().openapi({ description: 'Shown once' })

const NewOperator = z.strictObject({
  name: Name,
  role: Role,
  services: Services.optional(),
  expiresAt: Expiry.optional(),
})
const OperatorChange = z
  .strictObject({
    role: Role.optional(),
    services: Services.nullable().optional(),
    expiresAt: Expiry.nullable().optional(),
  })
  .openapi({ description: 'Omitted fields stay as they are; null removes a limit' })
const Claim = z.strictObject({
  code: z.string().max(100).openapi({ example: 'srb_…' }),
  name: Name.default(FIRST_ADMIN),
  session: z
    .boolean()
    .default(false)
    .openapi({ description: 'Also sign in this browser to the console' }),
})

export function operatorRoutes(deps: {
  permit: OperatorPermissions
  operators: OperatorService
  admin: Pick<SessionAdmin, 'listEnrolled' | 'resetFactors'>
  publicUrl: string
}): OpenAPIHono<AppEnv> {
  const { permit, operators, admin, publicUrl } = deps
  const params = z.object({ name: Name })
  const notFound = errorResponses(operatorError, 'not_found')

  const list = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/server/v1/operators',
    summary: 'List operators',
    responses: {
      200: jsonResponse(z.object({ items: z.array(ListedOperatorView) }), 'All operators, by name'),
      ...operatorErrors,
    },
  })
  const add = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/server/v1/operators',
    summary: 'Add an operator',
    request: { body: jsonBody(NewOperator) },
    responses: {
      201: jsonResponse(OperatorView.extend({ token }), 'The operator and its token'),
      ...operatorErrors,
      ...errorResponses(operatorError, 'exists', 'invalid_name', 'invalid_expiry'),
    },
  })
  const change = createRoute({
    ...permit.admin,
    method: 'patch',
    path: '/server/v1/operators/{name}',
    summary: "Change an operator's role, services or expiry",
    request: { params, body: jsonBody(OperatorChange) },
    responses: {
      200: jsonResponse(OperatorView, 'The operator'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(operatorError, 'last_admin', 'invalid_name', 'invalid_expiry'),
    },
  })
  const rotate = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/server/v1/operators/{name}/token',
    summary: "Replace an operator's token; the old one becomes invalid immediately",
    request: { params },
    responses: {
      201: jsonResponse(z.object({ name: z.string(), token }), 'The new token'),
      ...operatorErrors,
      ...notFound,
      ...errorResponses(operatorError, 'invalid_name'),
    },
  })
  const remove = createRoute({
    ...permit.admin,
    method: 'delete',
    path: '/server/v1/operators/{name}',
    summary: 'Remove an operator; its token becomes invalid immediately',
    request: { params },
    responses: {
      204: { description: 'Removed' },
      ...operatorErrors,
      ...notFound,
      ...errorResponses(operatorError, 'last_admin', 'invalid_name'),
    },
  })
  const resetFactors = createRoute({
    ...permit.admin,
    method: 'delete',
    path: '/server/v1/operators/{name}/second-factor',
    summary: "Reset an operator's second factor and end its sessions",
    description: 'For an operator who lost it. Nobody resets their own.',
    request: { params },
    responses: {
      204: { description: 'Reset' },
      ...operatorErrors,
      ...notFound,
      ...errorResponses(operatorError, 'own_second_factor'),
    },
  })
  const claim = createRoute({
    ...declarePermissions('Server').public,
    method: 'post',
    path: '/server/v1/bootstrap',
    summary: 'Exchange a bootstrap code for the token of a new admin',
    description:
      'The first start creates a code; `strongroom operator bootstrap` creates another one. A code works once and for 30 minutes.',
    request: { body: jsonBody(Claim) },
    responses: {
      201: jsonResponse(z.object({ name: z.string(), token }), 'The admin and its token'),
      ...errorResponses(operatorError, 'invalid_code', 'foreign_origin', 'exists', 'invalid_name'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const [all, enrolled] = await Promise.all([operators.list(), admin.listEnrolled()])
      const items = all.map((operator) => ({
        ...toOperatorView(operator),
        secondFactor: enrolled.has(operator.name),
      }))
      return c.json({ items }, 200)
    })
    .openapi(add, async (c) => {
      const { name, role, services, expiresAt } = c.req.valid('json')
      const grant = { role, services, expiresAt: secondsOf(expiresAt) }
      const issued = await operators.add(c.get('actor'), name, grant)
      return c.json({ ...toOperatorView(await operators.get(name)), token: issued }, 201)
    })
    .openapi(change, async (c) => {
      const { name } = c.req.valid('param')
      const { expiresAt, ...fields } = c.req.valid('json')
      const changed = await operators.change(c.get('actor'), name, {
        ...fields,
        expiresAt: expiresAt === null ? null : secondsOf(expiresAt),
      })
      return c.json(toOperatorView(changed), 200)
    })
    .openapi(rotate, async (c) => {
      const { name } = c.req.valid('param')
      return c.json({ name, token: await operators.rotate(c.get('actor'), name) }, 201)
    })
    .openapi(remove, async (c) => {
      await operators.remove(c.get('actor'), c.req.valid('param').name)
      return c.body(null, 204)
    })
    .openapi(resetFactors, async (c) => {
      await admin.resetFactors(c.get('actor'), c.req.valid('param').name)
      return c.body(null, 204)
    })
    .openapi(claim, async (c) => {
      const { code, name, session } = c.req.valid('json')
      const address = c.get('call').clientAddress
      if (!session) return c.json(await operators.claimCode(address, code, name), 201)
      requireOwnOrigin(c, publicUrl)
      const client = { address, userAgent: c.req.header('user-agent') }
      const { value, ...claimed } = await operators.claimSession(client, code, name)
      sessionCookie.set(c, value)
      return c.json(claimed, 201)
    })
}

function secondsOf(iso: string | undefined): number | undefined {
  return iso === undefined ? undefined : Math.floor(Date.parse(iso) / 1000)
}

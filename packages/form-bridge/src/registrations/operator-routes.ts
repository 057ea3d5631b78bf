/** Routes for operators: registrations and the validations of their domains. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { cursorError, type Pager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { operatorErrors } from '@strongroom/kit/http/permissions'
import type { Page } from '@strongroom/kit/paging'
import { formBridgeError } from '../errors.ts'
import { Domain, RegistrationId, Sha256 } from '../formats.ts'
import { PageQuery } from '../params.ts'
import type { Permissions } from '../permissions.ts'
import type { Validation } from '../validations/item.ts'
import { ValidationView } from '../validations/routes.ts'
import type { ValidationStore } from '../validations/store.ts'
import type { PendingRegistration, Registration } from './item.ts'
import type { RegistrationStore } from './store.ts'
import { type OperatorRegistration, OperatorRegistrationView } from './view.ts'

const ListQuery = PageQuery.extend({
  domain: Domain.optional().openapi({
    description: 'All registrations of this domain, of any status',
  }),
  temp_key_hash: Sha256.optional().openapi({
    description: 'The registration whose temporary key has this SHA-256',
  }),
})

export function operatorRegistrationRoutes(deps: {
  permit: Permissions
  pager: Pager
  registrations: RegistrationStore
  validations: ValidationStore
}): OpenAPIHono<AppEnv> {
  const { permit, pager, registrations, validations } = deps

  const list = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/registrations',
    summary: 'List pending registrations, newest first, or find those of a domain or temporary key',
    request: { query: ListQuery },
    responses: {
      200: jsonResponse(pageOf(OperatorRegistrationView), 'A page of registrations'),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })
  const getValidation = createRoute({
    ...permit.operator.viewer,
    method: 'get',
    path: '/v1/registrations/{registration_id}/validation',
    summary: "Get the validation of a registration's domain",
    request: { params: z.object({ registration_id: RegistrationId }) },
    responses: {
      200: jsonResponse(ValidationView.omit({ cached: true }), 'The score and each check'),
      ...operatorErrors,
      ...errorResponses(formBridgeError, 'validation_not_found'),
    },
  })

  /** The index may lag, so what it finds is read again from the table. */
  async function findByTempKey(temp_key_hash: string): Promise<Page<Registration>> {
    const found = await registrations.findByTempKey(temp_key_hash)
    const current = found && (await registrations.get(found))
    return { items: current ? [current] : [], next: undefined }
  }

  async function findValidation(registration_id: string): Promise<Validation> {
    const found = await validations.findByRegistration(registration_id)
    const current = found && (await validations.get(found.domain))
    // Another registration of the domain may have been validated since.
    if (current?.registration_id !== registration_id) throw formBridgeError('validation_not_found')
    return current
  }

  return new OpenAPIHono<AppEnv>()
    .openapi(list, async (c) => {
      const { domain, temp_key_hash, ...query } = c.req.valid('query')
      const page = await pager<Registration | PendingRegistration, OperatorRegistration>(
        ['registrations', domain ?? '', temp_key_hash ?? ''],
        query,
        (request) => {
          if (temp_key_hash) return findByTempKey(temp_key_hash)
          return domain
            ? registrations.listByDomain(domain, request)
            : registrations.listPending(request)
        },
        (registration) => OperatorRegistrationView.parse(registration),
      )
      return c.json(page, 200)
    })
    .openapi(getValidation, async (c) => {
      const validation = await findValidation(c.req.valid('param').registration_id)
      return c.json(ValidationView.omit({ cached: true }).parse(validation), 200)
    })
}

import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../../errors.ts'
import type { Permissions } from '../../http/permissions.ts'
import { ApiKeyView, toApiKeyView } from '../api-keys/routes.ts'
import type { CredentialService } from './credential-service.ts'
import { oauthProviders } from './item.ts'

const MAX_REVOKED_KEYS = 1_000

const Identities = z.array(z.enum(oauthProviders)).max(oauthProviders.length)

const UnconfirmedView = z.object({
  since: z.string().nullable().openapi({
    description: 'When the password was reset; null if there is nothing to confirm',
  }),
  apiKeys: z.array(ApiKeyView),
  identities: Identities,
})

const Choice = z
  .strictObject({
    revokeApiKeys: z.array(z.string().max(100)).max(MAX_REVOKED_KEYS).default([]),
    revokeIdentities: Identities.default([]),
  })
  .openapi({ example: { revokeApiKeys: ['key_V1StGXR8_Z5jdHi6'] } })

export function credentialRoutes(deps: {
  permit: Permissions
  credentials: CredentialService
}): OpenAPIHono<AppEnv> {
  const { permit, credentials } = deps
  const denied = errorResponses(ferryhookError, 'unauthorized', 'session_required')
  const path = '/v1/account/unconfirmed-credentials'

  const get = createRoute({
    ...permit.session,
    method: 'get',
    path,
    summary: 'List credentials from before a password reset',
    description:
      'API keys and identities that existed when the password was reset by link. They work until you revoke them.',
    responses: { 200: jsonResponse(UnconfirmedView, 'What waits for confirmation'), ...denied },
  })
  const confirm = createRoute({
    ...permit.session,
    method: 'post',
    path: `${path}/confirm`,
    summary: 'Confirm or revoke credentials from before a password reset',
    description:
      'Revokes the listed ones and confirms all others, which ends the notice at sign-ins.',
    request: { body: jsonBody(Choice) },
    responses: {
      200: jsonResponse(
        z.object({ revoked: UnconfirmedView.pick({ apiKeys: true, identities: true }) }),
        'What was revoked',
      ),
      ...denied,
      ...errorResponses(ferryhookError, 'api_key_not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(get, async (c) => {
      const found = await credentials.findUnconfirmed(c.get('principal').user)
      const { since = null, apiKeys = [], identities = [] } = found ?? {}
      return c.json({ since, apiKeys: apiKeys.map(toApiKeyView), identities }, 200)
    })
    .openapi(confirm, async (c) => {
      const revoked = await credentials.confirm(c.get('principal'), c.req.valid('json'))
      const { apiKeys, identities } = revoked
      return c.json({ revoked: { apiKeys: apiKeys.map(toApiKeyView), identities } }, 200)
    })
}

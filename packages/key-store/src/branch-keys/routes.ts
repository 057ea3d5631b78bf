/** `/v1` of the key store, for operators. No response contains a plaintext key. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { type Cursors, createCursors, cursorError } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import {
  declarePermissions,
  operatorErrors,
  type OperatorVerifier,
} from '@strongroom/kit/http/permissions'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { AuditedBranchKeys } from './audited.ts'
import type { BranchKeys } from './service.ts'
import { keyStoreError } from '../errors.ts'
import {
  Age,
  BranchKeyDetails,
  BranchKeyId,
  ListedBranchKey,
  NewKey,
  UnreadableKey,
} from './view.ts'

const LISTING = ['key-store', 'keys'] as const
const CURSOR_SECRET = 'key-store-cursors'

export function keyStoreRoutes(deps: {
  branchKeys: BranchKeys
  /** The same, with an entry in the audit log for each change. */
  auditedKeys: AuditedBranchKeys
  operators: OperatorVerifier
  secrets: ServerSecrets
}): OpenAPIHono<AppEnv> {
  const { branchKeys, auditedKeys, secrets } = deps
  const permit = declarePermissions('Key store').operator(deps.operators, 'key-store')

  /** Opens KMS on first use; listing keys does not need it. */
  async function cursors(): Promise<Cursors> {
    const accepted = await secrets.accepted(CURSOR_SECRET)
    return createCursors(accepted.map(({ key }) => key))
  }

  const ofKey = z.object({
    id: BranchKeyId.openapi({ param: { description: 'Percent-encoded' } }),
  })

  const create = createRoute({
    ...permit.editor,
    method: 'post',
    path: '/v1/keys',
    summary: 'Create a branch key',
    description:
      'Creates a branch key with its beacon key. Its encryption context is bound to it permanently and appears in plain text in the audit log of KMS: put no secrets into it.',
    request: { body: jsonBody(NewKey) },
    responses: {
      201: jsonResponse(z.object({ id: z.string() }), 'The key was created'),
      ...operatorErrors,
      ...errorResponses(
        keyStoreError,
        'invalid_id',
        'context_required',
        'invalid_context',
        'exists',
        'kms_denied',
        'kms_key_unusable',
        'kms_failed',
        'untrusted',
        'kms_unavailable',
      ),
    },
  })

  const rotate = createRoute({
    ...permit.editor,
    method: 'post',
    path: '/v1/keys/{id}/versions',
    summary: 'Rotate a branch key',
    description:
      'Creates a new active version. Older versions remain, so that data encrypted under them can be decrypted.',
    request: { params: ofKey },
    responses: {
      201: jsonResponse(z.object({ id: z.string(), version: z.uuid() }), 'The key was rotated'),
      ...operatorErrors,
      ...errorResponses(
        keyStoreError,
        'invalid_id',
        'not_found',
        'version_race',
        'other_kms_key',
        'unsupported',
        'damaged',
        'not_authentic',
        'untrusted',
        'kms_denied',
        'kms_key_unusable',
        'kms_failed',
        'kms_unavailable',
      ),
    },
  })

  const list = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/v1/keys',
    summary: 'List branch keys',
    description:
      'In no particular order. What cannot be read is listed beside what can. With `older`, a page may be short or empty although there are more; continue with the cursor.',
    request: {
      query: z.object({
        limit: z.coerce.number().int().min(1).max(100).default(50),
        cursor: z.string().optional(),
        older: Age.optional().openapi({
          description:
            'Only keys whose active version is at least this old, and keys of unknown age',
          example: '365d',
        }),
        versions: z.enum(['true', 'false']).optional().openapi({
          description: 'Whether each key has its versions',
        }),
      }),
    },
    responses: {
      200: jsonResponse(
        pageOf(ListedBranchKey).extend({ unreadable: z.array(UnreadableKey) }),
        'A page of branch keys',
      ),
      ...operatorErrors,
      ...errorResponses(cursorError, 'invalid_cursor'),
    },
  })

  const describe = createRoute({
    ...permit.viewer,
    method: 'get',
    path: '/v1/keys/{id}',
    summary: 'Look at a branch key',
    description: 'Its versions, its beacon key and their ages; never the keys themselves.',
    request: { params: ofKey },
    responses: {
      200: jsonResponse(BranchKeyDetails, 'The branch key'),
      ...operatorErrors,
      ...errorResponses(keyStoreError, 'invalid_id', 'not_found'),
    },
  })

  return new OpenAPIHono<AppEnv>()
    .openapi(create, async (c) => {
      const created = await auditedKeys.create(c.get('actor'), c.req.valid('json'))
      c.get('log').info('Branch key created', { operator: c.get('operator') })
      return c.json(created, 201)
    })
    .openapi(rotate, async (c) => {
      const { id } = c.req.valid('param')
      const { version } = await auditedKeys.rotate(c.get('actor'), id)
      c.get('log').info('Branch key rotated', { operator: c.get('operator') })
      return c.json({ id, version }, 201)
    })
    .openapi(list, async (c) => {
      const { limit, cursor, older, versions } = c.req.valid('query')
      const after = cursor === undefined ? undefined : (await cursors()).open(LISTING, cursor)
      const { items, unreadable, next } = await branchKeys.list({
        limit,
        after,
        olderThanSeconds: older,
        withVersions: versions === 'true',
      })
      const continued = next ? (await cursors()).seal(LISTING, next) : null
      return c.json({ items, unreadable, cursor: continued }, 200)
    })
    .openapi(describe, async (c) => c.json(await branchKeys.describe(c.req.valid('param').id), 200))
}

import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { clientAddress } from '@strongroom/kit/http/client-address'
import type { AppEnv } from '@strongroom/kit/http/env'
import { errorResponses, jsonBody, jsonResponse, pageOf } from '@strongroom/kit/http/openapi'
import { ferryhookError } from '../errors.ts'
import type { Figures } from '../usage/figures.ts'
import { type Source } from './item.ts'
import { eventMethods, providers } from './values.ts'
import { CredentialHeaderNames } from '../events/credential-headers.ts'
import { FieldRule } from '../verification/field-rule.ts'
import { SigningOptions } from '../verification/signing-options.ts'
import type { Permissions } from '../http/permissions.ts'
import { ById, Name, SecretRotation } from '../http/schemas.ts'
import { type SourceActivity, SourceActivityView } from './activity.ts'
import type { SourceService } from './service.ts'
import type { SendTestEvent } from './test-event.ts'
import { SourceView, toSourceView } from './view.ts'

const SigningSecret = z.string().min(1).max(1_024).openapi({
  description: 'The secret that the provider signs with. It is not shown again.',
})

const SourceFields = z.strictObject({
  name: Name,
  provider: z.enum(providers),
  signingSecret: SigningSecret.optional(),
  signingAlgorithm: z.string().max(64).optional().openapi({
    description:
      'Defaults to the provider’s algorithm. Without a signingSecret, a provider other than custom needs none: unverified events are accepted.',
    example: 'hmac-sha256',
  }),
  signingOptions: SigningOptions.optional(),
  dedup: FieldRule.nullable().optional().openapi({
    description: 'Where the event id is; null selects the provider’s default',
  }),
  eventType: FieldRule.nullable().optional().openapi({
    description: 'Where the type of the event is; null selects the provider’s default',
  }),
  credentialHeaders: CredentialHeaderNames.optional().openapi({
    description:
      'Headers of the sender that are credentials, besides those whose names say so: they are neither stored nor delivered',
    example: ['x-acme-auth'],
  }),
  methods: z
    .array(z.enum(eventMethods))
    .min(1)
    .max(eventMethods.length)
    .nullable()
    .optional()
    .openapi({
      description: 'Methods that events are accepted by; null selects POST and PUT',
      example: ['POST', 'DELETE'],
    }),
})

const NewSource = SourceFields.openapi({
  example: { name: 'Repository', provider: 'github', signingSecret: 'a long random text' },
})

const SourceChange = SourceFields.partial()
  .extend({
    signingSecret: SigningSecret.nullable().optional().openapi({
      description:
        'Replaces the current secrets immediately; null removes them, which for a provider other than custom needs signingAlgorithm none',
    }),
  })
  .openapi({ example: { name: 'Shop', dedup: { by: 'path', path: '$.data.id' } } })

const SourceSecretRotation = SecretRotation.extend({ signingSecret: SigningSecret }).openapi({
  example: { signingSecret: 'another long random text', overlapSeconds: 86_400 },
})

export function sourceRoutes(deps: {
  permit: Permissions
  sources: SourceService
  figures: Pick<Figures, 'source' | 'sources'>
  activity: SourceActivity
  sendTestEvent: SendTestEvent
  publicUrl: string
}): OpenAPIHono<AppEnv> {
  const { permit, sources, figures, activity, sendTestEvent, publicUrl } = deps
  const one = jsonResponse(SourceView, 'The source')
  const denied = errorResponses(ferryhookError, 'unauthorized', 'permission_required')
  const missing = errorResponses(ferryhookError, 'source_not_found')

  const create = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/sources',
    summary: 'Create a source',
    request: { body: jsonBody(NewSource) },
    responses: {
      201: one,
      ...errorResponses(
        ferryhookError,
        'unauthorized',
        'permission_required',
        'plan_limit',
        'invalid_signing',
      ),
    },
  })
  const list = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/sources',
    summary: 'List sources',
    request: {
      query: z.object({
        activity: z.enum(['true', 'false']).optional().openapi({
          description: 'Whether to include the events of the last 24 full hours',
        }),
      }),
    },
    responses: {
      200: jsonResponse(
        pageOf(SourceView.extend({ activity: SourceActivityView.optional() })),
        'All sources',
      ),
      ...denied,
    },
  })
  const get = createRoute({
    ...permit.read,
    method: 'get',
    path: '/v1/sources/{id}',
    summary: 'Get a source',
    request: { params: ById },
    responses: { 200: one, ...denied, ...missing },
  })
  const change = createRoute({
    ...permit.write,
    method: 'patch',
    path: '/v1/sources/{id}',
    summary: 'Update a source',
    description:
      'Changing the verification (provider, signingSecret, signingAlgorithm or signingOptions) or credentialHeaders requires the admin permission.',
    request: { params: ById, body: jsonBody(SourceChange) },
    responses: {
      200: one,
      ...denied,
      ...missing,
      ...errorResponses(ferryhookError, 'invalid_signing'),
    },
  })
  const rotate = createRoute({
    ...permit.admin,
    method: 'post',
    path: '/v1/sources/{id}/rotate-secret',
    summary: 'Rotate the signing secret of a source',
    description:
      'Both secrets are accepted during the overlap, so that you can update the provider.',
    request: {
      params: ById,
      body: jsonBody(SourceSecretRotation),
    },
    responses: {
      200: one,
      ...denied,
      ...missing,
      ...errorResponses(ferryhookError, 'invalid_signing', 'no_secret', 'too_many_secrets'),
    },
  })
  const pause = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/sources/{id}/pause',
    summary: 'Pause a source',
    description: 'New events are rejected until the source is resumed.',
    request: { params: ById },
    responses: { 200: one, ...denied, ...missing },
  })
  const resume = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/sources/{id}/resume',
    summary: 'Resume a source',
    request: { params: ById },
    responses: { 200: one, ...denied, ...missing },
  })
  const test = createRoute({
    ...permit.write,
    method: 'post',
    path: '/v1/sources/{id}/test-event',
    summary: 'Send a test event to a source',
    description:
      'The event is of the type ferryhook.test and has the header x-ferryhook-test. It is signed with the secret of the source, received and verified like any other, and counts towards the plan.',
    request: { params: ById },
    responses: {
      202: jsonResponse(z.object({ eventId: z.string() }), 'The event was received'),
      ...denied,
      ...missing,
      ...errorResponses(ferryhookError, 'source_paused', 'only_provider_signs', 'month_limit'),
    },
  })
  const remove = createRoute({
    ...permit.write,
    method: 'delete',
    path: '/v1/sources/{id}',
    summary: 'Delete a source',
    description: 'Also deletes its connections. Its events are retained until they expire.',
    request: { params: ById },
    responses: { 204: { description: 'Deleted' }, ...denied, ...missing },
  })

  const view = async (source: Source) => toSourceView(await figures.source(source), publicUrl)

  return new OpenAPIHono<AppEnv>()
    .openapi(create, async (c) => {
      const source = await sources.create(c.get('principal'), c.req.valid('json'))
      return c.json(toSourceView(source, publicUrl), 201)
    })
    .openapi(list, async (c) => {
      const all = await figures.sources(await sources.list(c.get('principal')))
      const hours = c.req.valid('query').activity === 'true' ? await activity(all) : undefined
      const items = all.map((each) => ({
        ...toSourceView(each, publicUrl),
        ...(hours && { activity: hours.get(each.sourceId) }),
      }))
      return c.json({ items, cursor: null }, 200)
    })
    .openapi(get, async (c) => {
      const source = await sources.get(c.get('principal'), c.req.valid('param').id)
      return c.json(await view(source), 200)
    })
    .openapi(change, async (c) => {
      const { id } = c.req.valid('param')
      const source = await sources.change(c.get('principal'), id, c.req.valid('json'))
      return c.json(await view(source), 200)
    })
    .openapi(rotate, async (c) => {
      const { id } = c.req.valid('param')
      const source = await sources.rotateSecret(c.get('principal'), id, c.req.valid('json'))
      return c.json(await view(source), 200)
    })
    .openapi(pause, async (c) => {
      const source = await sources.pause(c.get('principal'), c.req.valid('param').id)
      return c.json(await view(source), 200)
    })
    .openapi(resume, async (c) => {
      const source = await sources.resume(c.get('principal'), c.req.valid('param').id)
      return c.json(await view(source), 200)
    })
    .openapi(test, async (c) => {
      const { id } = c.req.valid('param')
      return c.json(await sendTestEvent(c.get('principal'), id, clientAddress(c)), 202)
    })
    .openapi(remove, async (c) => {
      await sources.delete(c.get('principal'), c.req.valid('param').id)
      return c.body(null, 204)
    })
}
